/** Keys: which files of keys are read, which candidates are accepted, that no key can be seen, and how often one may be used. */

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { ApiKeys, generateApiKey, readApiKeys } from '../../src/serve/api-keys.ts';
import { ask, expectProblem, key, pipelines, start } from './support.ts';

describe('a set of keys', () => {
  const keys = new ApiKeys(['first', 'second']);

  it.each(['first', 'second'])('accepts %j', (candidate) => {
    expect(keys.accepts(candidate)).toBe(true);
  });

  it.each([undefined, '', 'third', 'firs', 'firstsecond', 'First', ' first'])('refuses %j', (candidate) => {
    expect(keys.accepts(candidate)).toBe(false);
    expect(new ApiKeys([]).accepts(candidate)).toBe(false);
  });

  it('refuses a missing key even where the empty text is one', () => {
    expect(new ApiKeys(['']).accepts(undefined)).toBe(false);
  });

  it('shows no key, whichever way it is printed', () => {
    expect(JSON.stringify(keys) + inspect(keys, { showHidden: true, depth: 9 })).not.toMatch(/first|second/);
  });

  it('can be made of a new key: 32 random bytes', () => {
    const made = generateApiKey();
    expect(Buffer.from(made, 'base64url')).toHaveLength(32);
    expect(generateApiKey()).not.toBe(made);
    expect(readApiKeys(made, 'a test').accepts(made)).toBe(true);
  });
});

describe('a file of keys', () => {
  it('has one key per line, beside blank lines, remarks and a byte order mark', () => {
    const keys = readApiKeys('\uFEFFone\r\n\r\n# of the newsroom\n  two  \n\t\n#three\n', 'keys.txt');
    expect(['one', 'two', '#three', ''].map((candidate) => keys.accepts(candidate))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    ['', 'keys.txt does not contain an API key'],
    ['# nothing\n \n', 'keys.txt does not contain an API key'],
    ['good\nsec ret\n', 'line 2 of keys.txt'],
    ['good\nsecret # of the newsroom\n', 'line 2 of keys.txt'],
    ['good\nsécret\n', 'line 2 of keys.txt'],
    ['good\nsec\u0000ret\n', 'line 2 of keys.txt'],
  ])('is refused without its keys being named: %j', (text, message) => {
    let thrown: unknown;
    try {
      readApiKeys(text, 'keys.txt');
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
    const { message: said, next } = thrown as RekapError;
    expect(said + next).not.toMatch(/good|sec|ret\b/);
  });
});

describe('the rate limit', () => {
  const [first, second] = pipelines.map(({ path }) => path) as [string, string];

  it('answers one request too many with 429 and Retry-After, over all endpoints', async () => {
    const service = await start({ rateLimit: 4 });
    const asked = [ask(service, first), ask(service, second), ask(service, first, { method: 'HEAD' })];
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await ask(service, `${first}?limit=x`)).status).toBe(400);
    const refused = await ask(service, second);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    await expectProblem(refused, 429, second);
  });

  it('counts each key by itself, and neither wrong keys, wrong methods nor the open paths', async () => {
    const service = await start({ rateLimit: 1, keys: new ApiKeys([key, 'other']) });
    for (const path of ['/health', '/openapi.json', '/', '/health', '/openapi.json', '/'])
      expect((await ask(service, path)).status).toBe(200);
    expect((await ask(service, first, { headers: { 'x-api-key': 'wrong' } })).status).toBe(401);
    expect((await ask(service, first, { method: 'POST' })).status).toBe(405);
    expect((await ask(service, first)).status).toBe(200);
    expect((await ask(service, first)).status).toBe(429);
    expect((await ask(service, first, { headers: { 'x-api-key': 'other' } })).status).toBe(200);
  });

  it('is off unless asked for', async () => {
    const service = await start();
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(service, `${first}?limit=1`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });
});
