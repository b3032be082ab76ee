/** A base URL over which the key could be read, or that says more than the address of the service, is warned of, and no other. */

import { describe, expect, it } from 'vitest';
import { readBaseUrl, warningsOfBaseUrl } from '../../src/source/base-url.ts';

const endpoints = [{ path: '/api/people' }];

describe('a base URL', () => {
  it('is the same with slashes at its end and without', () => {
    expect(readBaseUrl('https://Service.test:443/v1//', endpoints)).toBe('https://service.test/v1');
    expect(readBaseUrl('https://service.test', endpoints)).toBe('https://service.test');
  });

  it.each(['nonsense', '', 'ftp://x', 'https://u:p@x', 'https://x?key=1', 'https://x#a', 'https://x/api/people/'])(
    '%j is refused',
    (given) => {
      expect(() => readBaseUrl(given, endpoints)).toThrow(expect.objectContaining({ code: 'usage' }));
    },
  );

  it('without http or https in front is told so, and not of a scheme that nobody wrote', () => {
    expect(() => readBaseUrl('localhost:9114', endpoints)).toThrow('does not start with https:// or http://');
    expect(() => readBaseUrl('ftp://x', endpoints)).toThrow('starts with ftp://');
  });

  it.each([
    'http://service.test',
    'http://192.0.2.1:8080/x',
    'http://[2001:db8::1]',
    'http://127.evil.test',
    'http://localhost.test',
  ])('%s is warned of', (url) => {
    expect(warningsOfBaseUrl(url, endpoints)).toEqual([expect.stringContaining('without encryption')]);
  });

  it.each([
    'https://service.test',
    'http://127.0.0.1:8080',
    'http://localhost',
    'http://service.localhost',
    'http://[::1]:1',
    'https://service.test/v1/apis',
    'https://service.test/api/v1',
  ])('%s is not', (url) => {
    expect(warningsOfBaseUrl(url, endpoints)).toEqual([]);
  });

  it('that ends as every endpoint begins is warned of with what it would ask', () => {
    expect(warningsOfBaseUrl('https://service.test/v1/api', endpoints)).toEqual([
      expect.stringContaining('requests https://service.test/v1/api/api/people'),
    ]);
    expect(warningsOfBaseUrl('https://service.test/', [{ path: '/people' }])).toEqual([]);
  });
});
