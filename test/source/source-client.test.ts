/** The client over real sockets: how it requests a page, and which responses it retries. */

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { withParameters, requestOf } from '../support/page-request.ts';
import { answerJson, type Script } from '../support/fault-server.ts';
import { connect, key, request, serve, startServer, whole } from './client-fixture.ts';

describe('a page', () => {
  it('is requested with the key in its header only, and the parameters in the query', async () => {
    const { client, server, landed } = await serve((_, response) => answerJson(response, whole));
    const { page } = await client.fetchPage(voters, request);
    expect(page.records.length).toBe(1);
    expect(server.paths).toEqual(['/api/datapemilihdpr?id_dapil=1101&limit=10&offset=0']);
    expect(server.headers[0]).toMatchObject({ 'x-api-key': key, 'content-type': 'application/json' });
    expect(JSON.stringify([landed, server.paths])).not.toContain(key);
    expect(landed.map(({ status, url }) => [status, url])).toEqual([[200, `${server.url}${server.paths[0]}`]]);
  });

  it('is requested below the path of the base URL', async () => {
    const server = await startServer((_, response) => answerJson(response, whole));
    const { client } = connect(`${server.url}/mirror`);
    await client.fetchPage(voters, requestOf(voters, { limit: 10 }));
    expect(server.paths).toEqual(['/mirror/api/datapemilihdpr?limit=10&offset=0']);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('is read in %s, and after early hints', async (encoding, compress) => {
    let accepted = '';
    const { client } = await serve((sent, response) => {
      accepted = String(sent.headers['accept-encoding']);
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(200, { 'content-encoding': encoding }).end(compress(JSON.stringify(whole)));
    });
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(accepted.split(/, */)).toContain(encoding);
  });
});

describe('an optional page', () => {
  it.each([403, 500, 302])('can be refused with %i without an effect on other pages', async (status) => {
    const { client, server } = await serve((sent, response) =>
      sent.url!.includes('offset=100') ? answerJson(response, {}, status) : answerJson(response, whole),
    );
    const optional = { mayRefuse: true, isOptional: true };
    for (const offset of [100, 1000, 1001, 1002, 1003, 1004])
      await expect(client.fetchPage(voters, withParameters(request, { offset }), optional)).rejects.toMatchObject({
        status,
      });
    // A server error is retried once.
    expect(server.paths).toHaveLength(status === 500 ? 12 : 6);
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is a refused key if the status is 401', async () => {
    const { client } = await serve((_, response) => answerJson(response, {}, 401));
    const fetching = client.fetchPage(voters, request, { mayRefuse: true });
    await expect(fetching).rejects.toMatchObject({ code: 'source-refused-key' });
  });

  it('is retried like any other if it can only be refused', async () => {
    const { client, server } = await serve((_, response, attempt) => answerJson(response, {}, attempt < 3 ? 503 : 403));
    await expect(client.fetchPage(voters, request, { mayRefuse: true })).rejects.toMatchObject({ status: 403 });
    expect(server.paths).toHaveLength(3);
  });
});

describe('a response', () => {
  it.each([408, 429, 500, 503])('with status %i is landed decoded without the key, and retried', async (status) => {
    const { client, landed, clock } = await serve((_, response, attempt) =>
      attempt < 3
        ? response.writeHead(status, { 'content-encoding': 'gzip' }).end(gzipSync(`no such key: ${key}`))
        : answerJson(response, whole),
    );
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(landed.map((response) => response.status)).toEqual([status, status, 200]);
    expect(landed[0]!.body.toString()).toBe('no such key: [redacted]');
    expect(clock.sleeps).toHaveLength(2);
    expect(client.figures).toMatchObject({ requests: 3, retries: 2 });
  });

  it.each([
    [429, '7', 7000],
    [503, new Date('2026-11-20T03:00:20Z').toUTCString(), 20_000],
  ])('with status %i is retried after its Retry-After, at half the concurrency', async (status, after, expected) => {
    const { client, clock, events } = await serve(
      (_, response, attempt) =>
        attempt === 1 ? answerJson(response, {}, status, { 'retry-after': after }) : answerJson(response, whole),
      { concurrency: 8 },
    );
    await client.fetchPage(voters, request);
    const milliseconds = clock.sleeps[0]!;
    expect(milliseconds).toBeGreaterThanOrEqual(expected);
    expect(milliseconds).toBeLessThan(expected + 500);
    expect(events).toContainEqual({ kind: 'wait', dataset: 'voters', milliseconds, why: `status ${status}` });
    expect(client.figures.lowestConcurrency).toBe(4);
  });

  const json = JSON.stringify(whole);
  it.each<[string, Script]>([
    ['the connection is reset', (sent) => sent.socket.resetAndDestroy()],
    ['the connection closes without a response', (sent) => sent.socket.destroy()],
    [
      'a body with a length is truncated',
      (sent, response) => {
        response.writeHead(200, { 'content-length': '500' });
        response.write(json.slice(0, 12), () => sent.socket.destroy());
      },
    ],
    ['a chunked body is truncated', (sent, response) => void response.write(json, () => sent.socket.destroy())],
    [
      'a body without a length is truncated',
      (_, response) => void response.writeHead(200, { connection: 'close' }).end(json.slice(0, -9)),
    ],
    [
      'gzip is truncated',
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(json).subarray(0, 30)),
    ],
    ['it is a web page', (_, response) => void response.writeHead(200).end('<!doctype html>')],
    ['it is other text', (_, response) => void response.writeHead(200).end('Just a moment')],
    ['it is empty', (_, response) => void response.writeHead(200).end()],
  ])('is retried if %s', async (_name, fault) => {
    const { client } = await serve((sent, response, attempt) =>
      attempt === 1 ? fault(sent, response, attempt) : answerJson(response, whole),
    );
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
    expect(client.figures.retries).toBe(1);
  });

  it('is retried if it does not come within the timeout', async () => {
    const { client } = await serve((_, response, attempt) => attempt > 1 && answerJson(response, whole), {
      timeout: 100,
    });
    expect((await client.fetchPage(voters, request)).page.records.length).toBe(1);
  });

  it('is given up after the maximum number of attempts, with the URL and the status', async () => {
    const { server, failure } = await serve((_, response) => answerJson(response, {}, 500), { maxAttempts: 3 });
    const error = await failure();
    expect(error).toMatchObject({ code: 'source-status', message: expect.stringContaining('500') });
    expect(error.message).toContain(`${server.url}/api/datapemilihdpr?id_dapil=1101`);
    expect(server.paths).toHaveLength(3);
  });
});
