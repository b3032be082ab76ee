/** The client over real sockets: what it tries again, what it refuses and how it says so, and that the key goes nowhere but the header. */

import { createServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import {
  EnvelopeError,
  InterruptedError,
  RekapError,
  ResponseTooLargeError,
  SourceRefusedKeyError,
  SourceStatusError,
  SourceUnreachableError,
} from '../../src/errors.ts';
import { createHttpTransport } from '../../src/extract/http-transport.ts';
import { createSourceClient, type SourceClient, type SourceOptions } from '../../src/extract/source-client.ts';
import type { Answer } from '../../src/stages.ts';
import type { RunEvent } from '../../src/surroundings.ts';
import { Secret } from '../../src/secret.ts';
import { answerJson, startFaultServer, type FaultServer, type Script } from '../support/fault-server.ts';
import { manualClock, type ManualClock } from '../support/manual-clock.ts';

const key = 'canary-key-4711';
const record = { TahunPemilu: '2024', IdDapil: '1101' };
const whole = { count: 1, data: record };
const request = { dataset: 'voters', dapil: 1101, reading: 1, offset: 0, limit: 10 };

let server: FaultServer | null = null;
let client: SourceClient | null = null;

afterEach(async () => {
  await client?.close();
  await server?.close();
  server = null;
  client = null;
});

interface Surroundings {
  readonly clock: ManualClock;
  readonly landed: Answer[];
  readonly events: RunEvent[];
  readonly controller: AbortController;
}

function connect(baseUrl: string, options: Partial<SourceOptions> = {}): Surroundings {
  const clock = manualClock();
  const landed: Answer[] = [];
  const events: RunEvent[] = [];
  const controller = new AbortController();
  const settings = { baseUrl, apiKey: new Secret(key), concurrency: 4, timeout: 5000, maxAttempts: 6, ...options };
  client = createSourceClient(settings, {
    transport: createHttpTransport({ ...settings, connections: settings.concurrency, maxAnswerBytes: 100_000 }),
    resumed: null,
    clock,
    random: () => 0.5,
    report: (event) => events.push(event),
    land: async (answer) => {
      landed.push(answer);
      return async () => answer.body;
    },
    signal: controller.signal,
  });
  return { clock, landed, events, controller };
}

async function serve(script: Script, options: Partial<SourceOptions> = {}): Promise<Surroundings> {
  server = await startFaultServer(script);
  return connect(server.url, options);
}

/** The error that fetching ends with. */
async function failure(asked = request): Promise<Error> {
  try {
    await client!.fetchPage(voters, asked);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('the page was fetched, though it should not be');
}

describe('a page', () => {
  it('is asked for with the key in the header, the parameters in the query, and nothing of the key elsewhere', async () => {
    const { landed } = await serve((_, response) => answerJson(response, whole));
    const { page } = await client!.fetchPage(voters, request);
    expect(page.records.length).toBe(1);
    expect(server!.paths).toEqual(['/api/datapemilihdpr?id_dapil=1101&limit=10&offset=0']);
    expect(server!.headers[0]).toMatchObject({ 'x-api-key': key, 'content-type': 'application/json' });
    expect(JSON.stringify([landed, server!.paths])).not.toContain(key);
    expect(landed.map(({ status, url }) => [status, url])).toEqual([[200, `${server!.url}${server!.paths[0]}`]]);
  });

  it('keeps a path of the base URL before the endpoint', async () => {
    server = await startFaultServer((_, response) => answerJson(response, whole));
    connect(`${server.url}/mirror`);
    await client!.fetchPage(voters, { ...request, dapil: null });
    expect(server.paths).toEqual(['/mirror/api/datapemilihdpr?limit=10&offset=0']);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('is read from %s', async (encoding, compress) => {
    await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(compress(JSON.stringify(whole))),
    );
    expect((await client!.fetchPage(voters, request)).page.records.length).toBe(1);
  });
});

describe('an answer that may come better later', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 520])(
    'is asked for again after status %i, and landed all the same',
    async (status) => {
      const { landed, clock } = await serve((_, response, attempt) =>
        answerJson(response, attempt < 3 ? { error: 'later' } : whole, attempt < 3 ? status : 200),
      );
      expect((await client!.fetchPage(voters, request)).page.records.length).toBe(1);
      expect(landed.map((answer) => answer.status)).toEqual([status, status, 200]);
      expect(clock.sleeps).toHaveLength(2);
      expect(client!.figures).toMatchObject({ requests: 3, retries: 2 });
    },
  );

  it('is waited for as Retry-After says, in seconds', async () => {
    const { clock } = await serve((_, response, attempt) =>
      attempt === 1 ? answerJson(response, {}, 429, { 'retry-after': '7' }) : answerJson(response, whole),
    );
    await client!.fetchPage(voters, request);
    expect(clock.sleeps[0]).toBeGreaterThanOrEqual(7000);
    expect(clock.sleeps[0]).toBeLessThan(7500);
  });

  it('is waited for as Retry-After says, as a date', async () => {
    const { clock } = await serve((_, response, attempt) =>
      attempt === 1
        ? answerJson(response, {}, 503, { 'retry-after': new Date('2026-11-20T03:00:20Z').toUTCString() })
        : answerJson(response, whole),
    );
    await client!.fetchPage(voters, request);
    expect(clock.sleeps[0]).toBeGreaterThanOrEqual(20_000);
    expect(clock.sleeps[0]).toBeLessThan(20_500);
  });

  it('halves the pace when the source says "too many"', async () => {
    await serve(
      (_, response, attempt) => (attempt === 1 ? answerJson(response, {}, 429) : answerJson(response, whole)),
      { concurrency: 8 },
    );
    await client!.fetchPage(voters, request);
    expect(client!.figures.lowestConcurrency).toBe(4);
  });

  it.each<[string, Script]>([
    ['the connection is reset', (asked) => asked.socket.resetAndDestroy()],
    ['the connection closes without an answer', (asked) => asked.socket.destroy()],
    [
      'a body with a length ends early',
      (asked, response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write('{"count":1,', () => asked.socket.destroy());
      },
    ],
    [
      'a chunked body ends early',
      (asked, response) => {
        response.writeHead(200);
        response.write('{"count":1,"data":[', () => asked.socket.destroy());
      },
    ],
    [
      'a body without a length ends early, as if it were whole',
      (_, response) => {
        response.writeHead(200, { connection: 'close' }).end(JSON.stringify(whole).slice(0, -9));
      },
    ],
    [
      'gzip ends early',
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(whole)).subarray(0, 30));
      },
    ],
    [
      'the body is empty',
      (_, response) => {
        response.writeHead(200).end();
      },
    ],
  ])('is asked for again when %s', async (_name, fault) => {
    await serve((asked, response, attempt) =>
      attempt === 1 ? fault(asked, response, attempt) : answerJson(response, whole),
    );
    expect((await client!.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(client!.figures.retries).toBe(1);
  });

  it('is asked for again when nothing comes within the time for one attempt', async () => {
    await serve(
      (_, response, attempt) => {
        if (attempt > 1) answerJson(response, whole);
      },
      { timeout: 150 },
    );
    expect((await client!.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is given up after the bound on attempts, naming the URL', async () => {
    await serve((_, response) => answerJson(response, { error: 'down' }, 500), { maxAttempts: 3 });
    const error = await failure();
    expect(error).toBeInstanceOf(SourceStatusError);
    expect(error.message).toContain(`${server!.url}/api/datapemilihdpr?id_dapil=1101`);
    expect(error.message).toContain('500');
    expect(server!.paths).toHaveLength(3);
  });
});

describe('a refusal', () => {
  it.each([401, 403])('of the key (%i) stops everything at once and says what to do', async (status) => {
    await serve((_, response) => answerJson(response, { detail: `no such key ${key}` }, status));
    const error = await failure();
    expect(error).toBeInstanceOf(SourceRefusedKeyError);
    expect(error).toMatchObject({ exitCode: 4, next: expect.stringContaining('REKAP_API_KEY') });
    expect(await failure({ ...request, offset: 10 })).toBe(error);
    expect(server!.paths).toHaveLength(1);
  });

  it.each<[string, string, number | undefined]>([
    ['HTML with status 200', '<html><body>Maintenance</body></html>', undefined],
    ['an array', '[1,2]', undefined],
    ['a count without data', '{"count":3}', undefined],
    ['data that is a text', '{"count":1,"data":"none"}', undefined],
    ['something after the envelope', '{"count":0,"data":[]} {}', undefined],
  ])('of %s names the URL and shows how it begins', async (_name, body) => {
    await serve((_, response) => response.writeHead(200).end(body));
    const error = await failure();
    expect(error).toBeInstanceOf(EnvelopeError);
    expect(error.message).toContain(server!.url);
    expect(error.message).toContain(body.slice(0, 12));
    expect(server!.paths).toHaveLength(1);
  });

  it('of an answer over the bound, also when it is small on the wire', async () => {
    const huge = JSON.stringify({ count: 1, data: { ...record, NamaDapil: 'A'.repeat(2_000_000) } });
    await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(huge)));
    expect(await failure()).toBeInstanceOf(ResponseTooLargeError);
    expect(server!.paths).toHaveLength(1);
  });

  it('of a redirect does not follow it with the key', async () => {
    const other = await startFaultServer((_, response) => answerJson(response, whole));
    await serve((_, response) => response.writeHead(302, { location: `${other.url}/elsewhere?x=1` }).end());
    const error = await failure();
    expect(error.message).toContain(`${other.url}/elsewhere`);
    expect(other.paths).toEqual([]);
    await other.close();
  });

  it('of a host where nothing listens comes soon and says so', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as { port: number };
    await new Promise<void>((resolve) => closed.close(() => resolve()));
    const { clock } = connect(`http://127.0.0.1:${port}`);
    const error = await failure();
    expect(error).toBeInstanceOf(SourceUnreachableError);
    expect(error.message).toContain('nothing listens');
    expect(clock.sleeps.reduce((sum, sleep) => sum + sleep, 0)).toBeLessThan(5000);
  });

  it('comes for every request once the source has stopped answering', async () => {
    await serve((asked) => asked.socket.destroy(), { maxAttempts: 2 });
    for (let offset = 0; offset < 5; offset += 1) await failure({ ...request, offset });
    const asked = server!.paths.length;
    expect((await failure({ ...request, offset: 99 })).message).toContain('stopped answering');
    expect(server!.paths).toHaveLength(asked);
  });
});

