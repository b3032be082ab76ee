/** What is said of a request that failed is what happened to it: no connection, one that broke, or an answer that cannot be decoded. */

import { expect, it } from 'vitest';
import {
  describeFailure,
  nameFailure,
  redirectDetail,
  refusedAll,
  statusError,
} from '../../../src/extract/ask/source-messages.ts';

const url = 'http://source.test/api';

it.each([
  ['ECONNREFUSED', 'source-unreachable', `${url} cannot be reached: nothing listens there`, '--base-url'],
  ['UND_ERR_SOCKET', 'source-unreachable', `${url} gave no whole answer: it broke`, '--page-size'],
  ['ECONNRESET', 'source-unreachable', `${url} gave no whole answer: it broke`, '--page-size'],
  ['Z_DATA_ERROR', 'envelope', `The answer of ${url} is not, or not wholly, encoded as`, 'operator'],
])('%s is of code %s', (code, expected, message, next) => {
  const error = describeFailure({ kind: 'connection', code }, url, 'given up', 'it broke');
  expect(error.code).toBe(expected);
  expect(error.message).toContain(message);
  expect(error.next).toContain(next);
});

it.each([
  ['ECONNREFUSED', 'no connection (ECONNREFUSED)'],
  ['Z_BUF_ERROR', 'an answer that is not encoded as it says (Z_BUF_ERROR)'],
])('%s is called by its name while it is tried again', (code, name) => {
  expect(nameFailure({ kind: 'connection', code }, 1000)).toBe(name);
});

it.each([
  ['https://other.test/v1/people', 'give https://other.test/v1 as --base-url'],
  ['/people/?x=1', 'no other --base-url mends it'],
  ['/people', 'no other --base-url mends it'],
  ['/login', 'hands.'],
])('a redirect to %s says what can be done about it', (location, advice) => {
  const said = redirectDetail(location, '/people', 'http://source.test/people?limit=1');
  expect(said).toContain(advice);
  expect(said!.includes('If you trust that address')).toBe(location.startsWith('https'));
});

it('a source that redirects every request is not said to have a limit', () => {
  expect(refusedAll('voters', statusError(302, url, 'why', 'x')).next).not.toContain('--page-size');
  expect(refusedAll('voters', statusError(400, url, 'why', 'x')).next).toContain('--page-size');
});
