/** Decides whether a request is retried, and after how long. Pure, so that every case is a test. */

export type Failure =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'connection'; readonly code: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'truncated' }
  /** The body isn't JSON, such as the page of a proxy, a login or a maintenance. */
  | { readonly kind: 'not JSON' }
  /** The body is JSON without the declared shape, although the source has returned valid pages. */
  | { readonly kind: 'malformed' };

export interface RetryInput {
  readonly failure: Failure;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly hasResponded: boolean;
  /** Milliseconds that the run may still take. A longer wait ends it. */
  readonly timeLeft: number;
  readonly now: Date;
  readonly random: number;
}

export type RetryPlan = { readonly wait: number } | { readonly giveUp: string; readonly forAll?: true };

/** Statuses of temporary failures, from RFC 9110 and RFC 8470. */
const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A source that has never responded and refuses connections probably doesn't exist: a typo shouldn't cost half a minute. */
const attemptsBeforeFirstResponse = 3;
const absentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** JSON of another shape may come from a gateway. After three attempts it counts as the response of the service. */
const attemptsAtMalformed = 3;

const firstWait = 500;
const longestBackoff = 30_000;

export function planRetry(input: RetryInput): RetryPlan {
  const { failure, attempt, maxAttempts, hasResponded } = input;
  if (
    failure.kind === 'status' &&
    !transientStatuses.has(failure.status) &&
    !isRateLimit(failure) &&
    !(failure.status >= 520 && failure.status <= 599)
  ) {
    return { giveUp: 'a retry does not help with this status' };
  }
  if (failure.kind === 'connection' && isCertificateError(failure.code)) {
    return { giveUp: "the server's certificate is not trusted" };
  }
  const requested = failure.kind === 'status' ? parseRetryAfter(failure.retryAfter, input.now) : null;
  if (requested !== null && requested > input.timeLeft)
    return {
      giveUp: `Retry-After is ${Math.ceil(requested / 60_000)} minutes, longer than the rest of --max-duration`,
      forAll: true,
    };
  const isHopeless = failure.kind === 'malformed' && attempt >= attemptsAtMalformed;
  if (attempt >= maxAttempts || isHopeless)
    return { giveUp: `given up after ${times(attempt)}`, ...(isRateLimit(failure) && { forAll: true }) };
  if (
    failure.kind === 'connection' &&
    absentCodes.has(failure.code) &&
    !hasResponded &&
    attempt >= attemptsBeforeFirstResponse
  ) {
    return { giveUp: `given up after ${times(attempt)}, because the source has not responded in this run` };
  }
  // The random part keeps many clients from retrying together.
  const backoff = Math.min(longestBackoff, firstWait * 2 ** (attempt - 1)) * (0.5 + input.random / 2);
  // A Retry-After of 0 is ignored: all attempts would be used up before the source recovers.
  if (requested === null || requested === 0) return { wait: backoff };
  return { wait: requested + input.random * 100 };
}

/** Returns whether a 403 is the rate limit of a source that says when to retry. Such a 403 doesn't concern the key. */
export function isRateLimit(failure: Failure): boolean {
  return failure.kind === 'status' && failure.status === 403 && failure.retryAfter !== null;
}

const quotas = ['x-ratelimit', 'ratelimit', 'x-rate-limit'];

/**
 * Returns the seconds or the date of `Retry-After`; without it, the seconds until a used-up quota is reset. Services give that time in seconds
 * from now or since 1970.
 */
export function waitOf(headerOf: (name: string) => string | null, at: Date): string | null {
  const retryAfter = headerOf('retry-after');
  if (retryAfter !== null) return retryAfter;
  const quota = quotas.find((name) => headerOf(`${name}-remaining`)?.trim() === '0');
  const reset = Number(headerOf(`${quota}-reset`) ?? Number.NaN);
  if (quota === undefined || !(reset >= 0)) return null;
  return String(Math.ceil(Math.max(1, reset > 1e9 ? reset - at.getTime() / 1000 : reset)));
}

/** Returns the milliseconds of a Retry-After header, in seconds or as an HTTP date; null if it is missing or malformed. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Parses the three formats of RFC 9110, section 5.6.7. All of them mean UTC, also asctime, which doesn't name it. */
function parseHttpDate(text: string): number {
  if (/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return Date.parse(text);
  if (/^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return Date.parse(text);
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(text)) return Date.parse(`${text} GMT`);
  return Number.NaN;
}

function isCertificateError(code: string): boolean {
  return /^(CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|ERR_TLS_)/.test(code);
}

function times(count: number): string {
  return count === 1 ? 'one attempt' : `${count} attempts`;
}