describe('the run', () => {
  it('ends with the reason of its signal while a request is in flight', async () => {
    let arrived = (): void => {};
    const inFlight = new Promise<void>((resolve) => (arrived = resolve));
    const { controller } = await serve(() => arrived());
    const fetching = failure();
    await inFlight;
    controller.abort(new InterruptedError('SIGTERM'));
    expect(await fetching).toBeInstanceOf(InterruptedError);
  });

  it('ends where an answer cannot be kept', async () => {
    server = await startFaultServer((_, response) => answerJson(response, whole));
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const settings = { baseUrl: server.url, apiKey: new Secret(key), concurrency: 1, timeout: 5000, maxAttempts: 3 };
    client = createSourceClient(settings, {
      transport: createHttpTransport({ ...settings, connections: 1, maxAnswerBytes: 1000 }),
      resumed: null,
      clock: manualClock(),
      random: () => 0,
      report: () => {},
      land: () => Promise.reject(full),
      signal: new AbortController().signal,
    });
    expect(await failure()).toBe(full);
    expect(await failure()).toBe(full);
    expect(server.paths).toHaveLength(1);
  });

  it('never shows a key that the source echoes', async () => {
    const { landed, events } = await serve((_, response) =>
      answerJson(response, { count: 1, data: { ...record, NamaDapil: key } }),
    );
    const { page } = await client!.fetchPage(voters, request);
    expect(page.bytes.toString()).not.toContain(key);
    expect(landed[0]!.body.toString()).not.toContain(key);
    expect(events.some((event) => event.kind === 'warning' && event.message.includes('repeats the API key'))).toBe(
      true,
    );
    await client!.close();
    await server!.close();
    await serve((_, response) => response.writeHead(200).end(`<html>${key}`));
    const error = await failure();
    expect(error).toBeInstanceOf(RekapError);
    expect(error.message).not.toContain(key);
  });
});
