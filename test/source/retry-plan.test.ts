/** Which failures are tried again, how often, and how long the wait before is. */

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  longestRetryAfter,
  parseRetryAfter,
  planRetry,
  type Failure,
  type RetryInput,
} from '../../src/source/retry-plan.ts';
import { holds } from '../support/properties.ts';

const now = new Date('2026-11-20T03:00:00Z');

function plan(failure: Failure, rest: Partial<RetryInput> = {}): ReturnType<typeof planRetry> {
  return planRetry({ failure, attempt: 1, maxAttempts: 6, hasResponded: true, now, random: 0.5, ...rest });
}

const status = (code: number, retryAfter: string | null = null): Failure => ({
  kind: 'status',
  status: code,
  retryAfter,
});
const connection = (code: string): Failure => ({ kind: 'connection', code });

/** The wait before the next attempt; a plan to give up fails the test. */
function waitOf(failure: Failure, rest: Partial<RetryInput> = {}): number {
  const decided = plan(failure, rest);
  if ('giveUp' in decided) throw new Error(`gave up: ${decided.giveUp}`);
  return decided.wait;
}

const givesUp = (failure: Failure, rest: Partial<RetryInput> = {}): boolean => 'giveUp' in plan(failure, rest);

const transient: readonly [string, Failure][] = [
  ...[408, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529, 599].map((code): [string, Failure] => [
    `status ${code}`,
    status(code),
  ]),
  ['a reset', connection('ECONNRESET')],
  ['a closed socket', connection('UND_ERR_SOCKET')],
  ['a broken pipe', connection('EPIPE')],
  ['a timeout', { kind: 'timeout' }],
  ['a body that ended early', { kind: 'truncated' }],
  ['a body that is not JSON', { kind: 'not JSON' }],
];

