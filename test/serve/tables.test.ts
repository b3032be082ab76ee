/** Whole tables over HTTP: a table that fails is never taken for a whole one. */

import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ServedSite, ServedTable } from '../../src/serve/served-site.ts';
import type { Service } from '../../src/serve/service.ts';
import { ask, emptySite, expectProblem, key, requestRaw, start } from './support.ts';

const csv = { type: 'text/csv; charset=utf-8', etag: 'one', bytes: null };

/** A service that has `table` under every name. */
function serve(table: ServedTable, onFailure?: (error: unknown) => void): Promise<Service> {
  const site: ServedSite = { ...emptySite, table: async () => table };
  return start({ site, ...(onFailure === undefined ? {} : { onFailure }) });
}

/** All bytes until the connection ends; calls `begun` after the first ones. */
async function receive(service: Service, encoding: string, begun: () => void): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(
    `GET /tables/voters.csv HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\naccept-encoding: ${encoding}\r\n\r\n`,
  );
  socket.setEncoding('latin1');
  let received = '';
  try {
    for await (const piece of socket) {
      if (received === '') begun();
      received += piece as string;
    }
  } catch {
    // The connection may be reset.
  }
  return received;
}

describe('a table', () => {
  it('gets a 503 with Retry-After while too many are generated', async () => {
    const service = await serve({ ...csv, open: async () => null });
    const answer = await ask(service, '/tables/voters.csv');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.headers.get('etag')).toBeNull();
    await expectProblem(answer, 503);
  });

  it.each([
    ['of known size', 123, '123'],
    ['that is generated', null, undefined],
  ])('%s is not opened for a HEAD', async (_what, bytes, length) => {
    const open = () => Promise.reject(new Error('opened'));
    const service = await serve({ ...csv, bytes, open });
    const answer = await requestRaw(service, 'HEAD', '/tables/voters.csv');
    expect(answer).toMatchObject({ status: 200, body: '' });
    expect(answer?.headers.get('content-length')).toBe(length);
    expect(answer?.headers.get('content-type')).toBe(csv.type);
    expect(answer?.headers.has('transfer-encoding')).toBe(false);
  });

  it('that is generated is refused to HTTP/1.0, which cannot detect a truncated body', async () => {
    const service = await serve({ ...csv, open: () => Promise.reject(new Error('opened')) });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write(`GET /tables/voters.csv HTTP/1.0\r\nx-api-key: ${key}\r\n\r\n`);
    const pieces = await socket.toArray();
    expect(Buffer.concat(pieces as Buffer[]).toString()).toMatch(/^HTTP\/1\.1 505 /);
  });

  it.each(['/tables/a/b.csv', '/tables/'])('does not exist at %s', async (path) => {
    const service = await serve({ ...csv, open: async () => Readable.from(['x']) });
    await expectProblem(await ask(service, path), 404);
  });
});

describe.each(['identity', 'gzip'])('with %s, a table that fails', (encoding) => {
  it('in the middle closes the connection without a last chunk, and is reported', async () => {
    const stream = new PassThrough();
    // More than gzip keeps for itself.
    stream.write(randomBytes(200_000).toString('base64'));
    const failures: unknown[] = [];
    const service = await serve({ ...csv, open: async () => stream }, (error) => failures.push(error));
    const received = await receive(service, encoding, () => stream.destroy(new Error('late')));
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.toLowerCase()).toContain('\r\ntransfer-encoding: chunked\r\n');
    expect(received.includes('\r\ncontent-encoding: gzip\r\n')).toBe(encoding === 'gzip');
    expect(received.endsWith('\r\n0\r\n\r\n')).toBe(false);
    expect(failures).toEqual([new Error('late')]);
  });

  it('before its first byte causes a 500', async () => {
    const service = await serve({
      ...csv,
      open: async () => new Readable({ read: (): void => undefined }).destroy(new Error('at once')),
    });
    const answer = await ask(service, '/tables/voters.csv', { headers: { 'accept-encoding': encoding } });
    for (const name of ['etag', 'content-disposition', 'content-encoding']) expect(answer.headers.get(name)).toBeNull();
    await expectProblem(answer, 500);
  });
});
