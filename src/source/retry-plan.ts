/** Decides whether a request is tried again and how long to wait first; pure, so that every case is a test. */

/** Why an attempt failed. */
export type Failure =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'connection'; readonly code: string }
  | { readonly kind: 'timeout' }
  /** The body ended before its JSON did. */
  | { readonly kind: 'truncated' }
  /** The body is no JSON at all, such as the page of a proxy, a login or a maintenance that stands in front of the service. */
  | { readonly kind: 'not JSON' }
  /** The body is the JSON of something else than an envelope, though the source has given some. */
  | { readonly kind: 'malformed' };

export interface RetryInput {
  readonly failure: Failure;
  /** How many attempts have been made, this one included. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Whether the source has ever answered in this run. */
  readonly answeredBefore: boolean;
  readonly now: Date;
  /** From 0 up to but not including 1. */
  readonly random: number;
}

/** Wait this many milliseconds and try again, or give up and say why; `forAll` where that holds of every other request too. */
export type RetryPlan = { readonly wait: number } | { readonly giveUp: string; readonly forAll?: true };

/** RFC 9110 and RFC 8470: these say "not now", not "never". */
const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** A source that nothing listens at, and that has never answered, is probably not there: a typing error should not cost half a minute. */
const attemptsBeforeFirstAnswer = 3;
const absentCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** JSON of another shape may be a gateway's slip; given so often, it is what the service says. */
const attemptsAtMalformed = 3;

const firstWait = 500;
const longestBackoff = 30_000;
/** A source that asks for more patience than this is asked again by the next scheduled run instead. */
export const longestRetryAfter = 600_000;

export function planRetry(question: RetryInput): RetryPlan {
  const { failure, attempt, maxAttempts, answeredBefore } = question;
  if (
    failure.kind === 'status' &&
    !transientStatuses.has(failure.status) &&
    !(failure.status >= 520 && failure.status <= 599)
  ) {
    return { giveUp: 'a retry does not help with this status' };
  }
  if (failure.kind === 'connection' && isCertificateError(failure.code)) {
    return { giveUp: "the server's certificate is not trusted" };
  }
  const requested = failure.kind === 'status' ? parseRetryAfter(failure.retryAfter, question.now) : null;
  if (requested !== null && requested > longestRetryAfter)
    return { giveUp: `Retry-After is ${Math.ceil(requested / 60_000)} minutes`, forAll: true };
  const isHopeless = failure.kind === 'malformed' && attempt >= attemptsAtMalformed;
  if (attempt >= maxAttempts || isHopeless) return { giveUp: `given up after ${times(attempt)}` };
  if (
    failure.kind === 'connection' &&
    absentCodes.has(failure.code) &&
    !answeredBefore &&
    attempt >= attemptsBeforeFirstAnswer
  ) {
    return { giveUp: `given up after ${times(attempt)}, because the source has not responded in this run` };
  }
  // Full backoff halves at random, so that many clients do not come back together.
  const backoff = Math.min(longestBackoff, firstWait * 2 ** (attempt - 1)) * (0.5 + question.random / 2);
  // "At once" is not said by a source that is in trouble: all attempts would be spent before it is out of it.
  if (requested === null || requested === 0) return { wait: backoff };
  // A server's own word counts, plus a little jitter so that parallel requests do not return in one burst.
  return { wait: requested + question.random * 100 };
}

/** Milliseconds that a Retry-After header asks for, from seconds or an HTTP date; null where it is absent or no such value. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = parseHttpDate(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** The three forms of RFC 9110, section 5.6.7; all of them mean UTC, also the asctime form that does not say so. */
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
