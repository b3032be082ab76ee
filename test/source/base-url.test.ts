/** A base URL is normalized, or refused; it gets a warning if the key could be read on its way, or if it contains an endpoint. */

import { expect, it } from 'vitest';
import { readBaseUrl, warningsOfBaseUrl } from '../../src/source/base-url.ts';

const endpoints = [{ path: '/api/people' }];

it('ignores slashes at the end, capitals and the standard port', () => {
  expect(readBaseUrl('https://Service.test:443/v1//', endpoints)).toBe('https://service.test/v1');
});

it.each([
  ['nonsense', 'is not a URL'],
  ['', 'is not a URL'],
  ['localhost:9114', 'does not start with https:// or http://'],
  ['ftp://x', 'starts with ftp://'],
  ['https://u:p@x', 'password'],
  ['https://x?key=1', 'query'],
  ['https://x#a', 'fragment'],
  ['https://x/api/people/', 'endpoint'],
])('refuses %j', (url, word) => {
  const message = expect.stringContaining(word);
  expect(() => readBaseUrl(url, endpoints)).toThrow(expect.objectContaining({ code: 'usage', message }));
});

it.each([
  ['http://service.test', 'without encryption'],
  ['http://192.0.2.1:8080/x', 'without encryption'],
  ['http://[2001:db8::1]', 'without encryption'],
  ['http://127.evil.test', 'without encryption'],
  ['http://localhost.test', 'without encryption'],
  ['https://service.test/v1/api', 'requests https://service.test/v1/api/api/people'],
  ['https://service.test', null],
  ['http://127.0.0.1:8080', null],
  ['http://localhost', null],
  ['http://service.localhost', null],
  ['http://[::1]:1', null],
  ['https://service.test/v1/apis', null],
  ['https://service.test/api/v1', null],
])('warns about %s: %s', (url, warning) => {
  expect(warningsOfBaseUrl(url, endpoints)).toEqual(warning === null ? [] : [expect.stringContaining(warning)]);
});
