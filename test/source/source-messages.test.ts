/** What is said of a request that failed is what happened to it: no connection, one that broke, or an answer that cannot be decoded. */

import { expect, it } from 'vitest';
import {
  describeFailure,
  nameFailure,
  redirectDetail,
  refusedAll,
  statusError,
} from '../../src/source/source-messages.ts';

const url = 'http://source.test/api';

it.each([
  ['ECONNREFUSED', 'source-unreachable', `${url} cannot be reached: the connection was refused`, '--base-url'],
  ['UND_ERR_SOCKET', 'source-unreachable', `${url} did not return a complete response: it broke`, '--page-size'],
  ['ECONNRESET', 'source-unreachable', `${url} did not return a complete response: it broke`, '--page-size'],
  ['Z_DATA_ERROR', 'envelope', `The body of the response of ${url} does not match its content-encoding`, 'operator'],
])('%s is of code %s', (code, expected, message, next) => {
  const error = describeFailure({ kind: 'connection', code }, url, 'given up', 'it broke');
  expect(error.code).toBe(expected);
  expect(error.message).toContain(message);
  expect(error.next).toContain(next);
});

it.each([
  ['ECONNREFUSED', 'no connection (ECONNREFUSED)'],
  ['Z_BUF_ERROR', 'a response that does not match its content-encoding (Z_BUF_ERROR)'],
])('%s is called by its name while it is tried again', (code, name) => {
  expect(nameFailure({ kind: 'connection', code }, 1000)).toBe(name);
});

it.each([
  ['https://other.test/v1/people', 'set --base-url to https://other.test/v1'],
  ['/people/?x=1', 'another --base-url does not help'],
  ['/people', 'another --base-url does not help'],
  ['/login', 'expose the API key.'],
])('a redirect to %s says what can be done about it', (location, advice) => {
  const said = redirectDetail(location, '/people', 'http://source.test/people?limit=1');
  expect(said).toContain(advice);
  expect(said!.includes('If you trust that address')).toBe(location.startsWith('https'));
});

it('a source that redirects every request is not said to have a limit', () => {
  expect(refusedAll('voters', statusError(302, url, 'why', 'x')).next).not.toContain('--page-size');
  expect(refusedAll('voters', statusError(400, url, 'why', 'x')).next).toContain('--page-size');
});
