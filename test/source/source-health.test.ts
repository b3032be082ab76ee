/** A source counts as gone, or as refusing everything, after some failures in a row, unless it responds in between. */

import { expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { Failure } from '../../src/source/retry-plan.ts';
import { SourceHealth } from '../../src/source/source-health.ts';

const error = new RekapError('source-unreachable', 'no answer');
const status = (code: number): Failure => ({ kind: 'status', status: code, retryAfter: null });
const timeout: Failure = { kind: 'timeout' };

type Step = Failure | 'page' | 'page of users';

/** Notes these failures and pages of voters one after another. Returns what the last failure led to. */
function note(...steps: readonly Step[]) {
  const health = new SourceHealth();
  const ends = steps.map((step) => {
    if (typeof step !== 'string') return health.noteGivenUp('voters', step, error);
    health.notePage(step === 'page' ? 'voters' : 'users');
    return null;
  });
  return { gone: health.failuresIfGone('voters'), goneForUsers: health.failuresIfGone('users'), end: ends.at(-1) };
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);
const four = times(4, timeout);

it.each<[string, Step[], number | null]>([
  ['5 timeouts', ['page', ...four, timeout], 5],
  ['5 server errors', ['page', ...times(5, status(500))], 5],
  ['5 statuses 429', ['page', ...times(5, status(429))], 5],
  [
    '5 statuses 408, beside pages of another dataset',
    ['page', ...times(4, status(408)), 'page of users', status(408)],
    5,
  ],
  ['2 failures if it never returned a page', ['page of users', timeout, status(500)], 2],
  ['not after 4 failures', ['page', ...four], null],
  ['not after 1 failure if it never returned a page', [timeout], null],
  ['not after a page between failures', ['page', ...four, 'page', ...four], null],
  ['not after a refusal between failures', ['page', ...four, status(400), ...four], null],
  ['5 failures after a page', ['page', ...four, 'page', ...four, timeout], 5],
])('a source is gone after: %s', (_what, steps, failures) => {
  expect(note(...steps)).toMatchObject({ gone: failures, goneForUsers: null });
});

const refusals = times(5, status(422));

it.each<[string, Step[], boolean]>([
  ['5 refusals', refusals, false],
  ['6 refusals of one dataset, beside pages of another', [...refusals, 'page of users', status(400)], true],
  ['6 refusals with a failure in between', [...refusals, status(500), status(422)], false],
  ['refusals after a page', ['page', ...times(9, status(422))], false],
])('a source refuses everything after: %s', (_what, steps, isRefused) => {
  expect(note(...steps).end?.code).toBe(isRefused ? 'source-refused-all' : undefined);
});