describe('planRetry', () => {
  it.each(transient)('tries again after %s, and no more often than asked', (_, failure) => {
    for (const attempt of [1, 2, 5]) expect(waitOf(failure, { attempt })).toBeGreaterThan(0);
    for (const attempt of [6, 7])
      expect(plan(failure, { attempt })).toEqual({ giveUp: `given up after ${attempt} attempts` });
    expect(plan(failure, { attempt: 1, maxAttempts: 1 })).toEqual({ giveUp: 'given up after one attempt' });
  });

  it.each([204, 301, 302, 304, 307, 400, 401, 402, 403, 404, 405, 406, 409, 410, 413, 415, 418, 422, 501, 505, 511])(
    'gives up at once on status %i, whatever it asks for',
    (code) => {
      expect(givesUp(status(code))).toBe(true);
      expect(givesUp(status(code, '1'))).toBe(true);
    },
  );

  it.each([
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('gives up at once on a certificate that is not trusted: %s', (code) => {
    expect(plan(connection(code))).toEqual({ giveUp: expect.stringContaining('certificate') });
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])(
    'soon gives up on a source that never answered (%s), and is patient with one that did',
    (code) => {
      const attempts = (hasResponded: boolean): number =>
        [1, 2, 3, 4, 5, 6].find((attempt) => givesUp(connection(code), { attempt, hasResponded }))!;
      expect(attempts(false)).toBe(3);
      expect(attempts(true)).toBe(6);
      expect(plan(connection(code), { attempt: 3, hasResponded: false })).toEqual({
        giveUp: expect.stringContaining('has not responded in this run'),
      });
    },
  );

  it.each([connection('ECONNRESET'), status(503), { kind: 'timeout' } as const])(
    'is as patient with a source that is there but has not answered yet: $kind',
    (failure) => {
      expect(givesUp(failure, { attempt: 5, hasResponded: false })).toBe(false);
    },
  );

  const attempts = fc.integer({ min: 1, max: 60 });
  const chances = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

  holds(
    'waits longer from attempt to attempt, up to half a minute, and by chance at most half as long',
    fc.property(attempts, chances, fc.constantFrom(...transient), (attempt, random, [, failure]) => {
      const at = (question: Partial<RetryInput>): number =>
        waitOf(failure, { attempt, maxAttempts: 100, random, ...question });
      expect(at({})).toBeGreaterThanOrEqual(250);
      expect(at({})).toBeLessThanOrEqual(30_000);
      expect(at({ attempt: attempt + 1 })).toBeGreaterThanOrEqual(at({}));
      expect(at({ random: 0 })).toBeLessThanOrEqual(at({}));
      expect(at({ random: 0 }) * 2).toBeGreaterThanOrEqual(at({}));
    }),
    { runs: 500 },
  );

  it('doubles its wait from attempt to attempt', () => {
    const first = [1, 2, 3, 4, 5, 6].map((attempt) => waitOf(status(500), { attempt, maxAttempts: 100, random: 0 }));
    for (const [place, wait] of first.slice(1).entries()) expect(wait).toBe(first[place]! * 2);
  });

  it('spreads its waits, so that many clients do not come back together', () => {
    const randoms = [0, 0.25, 0.5, 0.75];
    const waits = (failure: Failure): number => new Set(randoms.map((random) => waitOf(failure, { random }))).size;
    expect(waits(status(500))).toBe(4);
    expect(waits(status(429, '5'))).toBe(4);
  });

  it.each([429, 503, 500])(
    "waits as long as the source's Retry-After asks for, hardly longer, on status %i",
    (code) => {
      for (const random of [0, 0.999]) {
        for (const [header, asked] of [
          ['7', 7000],
          ['Fri, 20 Nov 2026 03:02:00 GMT', 120_000],
        ] as const) {
          const wait = waitOf(status(code, header), { random });
          expect(wait).toBeGreaterThanOrEqual(asked);
          expect(wait).toBeLessThan(asked + 1000);
        }
      }
    },
  );

  it('backs off by itself where Retry-After says nothing it can read, or that it need not wait', () => {
    for (const header of ['soon', '', '-5', '1.5', '0', 'Fri, 20 Nov 2026 02:59:00 GMT'])
      expect(plan(status(503, header))).toEqual(plan(status(503)));
  });

  it('gives up where the source asks for more patience than the bound, and says how much', () => {
    const bound = longestRetryAfter / 1000;
    expect(givesUp(status(429, String(bound)))).toBe(false);
    expect(givesUp(status(429, String(bound + 1)))).toBe(true);
    expect(plan(status(429, '3600'))).toEqual({ giveUp: expect.stringContaining('60 minutes'), forAll: true });
    expect(givesUp(status(503, 'Sat, 21 Nov 2026 03:00:00 GMT'))).toBe(true);
  });

  it('counts attempts before it listens to Retry-After', () => {
    expect(givesUp(status(429, '1'), { attempt: 6 })).toBe(true);
  });
});

describe('parseRetryAfter', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['999999999', 999_999_999_000],
    ['Fri, 20 Nov 2026 03:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 03:00:00 GMT', 0],
    ['Fri, 20 Nov 2026 02:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    // One of the two older forms that RFC 9110 wants understood; the other is below.
    ['Friday, 20-Nov-26 03:00:30 GMT', 30_000],
  ])('reads %j', (header, milliseconds) => {
    expect(parseRetryAfter(header, now)).toBe(milliseconds);
  });

  it.each(['UTC', 'Asia/Jakarta', 'America/New_York'])('reads the oldest form of a date as UTC in %s too', (zone) => {
    vi.stubEnv('TZ', zone);
    expect(parseRetryAfter('Fri Nov 20 03:00:30 2026', now)).toBe(30_000);
  });

  it.each([
    null,
    '',
    ' ',
    '-1',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '5s',
    '5, 10',
    '12345678901234567890',
    'soon',
    'try 5',
    'Fri, soon',
    'Fri, 99 Nov 2026 03:00:00 GMT',
    '2026-11-20T03:00:30Z',
    '٥',
  ])('finds nothing in %j', (header) => {
    expect(parseRetryAfter(header, now)).toBeNull();
  });
});
