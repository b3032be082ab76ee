/** What failures in a row say of a source, and what answers in between take back. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { Failure } from '../../src/source/retry-plan.ts';
import { SourceHealth } from '../../src/source/source-health.ts';

const error = new RekapError('source-unreachable', 'no answer');
const status = (code: number): Failure => ({ kind: 'status', status: code, retryAfter: null });
const silence: Failure = { kind: 'timeout' };

/** Notes failures of voters one after another, 'page' for a page of voters; gives what the last one said. */
function note(failures: readonly (Failure | 'page' | 'page of users')[]) {
  const health = new SourceHealth();
  const ends = failures.map((failure) => {
    if (typeof failure !== 'string') return health.noteGivenUp('voters', failure, error);
    health.notePage(failure === 'page' ? 'voters' : 'users');
    return null;
  });
  return { health, end: ends.at(-1) ?? null };
}

const times = <Value>(count: number, value: Value): Value[] => Array.from({ length: count }, () => value);

describe('a source', () => {
  it.each([
    ['silence', silence],
    ['a server error', status(500)],
    ['too many requests', status(429)],
    ['a request timeout', status(408)],
  ])('is gone after five requests in a row that ended in %s', (_what, failure) => {
    expect(note(['page', ...times(4, failure)]).health.failuresIfGone('voters')).toBeNull();
    expect(note(['page', ...times(4, failure), 'page of users', failure]).health.failuresIfGone('voters')).toBe(5);
  });

  it.each([
    ['a page', 'page' as const],
    ['a refusal', status(400)],
  ])('is not gone where %s came in between', (_what, between) => {
    const { health } = note(['page', ...times(4, silence), between, ...times(4, silence)]);
    expect(health.failuresIfGone('voters')).toBeNull();
    health.noteGivenUp('voters', silence, error);
    expect(health.failuresIfGone('voters')).toBe(5);
    expect(health.failuresIfGone('users')).toBeNull();
  });

  it('is gone after two where it has never given a page', () => {
    expect(note([silence]).health.failuresIfGone('voters')).toBeNull();
    expect(note(['page of users', silence, status(500)]).health.failuresIfGone('voters')).toBe(2);
  });

  it('refuses everything after six refusals in a row of one dataset, though another has pages', () => {
    expect(note(times(5, status(422))).end).toBeNull();
    expect(note([...times(5, status(422)), 'page of users', status(400)]).end).toMatchObject({
      code: 'source-refused-all',
    });
  });

  it('does not refuse everything where it failed in between, or has given a page of the dataset', () => {
    expect(note([...times(5, status(422)), status(500), status(422)]).end).toBeNull();
    expect(note(['page', ...times(9, status(422))]).end).toBeNull();
  });
});
