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

const unencrypted = [expect.stringContaining('without encryption')];

it.each([
  ['http://service.test', unencrypted],
  ['http://192.0.2.1:8080/x', unencrypted],
  ['http://[2001:db8::1]', unencrypted],
  ['http://127.evil.test', unencrypted],
  ['http://localhost.test', unencrypted],
  ['https://service.test/v1/api', [expect.stringContaining('requests https://service.test/v1/api/api/people')]],
  ['https://service.test', []],
  ['http://127.0.0.1:8080', []],
  ['http://localhost', []],
  ['http://service.localhost', []],
  ['http://[::1]:1', []],
  ['https://service.test/v1/apis', []],
  ['https://service.test/api/v1', []],
])('warns about %s if necessary', (url, warning) => {
  expect(warningsOfBaseUrl(url, endpoints)).toEqual(warning);
});
