/** Requests that no honest client sends, too long, malformed or smuggled: answered plainly or not at all, and the service goes on. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Service } from '../../src/serve/service.ts';
import { expectRawProblem } from './expect-problem.ts';
import { ask, key, pipelines, requestRaw, sendRaw, start, type RawAnswer } from './support.ts';

let service: Service;
beforeAll(async () => {
  service = await start({ maxLimit: 50 });
});
afterAll(() => service.close());

const { endpoint } = pipelines[0]!;

describe('hostile requests', () => {
  const [get, post] = ['GET', 'POST'].map((method) => `${method} ${endpoint} HTTP/1.1\r\nhost: x\r\n`);

  it('with a very long URL get 414', async () => {
    const problem = expectRawProblem(await requestRaw(service, 'GET', `${endpoint}?limit=${'1'.repeat(3000)}`), 414);
    expect(problem.detail).toContain('2048');
  });

  it('with headers beyond the bound get 431', async () => {
    expectRawProblem(await requestRaw(service, 'GET', endpoint, [`cookie: ${'c'.repeat(20_000)}`]), 431);
    expectRawProblem(await requestRaw(service, 'GET', `/${'a'.repeat(20_000)}`), 431);
  });

  it('with a large body get 413, announced or not, and the connection is closed', async () => {
    const announced = await requestRaw(service, 'GET', endpoint, ['content-length: 1025']);
    expectRawProblem(announced, 413);
    const chunked = await sendRaw(
      service,
      `GET ${endpoint} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ntransfer-encoding: chunked\r\n\r\nffffff\r\naaaa`,
    );
    expect(chunked?.status).toBe(200);
    expect(chunked?.headers.get('connection')).toBe('close');
  });

  it('with the small body that some clients always send are answered', async () => {
    const answer = await sendRaw(
      service,
      `GET ${endpoint}?limit=1 HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
    expect(answer?.status).toBe(200);
    expect(JSON.parse(answer?.body ?? '')).toHaveProperty('count', 1);
  });

  it.each([
    ['no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n'],
    ['an unknown method', `BREW ${endpoint} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a line feed in a header', `${get}x-api-key: a\nb: c\rd\r\n\r\n`],
    ['two lengths', `${post}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    [
      'a length and chunks (request smuggling)',
      `${post}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a header folded over two lines', `${get}x-api-key:\r\n ${key}\r\n\r\n`],
    ['a space before a colon', `${post}content-length : 4\r\n\r\n0\r\n\r\n`],
    ['chunks by another name', `${post}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['chunks and then another coding', `${post}transfer-encoding: chunked, identity\r\n\r\n`],
    ['a length with a sign', `${post}content-length: +2\r\n\r\nab`],
    ['a length beyond every number', `${get}content-length: ${'9'.repeat(30)}\r\n\r\n`],
    [
      'a chunk beyond every number',
      `POST /health HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${'f'.repeat(30)}\r\n`,
    ],
    ['lines that end in LF alone', `GET ${endpoint} HTTP/1.1\nhost: x\n\n`],
    ['NUL in the path', `GET ${endpoint}\x00 HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['NUL in a header', `${get}x-api-key: a\x00b\r\n\r\n`],
    ['a path that begins with a backslash', `GET \\api\\datapemilihdpr HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['a space in the path', `GET ${endpoint} x HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['two Hosts', `${get}host: y\r\nconnection: close\r\n\r\n`],
    ['no Host', `GET ${endpoint} HTTP/1.1\r\nconnection: close\r\n\r\n`],
  ])('%s: one 400, then the connection ends', async (_, bytes) => {
    expectRawProblem(await sendRaw(service, bytes), 400);
    expect((await ask(service, '/health')).status).toBe(200);
  });

  it('are refused with a 400 after the answer to an honest one before them', async () => {
    const answer = await sendRaw(service, 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n\x00\x01\x02 garbage\r\n\r\n');
    expect(statuses(answer)).toEqual([200, 400]);
    expect((await ask(service, '/health')).status).toBe(200);
  });

  it('with another expectation than 100-continue get 417', async () => {
    expectRawProblem(await requestRaw(service, 'GET', endpoint, ['expect: miracles']), 417);
  });

  it('with CONNECT get nothing', async () => {
    expect(await requestRaw(service, 'CONNECT', 'example.org:443')).toBeNull();
  });

  it.each([
    ['as they come', Number.POSITIVE_INFINITY],
    ['cut within their ends', 3],
  ])('are answered one by one when pipelined, %s', async (_, size) => {
    const one = `GET ${endpoint}?limit=1 HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n`;
    const body = 'content-length: 6\r\n\r\n\r\n\r\n{}';
    const all = `${one}\r\n${one}${body}${one.replace(key, 'wrong')}\r\n${one}expect: miracles\r\n\r\n${one}connection: close\r\n\r\n`;
    expect(statuses(await sendRaw(service, all, size))).toEqual([200, 200, 401, 417, 200]);
  });
});

/** The status of each answer that one connection received. */
function statuses(answer: RawAnswer | null): number[] {
  const others = answer?.body.matchAll(/HTTP\/1\.1 (\d+)/g) ?? [];
  return [answer?.status ?? 0, ...[...others].map(([, status]) => Number(status))];
}
