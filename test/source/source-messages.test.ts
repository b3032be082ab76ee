/** A failed request is described by what happened: no connection, a broken one, or a response that can't be decoded. */

import { expect, it } from 'vitest';
import { describeFailure, redirectDetail, refusedAll, statusError } from '../../src/source/source-messages.ts';

const url = 'http://source.test/api';

it.each([
  ['ECONNREFUSED', 'source-unreachable', 'refused', '--base-url'],
  ['UND_ERR_SOCKET', 'source-unreachable', 'it broke', '--page-size'],
  ['ECONNRESET', 'source-unreachable', 'it broke', '--page-size'],
  ['Z_DATA_ERROR', 'envelope', 'content-encoding', 'operator'],
])('%s is an error of code %s', (code, expected, message, next) => {
  const error = describeFailure({ kind: 'connection', code }, url, 'given up', 'it broke');
  expect(error).toMatchObject({ code: expected, next: expect.stringContaining(next) });
  expect(error.message).toContain(message);
});

it.each([
  ['https://other.test/v1/people', 'set --base-url to https://other.test/v1', true],
  ['/people/?x=1', 'another --base-url does not help', false],
  ['/login', 'expose the API key', false],
])('a redirect to %s says what to do', (location, advice, isElsewhere) => {
  const detail = redirectDetail(location, '/people', 'http://source.test/people?limit=1')!;
  expect(detail).toContain(advice);
  expect(detail.includes('If you trust that address')).toBe(isElsewhere);
});

it('suggests a smaller page if every request is refused, but not if every request is redirected', () => {
  expect(refusedAll('voters', statusError(302, url, 'why', 'x')).next).not.toContain('--page-size');
  expect(refusedAll('voters', statusError(400, url, 'why', 'x')).next).toContain('--page-size');
});
