/** The rate limit: off by default, counted per accepted key over all endpoints. */

import { afterEach, expect, it } from 'vitest';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import type { Service } from '../../src/serve/service.ts';
import { ask, key, pipelines, start } from './support.ts';

let service: Service | undefined;
afterEach(() => service?.close());

const [first, second] = pipelines.map(({ endpoint }) => endpoint) as [string, string];

it('answers one request too many with 429 and Retry-After', async () => {
  service = await start({ rateLimit: 3 });
  expect((await ask(service, first)).status).toBe(200);
  expect((await ask(service, second)).status).toBe(200);
  expect((await ask(service, first, { method: 'HEAD' })).status).toBe(200);
  const refused = await ask(service, second);
  expect(refused.status).toBe(429);
  expect(refused.headers.get('content-type')).toContain('application/problem+json');
  expect(refused.headers.get('cache-control')).toBe('no-store');
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  const body = await refused.text();
  expect(JSON.parse(body)).toMatchObject({
    type: 'about:blank',
    title: 'Too Many Requests',
    status: 429,
    instance: second,
  });
  expect(body).not.toContain(key);
});

it('counts each key by itself', async () => {
  service = await start({ rateLimit: 1, keys: new ApiKeys([key, 'other']) });
  expect((await ask(service, first)).status).toBe(200);
  expect((await ask(service, first)).status).toBe(429);
  expect((await ask(service, first, { headers: { 'x-api-key': 'other' } })).status).toBe(200);
});

it('counts a request with wrong parameters, but none with a wrong key and none on the open paths', async () => {
  service = await start({ rateLimit: 2 });
  for (const path of ['/health', '/openapi.json', '/']) {
    expect((await ask(service, path)).status).toBe(200);
    expect((await ask(service, path)).status).toBe(200);
    expect((await ask(service, path)).status).toBe(200);
  }
  expect((await ask(service, first, { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
  expect((await ask(service, first, { method: 'POST' })).status).toBe(405);
  expect((await ask(service, first)).status).toBe(200);
  expect((await ask(service, `${first}?limit=x`)).status).toBe(400);
  expect((await ask(service, first)).status).toBe(429);
});

it('is off unless asked for', async () => {
  service = await start();
  const answers = await Promise.all(Array.from({ length: 200 }, () => ask(service!, `${first}?limit=1`)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect([...answers[0]!.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
});
