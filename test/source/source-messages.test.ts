/** A failed request is described by what happened: no connection, a broken one, or a response that can't be decoded. */

import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { excerpt } from '../../src/source/body-problems.ts';
import { describeFailure, redirectDetail, refusedAll, statusError } from '../../src/source/source-messages.ts';

const url = 'http://source.test/api';

it.each([
  ['ECONNREFUSED', 'source-unreachable', 'refused', '--base-url'],
  ['UND_ERR_SOCKET', 'source-unreachable', 'it broke', '--page-size'],
  ['ECONNRESET', 'source-unreachable', 'it broke', '--page-size'],
  ['Z_DATA_ERROR', 'envelope', 'content-encoding', 'operator'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'source-unreachable', 'DEPTH_ZERO', 'NODE_EXTRA_CA_CERTS'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'source-unreachable', 'UNABLE_TO', 'NODE_EXTRA_CA_CERTS'],
  ['CERT_HAS_EXPIRED', 'source-unreachable', 'CERT_HAS', '--base-url'],
])('%s is an error of code %s', (code, expected, message, next) => {
  const error = describeFailure({ kind: 'connection', code }, { url, giveUp: 'given up', detail: 'it broke' });
  expect(error).toMatchObject({ code: expected, next: expect.stringContaining(next) });
  expect(error.message).toContain(message);
});

it.each([
  ['https://other.test/v1/people', '/people', 'set --base-url to https://other.test/v1'],
  ['https://other.test/v1/people/', '/people/', 'set --base-url to https://other.test/v1'],
  ['/people/?x=1', '/people', "add the slash to path: '/people/'"],
  ['/people', '/people/', "remove the slash from path: '/people'"],
  ['/people?x=1', '/people', 'the same address'],
  ['/login', '/people', 'expose the API key'],
])('a redirect to %s from %s says what to do', (location, path, advice) => {
  const detail = redirectDetail(location, path, `http://source.test${path}?limit=1`)!;
  expect(detail).toContain(advice);
  expect(detail.includes('If you trust that address')).toBe(location.startsWith('https'));
});

it.each([
  ['a zip file', Buffer.from('PK\x03\x04\x14\0\0\0\b\0', 'latin1')],
  ['a gzip file', gzipSync('[{"id":1}]')],
  ['an image', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
])('does not print the bytes of %s', (_what, body) => {
  expect(excerpt(body)).toBe(`(${body.length} bytes of binary data)`);
});

it('suggests a smaller page if every request is refused, but not if every request is redirected', () => {
  expect(refusedAll('voters', statusError(302, url, 'why', 'x')).next).not.toContain('--page-size');
  expect(refusedAll('voters', statusError(400, url, 'why', 'x')).next).toContain('--page-size');
});
