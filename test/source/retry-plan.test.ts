/** Which failures are retried, how often, and after what wait. */

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseRetryAfter, planRetry, type Failure, type RetryInput } from '../../src/source/retry-plan.ts';
import { holds } from '../support/properties.ts';

const now = new Date('2026-11-20T03:00:00Z');
const timeLeft = 600_000;

function plan(failure: Failure, rest: Partial<RetryInput> = {}): ReturnType<typeof planRetry> {
  return planRetry({ failure, attempt: 1, maxAttempts: 6, hasResponded: true, timeLeft, now, random: 0.5, ...rest });
}

const status = (code: number, retryAfter: string | null = null): Failure => ({
  kind: 'status',
  status: code,
  retryAfter,
});
const connection = (code: string): Failure => ({ kind: 'connection', code });

/** The wait before the next attempt. A plan that gives up fails the test. */
function waitOf(failure: Failure, rest: Partial<RetryInput> = {}): number {
  const planned = plan(failure, rest);
  if ('giveUp' in planned) throw new Error(`gave up: ${planned.giveUp}`);
  return planned.wait;
}

const givesUp = (failure: Failure, rest: Partial<RetryInput> = {}): boolean => 'giveUp' in plan(failure, rest);

const transient: readonly Failure[] = [
  ...[408, 425, 429, 500, 502, 503, 504, 520, 599].map((code) => status(code)),
  ...['ECONNRESET', 'UND_ERR_SOCKET', 'EPIPE'].map(connection),
  { kind: 'timeout' },
  { kind: 'truncated' },
  { kind: 'not JSON' },
];

describe('planRetry', () => {
  it.each(transient)('retries %o up to the maximum number of attempts', (failure) => {
    for (const attempt of [1, 2, 5]) expect(waitOf(failure, { attempt, hasResponded: attempt > 1 })).toBeGreaterThan(0);
    for (const attempt of [6, 7])
      expect(plan(failure, { attempt })).toEqual({ giveUp: `given up after ${attempt} attempts` });
    expect(plan(failure, { attempt: 1, maxAttempts: 1 })).toEqual({ giveUp: 'given up after one attempt' });
  });

  it.each([204, 301, 304, 308, 400, 401, 404, 405, 409, 410, 413, 422, 501, 505])(
    'gives up at once on status %i, whatever its Retry-After',
    (code) => {
      expect([givesUp(status(code)), givesUp(status(code, '1'))]).toEqual([true, true]);
    },
  );

  it.each([
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('gives up at once on an untrusted certificate: %s', (code) => {
    expect(plan(connection(code))).toEqual({ giveUp: expect.stringContaining('certificate') });
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])(
    'gives up after 3 attempts on a source that never responded (%s), and after 6 on one that did',
    (code) => {
      const attempts = (hasResponded: boolean): number =>
        [1, 2, 3, 4, 5, 6].find((attempt) => givesUp(connection(code), { attempt, hasResponded }))!;
      expect([attempts(false), attempts(true)]).toEqual([3, 6]);
    },
  );

  const attempts = fc.integer({ min: 1, max: 60 });
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  holds(
    'waits longer with each attempt, up to 30 s, and randomly at most half as long',
    fc.property(attempts, chances, fc.constantFrom(...transient), (attempt, random, failure) => {
      const at = (input: Partial<RetryInput>): number =>
        waitOf(failure, { attempt, maxAttempts: 100, random, ...input });
      expect(at({})).toBeGreaterThanOrEqual(250);
      expect(at({})).toBeLessThanOrEqual(30_000);
      expect(at({ attempt: attempt + 1 })).toBeGreaterThanOrEqual(at({}));
      expect(at({ random: 0 })).toBeLessThanOrEqual(at({}));
      expect(at({ random: 0 }) * 2).toBeGreaterThanOrEqual(at({}));
    }),
    { runs: 100 },
  );

  it('doubles the wait with each attempt, and spreads it randomly', () => {
    const waits = [1, 2, 3, 4, 5].map((attempt) => waitOf(status(500), { attempt, random: 0 }));
    expect(waits).toEqual([1, 2, 4, 8, 16].map((factor) => factor * waits[0]!));
    for (const failure of [status(500), status(429, '5')])
      expect(new Set([0, 0.25, 0.5, 0.75].map((random) => waitOf(failure, { random }))).size).toBe(4);
  });

  it.each([
    [429, '7', 7000],
    [503, 'Fri, 20 Nov 2026 03:02:00 GMT', 120_000],
    [500, '7', 7000],
  ])('waits as long as Retry-After says, and at most a second longer: %i, %s', (code, header, expected) => {
    for (const random of [0, 0.999]) {
      const wait = waitOf(status(code, header), { random });
      expect(wait).toBeGreaterThanOrEqual(expected);
      expect(wait).toBeLessThan(expected + 1000);
    }
  });

  it.each(['soon', '', '-5', '1.5', '0', 'Fri, 20 Nov 2026 02:59:00 GMT'])(
    'waits as without Retry-After if it is %j',
    (header) => {
      expect(plan(status(503, header))).toEqual(plan(status(503)));
    },
  );

  it('retries a 403 after the seconds in Retry-After, and no other 403', () => {
    expect(waitOf(status(403, '30'))).toBeGreaterThanOrEqual(30_000);
    expect(givesUp(status(403))).toBe(true);
    expect(plan(status(403, '1'), { attempt: 6 })).toMatchObject({ forAll: true });
  });

  it('gives up for all requests if Retry-After exceeds the time that is left, and counts attempts first', () => {
    const limit = timeLeft / 1000;
    expect(givesUp(status(429, String(limit)))).toBe(false);
    expect(givesUp(status(429, String(limit + 1)))).toBe(true);
    expect(plan(status(429, '3600'))).toEqual({ giveUp: expect.stringContaining('60 minutes'), forAll: true });
    expect(givesUp(status(503, 'Sat, 21 Nov 2026 03:00:00 GMT'))).toBe(true);
    expect(givesUp(status(429, '1'), { attempt: 6 })).toBe(true);
  });
});

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    [' 5 ', 5000],
    ['999999999', 999_999_999_000],
    ['Fri, 20 Nov 2026 03:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 02:00:00 GMT', 0],
    // RFC 9110 has two older forms of a date; the other one is below.
    ['Friday, 20-Nov-26 03:00:30 GMT', 30_000],
    ...['', '-1', '+5', '1.5', '1e3', '0x10', '5s', '5, 10', '12345678901234567890', '٥'].map((text) => [text, null]),
    ...['soon', 'try 5', 'Fri, soon', 'Fri, 99 Nov 2026 03:00:00 GMT', '2026-11-20T03:00:30Z'].map((text) => [
      text,
      null,
    ]),
  ] as [string, number | null][])('reads %j as %j ms', (header, milliseconds) => {
    expect(parseRetryAfter(header, now)).toBe(milliseconds);
  });

  it.each(['UTC', 'Asia/Jakarta', 'America/New_York'])('reads the oldest form of a date as UTC in %s too', (zone) => {
    vi.stubEnv('TZ', zone);
    expect(parseRetryAfter('Fri Nov 20 03:00:30 2026', now)).toBe(30_000);
  });
});
