/** A key that would travel where others can read it is warned of, and no other. */

import { expect, it } from 'vitest';
import { warnOfPlainHttp } from '../../src/cli/plain-http.ts';

it.each([
  'http://service.test',
  'http://192.0.2.1:8080/x',
  'http://[2001:db8::1]',
  'http://127.evil.test',
  'http://localhost.test',
])('%s is warned of', (url) => {
  expect(warnOfPlainHttp(url)).toContain('unencrypted');
});

it.each([
  'https://service.test',
  'http://127.0.0.1:8080',
  'http://localhost',
  'http://service.localhost',
  'http://[::1]:1',
])('%s is not', (url) => {
  expect(warnOfPlainHttp(url)).toBeNull();
});
