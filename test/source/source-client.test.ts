/** The client over real sockets: how it asks for a page, and which answers it asks for again. */

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { asking, requestOf } from '../support/asked.ts';
import { answerJson, type Script } from '../support/fault-server.ts';
import { connect, key, request, serve, startServer, whole } from './client-fixture.ts';

describe('a page', () => {
  it('is asked for with the key in the header, the parameters in the query, and nothing of the key elsewhere', async () => {
    const { client, server, landed } = await serve((_, response) => answerJson(response, whole));
    const { page } = await client.fetchPage(voters, request);
    expect(page.records.length).toBe(1);
    expect(server.paths).toEqual(['/api/datapemilihdpr?id_dapil=1101&limit=10&offset=0']);
    expect(server.headers[0]).toMatchObject({ 'x-api-key': key, 'content-type': 'application/json' });
    expect(JSON.stringify([landed, server.paths])).not.toContain(key);
    expect(landed.map(({ status, url }) => [status, url])).toEqual([[200, `${server.url}${server.paths[0]}`]]);
  });

  it('keeps a path of the base URL before the endpoint', async () => {
    const server = await startServer((_, response) => answerJson(response, whole));
    const { client } = connect(`${server.url}/mirror`);
    await client.fetchPage(voters, requestOf(voters, { limit: 10 }));
    expect(server.paths).toEqual(['/mirror/api/datapemilihdpr?limit=10&offset=0']);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('is asked for in %s, and read from it', async (encoding, compress) => {
    let accepted = '';
    const { client } = await serve((asked, response) => {
      accepted = String(asked.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': encoding }).end(compress(JSON.stringify(whole)));
    });
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(accepted.split(/, */)).toContain(encoding);
  });

  it('is read behind early hints', async () => {
    const { client } = await serve((_, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      answerJson(response, whole);
    });
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is landed decoded and without the key where it is an error, too', async () => {
    const { client, landed } = await serve((_, response, attempt) =>
      attempt === 1
        ? response.writeHead(500, { 'content-encoding': 'gzip' }).end(gzipSync(`no such key: ${key}`))
        : answerJson(response, whole),
    );
    await client.fetchPage(voters, request);
    expect(landed[0]!.body.toString()).toBe('no such key: [redacted]');
  });
});

describe('a page that the source need not have', () => {
  it.each([403, 500, 302])('ends nothing where it is answered with %i, whatever became of others', async (status) => {
    const { client, server } = await serve((asked, response) =>
      asked.url!.includes('offset=100') ? answerJson(response, {}, status) : answerJson(response, whole),
    );
    const optional = { mayRefuse: true, isOptional: true };
    for (const offset of [100, 1000, 1001, 1002, 1003, 1004])
      await expect(client.fetchPage(voters, asking(request, { offset }), optional)).rejects.toMatchObject({ status });
    // A failure may be a slip of the moment.
    expect(server.paths).toHaveLength(status === 500 ? 12 : 6);
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is a refused key where it is answered with 401', async () => {
    const { client } = await serve((_, response) => answerJson(response, {}, 401));
    await expect(client.fetchPage(voters, request, { mayRefuse: true })).rejects.toThrow(
      expect.objectContaining({ code: 'source-refused-key' }),
    );
  });

  it('is asked for with all patience where it may only be refused', async () => {
    const { client, server } = await serve((_, response, attempt) =>
      attempt < 3 ? answerJson(response, {}, 503) : answerJson(response, {}, 403),
    );
    await expect(client.fetchPage(voters, request, { mayRefuse: true })).rejects.toMatchObject({ status: 403 });
    expect(server.paths).toHaveLength(3);
  });
});

describe('an answer that may come better later', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 520])(
    'is asked for again after status %i, and landed all the same',
    async (status) => {
      const { client, landed, clock } = await serve((_, response, attempt) =>
        answerJson(response, attempt < 3 ? { error: 'later' } : whole, attempt < 3 ? status : 200),
      );
      expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
      expect(landed.map((answer) => answer.status)).toEqual([status, status, 200]);
      expect(clock.sleeps).toHaveLength(2);
      expect(client.figures).toMatchObject({ requests: 3, retries: 2 });
    },
  );

  it('is waited for as Retry-After says, in seconds, and that is told', async () => {
    const { client, clock, events } = await serve((_, response, attempt) =>
      attempt === 1 ? answerJson(response, {}, 429, { 'retry-after': '7' }) : answerJson(response, whole),
    );
    await client.fetchPage(voters, request);
    expect(clock.sleeps[0]).toBeGreaterThanOrEqual(7000);
    expect(clock.sleeps[0]).toBeLessThan(7500);
    const wait = { kind: 'wait', dataset: 'voters', milliseconds: clock.sleeps[0], why: 'status 429' };
    expect(events).toContainEqual(wait);
  });

  it('is waited for as Retry-After says, as a date', async () => {
    const { client, clock } = await serve((_, response, attempt) =>
      attempt === 1
        ? answerJson(response, {}, 503, { 'retry-after': new Date('2026-11-20T03:00:20Z').toUTCString() })
        : answerJson(response, whole),
    );
    await client.fetchPage(voters, request);
    expect(clock.sleeps[0]).toBeGreaterThanOrEqual(20_000);
    expect(clock.sleeps[0]).toBeLessThan(20_500);
  });

  it('halves the pace when the source says "too many"', async () => {
    const { client } = await serve(
      (_, response, attempt) => (attempt === 1 ? answerJson(response, {}, 429) : answerJson(response, whole)),
      { concurrency: 8 },
    );
    await client.fetchPage(voters, request);
    expect(client.figures.lowestConcurrency).toBe(4);
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
    ['a web page stands in its place', (_, response) => void response.writeHead(200).end('<!doctype html>')],
    ['a few words stand in its place', (_, response) => void response.writeHead(200).end('Just a moment')],
    [
      'the body is empty',
      (_, response) => {
        response.writeHead(200).end();
      },
    ],
  ])('is asked for again when %s', async (_name, fault) => {
    const { client } = await serve((asked, response, attempt) =>
      attempt === 1 ? fault(asked, response, attempt) : answerJson(response, whole),
    );
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(client.figures.retries).toBe(1);
  });

  it('is asked for again when nothing comes within the time for one attempt', async () => {
    const { client } = await serve(
      (_, response, attempt) => {
        if (attempt > 1) answerJson(response, whole);
      },
      { timeout: 150 },
    );
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is given up after the bound on attempts, naming the URL', async () => {
    const { server, failure } = await serve((_, response) => answerJson(response, { error: 'down' }, 500), {
      maxAttempts: 3,
    });
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-status' });
    expect(error.message).toContain(`${server.url}/api/datapemilihdpr?id_dapil=1101`);
    expect(error.message).toContain('500');
    expect(server.paths).toHaveLength(3);
  });
});
