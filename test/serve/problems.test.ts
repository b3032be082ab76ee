/** Every error is a problem document (RFC 9457), names what is wrong, and gives nothing away. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { Service } from '../../src/serve/service.ts';
import { expectProblem, expectRawProblem } from './expect-problem.ts';
import { ask, key, pipelines, requestRaw, start } from './support.ts';

let service: Service;
beforeAll(async () => {
  service = await start({ maxLimit: 50 });
});
afterAll(() => service.close());

const { endpoint } = pipelines[0]!;

describe('keys', () => {
  it.each(pipelines)('are asked for at $endpoint', async ({ endpoint: path }) => {
    for (const method of ['GET', 'HEAD']) {
      const response = await fetch(`${service.url}${path}`, { method });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('ApiKey header="x-api-key"');
    }
    await expectProblem(await fetch(`${service.url}${path}`), 401, path);
  });

  it.each(['wrong', '', `${key}x`, key.slice(1), key.toUpperCase()])('are refused when wrong: %j', async (wrong) => {
    const response = await fetch(`${service.url}${endpoint}`, { headers: { 'x-api-key': wrong } });
    await expectProblem(response, 401, endpoint);
  });

  it('are refused when sent twice', async () => {
    expectRawProblem(await requestRaw(service, 'GET', endpoint, [`x-api-key: ${key}`]), 401);
  });

  it('are checked before the parameters, and after path and method', async () => {
    await expectProblem(await fetch(`${service.url}${endpoint}?limit=x`), 401, endpoint);
    await expectProblem(await fetch(`${service.url}${endpoint}`, { method: 'POST' }), 405, endpoint);
    await expectProblem(await fetch(`${service.url}/api/nothing`), 404, '/api/nothing');
  });
});

describe('methods', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s is answered with 405 and Allow',
    async (method) => {
      for (const path of [endpoint, '/', '/health', '/openapi.json']) {
        const response = await ask(service, path, { method });
        expect(response.headers.get('allow')).toBe('GET, HEAD');
        await expectProblem(response, 405, path);
      }
    },
  );

  it('do not read the body of a request that is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    await expectProblem(await ask(service, endpoint, { method: 'POST', headers, body: '{broken' }), 405, endpoint);
  });
});

describe('parameters', () => {
  it.each([
    ['limit=0', 'limit', '1 to 50'],
    ['limit=51', 'limit', '1 to 50'],
    ['limit=99999999999999999999', 'limit', '1 to 50'],
    ['limit=-1', 'limit', '1 to 50'],
    ['limit=', 'limit', '1 to 50'],
    ['limit', 'limit', '1 to 50'],
    ['limit=10.0', 'limit', '1 to 50'],
    ['limit=1e1', 'limit', '1 to 50'],
    ['limit=0x10', 'limit', '1 to 50'],
    ['limit=%2B5', 'limit', '1 to 50'],
    ['limit=+5', 'limit', '1 to 50'],
    ['limit=5%20', 'limit', '1 to 50'],
    ['limit=5%00', 'limit', '1 to 50'],
    ['limit=%D9%A5', 'limit', '1 to 50'],
    ['limit=1%2C000', 'limit', '1 to 50'],
    ['limit=null', 'limit', '1 to 50'],
    ['limit=5&limit=5', 'limit', 'only once'],
    ['offset=-1', 'offset', '0 to 2147483647'],
    ['offset=2147483648', 'offset', '0 to 2147483647'],
    ['offset=', 'offset', '0 to 2147483647'],
    ['offset=0&offset=0', 'offset', 'only once'],
    ['id_dapil=abc', 'id_dapil', '0 to 2147483647'],
    ['id_dapil=', 'id_dapil', '0 to 2147483647'],
    ['id_dapil=2147483648', 'id_dapil', '0 to 2147483647'],
    ['id_dapil=11&id_dapil=12', 'id_dapil', 'only once'],
    ['id_dapil=11%27%20OR%201=1', 'id_dapil', '0 to 2147483647'],
    ['id_dapil[]=11', 'id_dapil[]', 'id_dapil, limit, offset'],
    ['ID_DAPIL=11', 'ID_DAPIL', 'id_dapil, limit, offset'],
    ['page=2', 'page', 'id_dapil, limit, offset'],
    ['__proto__=1', '__proto__', 'id_dapil, limit, offset'],
    ['constructor=1', 'constructor', 'id_dapil, limit, offset'],
    ['=1', '', 'id_dapil, limit, offset'],
  ])('%s is refused and the parameter named', async (query, parameter, allowed) => {
    const problem = await expectProblem(await ask(service, `${endpoint}?${query}`), 400, endpoint);
    expect(problem.parameter).toBe(parameter);
    expect(problem.detail).toContain(parameter);
    expect(problem.detail).toContain(allowed);
  });

  it('are never capped: the maximum is allowed, one more is not', async () => {
    expect((await ask(service, `${endpoint}?limit=50`)).status).toBe(200);
    expect((await ask(service, `${endpoint}?limit=51`)).status).toBe(400);
  });

  it('never come back with their value, which may be a key in the wrong place', async () => {
    for (const query of [`api_key=${key}`, `limit=${key}`]) {
      await expectProblem(await ask(service, `${endpoint}?${query}`), 400, endpoint);
    }
  });

  it('are named by their beginning only where the name is very long', async () => {
    const problem = await expectProblem(await ask(service, `${endpoint}?${'n'.repeat(1500)}=1`), 400, endpoint);
    expect(problem.detail.length).toBeLessThan(200);
  });
});

describe('paths', () => {
  it.each([
    '/api',
    '/api/',
    '/nothing',
    `${endpoint}/`,
    `${endpoint}/11`,
    `/${endpoint}`,
    endpoint.toUpperCase(),
    '/.env',
    '/%00',
    `${endpoint}%00`,
    '/api/../api/datapemilihdpr',
    '/api/..%2fapi/datapemilihdpr',
    '/..%2f..%2fetc/passwd',
    '/api/./datapemilihdpr',
    '/api%2Fdatapemilihdpr',
    '/%2e%2e/api/datapemilihdpr',
    '/api/%2e/datapemilihdpr',
    '/api\\datapemilihdpr',
    '/api/datapemilihdpr;x=1',
    '//evil.test/api/datapemilihdpr',
    'file:///etc/passwd',
    '*',
  ])('%s is not found', async (target) => {
    expectRawProblem(await requestRaw(service, 'GET', target), 404);
  });

  it('that cannot be decoded are a bad request', async () => {
    expectRawProblem(await requestRaw(service, 'GET', '/api/%zz'), 400);
    expectRawProblem(await requestRaw(service, 'GET', '/%c3%28'), 400);
  });

  it('may be encoded, or come with an origin as proxies send it', async () => {
    expect((await requestRaw(service, 'GET', '/%61pi/datapemilihdpr'))?.status).toBe(200);
    expect((await requestRaw(service, 'GET', `http://example.org${endpoint}`))?.status).toBe(200);
    expect((await requestRaw(service, 'DELETE', '/%61pi/datapemilihdpr'))?.headers.get('allow')).toBe('GET, HEAD');
    expect((await requestRaw(service, 'DELETE', `http://example.org${endpoint}?a`))?.headers.get('allow')).toBe(
      'GET, HEAD',
    );
  });
});

describe('failures inside', () => {
  it('are a 500 that says nothing of the inside, and are reported to the owner', async () => {
    const failures: unknown[] = [];
    const failure = new RekapError('usage', 'the password of /etc/inside is hunter2');
    const broken = await start({
      source: {
        current() {
          throw failure;
        },
        close() {},
      },
      onFailure: (error) => failures.push(error),
    });
    try {
      const response = await ask(broken, endpoint);
      const body = await response.clone().text();
      expect(body).not.toMatch(/hunter2|RekapError|\bat \b|\.ts/);
      await expectProblem(response, 500, endpoint);
      expect(failures).toEqual([failure]);
    } finally {
      await broken.close();
    }
  });
});
