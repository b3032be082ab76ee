/** Refused requests get a problem document without secrets, and the service continues. */

import { beforeAll, describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { type Service, startService } from '../../src/serve/service.ts';
import { ask, expectProblem, key, makeOptions, pipelines, requestRaw, sendRaw, start } from './support.ts';

let service: Service;
beforeAll(async () => {
  service = await startService(makeOptions());
  return () => service.close();
});

const { path: endpoint } = pipelines[0]!;

describe('a key', () => {
  it.each(pipelines)('is required at $path before parameters are checked', async ({ path }) => {
    const response = await fetch(`${service.url}${path}?limit=x`);
    expect(response.headers.get('www-authenticate')).toBe('ApiKey header="x-api-key"');
    await expectProblem(response, 401, path);
    expect((await fetch(service.url + path, { method: 'HEAD' })).status).toBe(401);
  });

  it.each(['', `${key}x`, key.toUpperCase()])('is refused when wrong: %j', async (wrong) => {
    await expectProblem(await ask(service, endpoint, { headers: { 'x-api-key': wrong } }), 401, endpoint);
  });

  it('is refused when sent twice', async () => {
    await expectProblem(await requestRaw(service, 'GET', endpoint, [`x-api-key: ${key}`]), 401);
  });
});

describe('methods and paths', () => {
  it.each(['POST', 'DELETE', 'OPTIONS', 'PROPFIND'])('%s gets 405 and Allow', async (method) => {
    for (const path of [endpoint, '/', '/health', '/openapi.json']) {
      const response = await fetch(service.url + path, { method });
      expect(response.headers.get('allow')).toBe('GET, HEAD');
      await expectProblem(response, 405, path);
    }
  });

  it.each([
    '/nothing',
    `${endpoint}/`,
    `/${endpoint}`,
    endpoint.toUpperCase(),
    `${endpoint}%00`,
    '/api/../api/datapemilihdpr',
    '/..%2f..%2fetc/passwd',
    '/api%2Fdatapemilihdpr',
    '//evil.test/api/datapemilihdpr',
    'file:///etc/passwd',
  ])('%s is not found', async (target) => {
    await expectProblem(await requestRaw(service, 'GET', target), 404);
  });

  it.each(['/api/%zz', '/%c3%28'])('%s cannot be decoded', async (target) => {
    await expectProblem(await requestRaw(service, 'GET', target), 400);
  });

  it.each(['/%61pi/datapemilihdpr', `http://example.org${endpoint}`])('%s is accepted', async (target) => {
    expect((await requestRaw(service, 'GET', target))?.status).toBe(200);
  });
});

describe('a request that is too large', () => {
  it.each<[status: number, what: string, target: string, header: string]>([
    [414, 'URL', `${endpoint}?limit=${'1'.repeat(3000)}`, 'x: y'],
    [431, 'header', endpoint, `cookie: ${'c'.repeat(20_000)}`],
    [413, 'body', endpoint, 'content-length: 16385'],
  ])('gets %i: a %s', async (status, _, target, header) => {
    expect((await requestRaw(service, 'GET', target, [header]))?.status).toBe(status);
  });

  it('with a body of unknown length closes the connection', async () => {
    const head = `GET ${endpoint} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunked = await sendRaw(service, `${head}ffffff\r\naaaa`);
    expect([chunked?.status, chunked?.headers.get('connection')]).toEqual([200, 'close']);
  });
});

describe('malformed HTTP', () => {
  const [get, post] = ['GET', 'POST'].map((method) => `${method} ${endpoint} HTTP/1.1\r\nhost: x\r\n`);

  it.each([
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n'],
    ['an unknown method', `BREW ${endpoint} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['two lengths', `${post}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a length and chunks (smuggling)', `${post}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a space before a colon', `${post}content-length : 4\r\n\r\n0\r\n\r\n`],
    ['lines that end in LF alone', `GET ${endpoint} HTTP/1.1\nhost: x\n\n`],
    ['NUL in the path', `GET ${endpoint}\x00 HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['two Hosts', `${get}host: y\r\nconnection: close\r\n\r\n`],
    ['no Host', `GET ${endpoint} HTTP/1.1\r\nconnection: close\r\n\r\n`],
  ])('gets one 400, then the connection ends: %s', async (_, bytes) => {
    expect((await sendRaw(service, bytes))?.status).toBe(400);
    expect((await ask(service, '/health')).status).toBe(200);
  });

  it('gets no response for CONNECT', async () => {
    expect(await requestRaw(service, 'CONNECT', 'example.org:443')).toBeNull();
  });
});

it('an internal error is a 500 without details, and is reported to the owner', async () => {
  const failures: unknown[] = [];
  const failure = new RekapError('usage', 'the password of /etc/inside is hunter2');
  const source = {
    current(): never {
      throw failure;
    },
    close() {},
  };
  const broken = await start({ source, onFailure: (error) => failures.push(error) });
  const { detail } = await expectProblem(await ask(broken, endpoint), 500, endpoint);
  expect(detail).not.toMatch(/hunter2|RekapError|\.ts/);
  expect(failures).toEqual([failure]);
});
