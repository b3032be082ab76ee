/** Asks the source for pages: one pace, one way to try again, and every answer landed before it is read. */

import {
  LandingError,
  RekapError,
  ResponseTooLargeError,
  SourceRefusedKeyError,
  SourceUnreachableError,
  type SourceStatusError,
} from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Answer, Land, LandedAnswers, LandedBody, Page, PageRequest } from '../stages.ts';
import type { Clock, Random, Report } from '../surroundings.ts';
import type { Secret } from '../secret.ts';
import { LongWaits } from './long-waits.ts';
import { Pace } from './pace.ts';
import { boundAttempt, requestPath, withoutKey } from './page-request.ts';
import { planRetry, type Failure } from './retry-plan.ts';
import { createPageScanner } from './page-scanner.ts';
import { ScanError } from './json-text.ts';
import { emptyPage, nothingThere } from './refusals.ts';
import { SourceHealth } from './source-health.ts';
import {
  connectionCode,
  describeFailure,
  excerpt,
  headerText,
  malformed,
  nameFailure,
  redirectDetail,
  statusError,
} from './source-messages.ts';
import type { Received, Transport } from './transport.ts';

export interface SourceOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly concurrency: number;
  /** Milliseconds that one attempt may take, from sending to the last byte. */
  readonly timeout: number;
  readonly maxAttempts: number;
}

export interface SourceSurroundings {
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  readonly transport: Transport;
  readonly land: Land;
  /** What a run that was broken off has landed; null where there is nothing to go on from. */
  readonly resumed: LandedAnswers | null;
  /** Ends every request and every wait; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** A page, the time its answer was complete, and the way to its landed bytes. */
export interface FetchedPage {
  readonly page: Page;
  readonly at: Date;
  readonly landed: LandedBody;
  /** What the source said where it has nothing there; the page is then empty. */
  readonly refusal: SourceStatusError | null;
}

/** What the run's requests came to. */
interface SourceFigures {
  requests: number;
  retries: number;
  bytes: number;
  throttled: number;
  lowestConcurrency: number;
  /** Pages taken from the landing of a run that was broken off. */
  resumed: number;
}

export interface SourceClient {
  readonly figures: Readonly<SourceFigures>;
  /** Fetches one page, trying again as long as that can help. Throws a `RekapError` that names the URL. */
  fetchPage(pipeline: AnyPipeline, request: PageRequest): Promise<FetchedPage>;
  /** Whether a run that was broken off has landed the page. */
  hasLanded(request: PageRequest): boolean;
  /** The page as a run that was broken off has landed it, landed for this run too; null where it has none that is whole. */
  recallPage(pipeline: AnyPipeline, request: PageRequest): Promise<FetchedPage | null>;
  /** Counts recalled pages once they have made a walk. */
  noteResumed(pages: number): void;
  /** The page in bytes that were landed before. */
  reopen(pipeline: AnyPipeline, request: PageRequest, bytes: Buffer): Page;
  close(): Promise<void>;
}

export function createSourceClient(options: SourceOptions, surroundings: SourceSurroundings): SourceClient {
  const { clock, random, report, transport, land, resumed, signal } = surroundings;
  const base = new URL(options.baseUrl);
  const pace = new Pace(options.concurrency);
  const scan = createPageScanner(warnOnce);
  const warned = new Set<string>();
  const figures: SourceFigures = {
    requests: 0,
    retries: 0,
    bytes: 0,
    throttled: 0,
    lowestConcurrency: options.concurrency,
    resumed: 0,
  };
  const health = new SourceHealth();
  const waits = new LongWaits(clock, report, options.timeout);
  /** What ended the run for every request to come: a refused key, or answers that cannot be kept. */
  let end: unknown = null;

  function warnOnce(topic: string, message: string): void {
    if (warned.has(topic)) return;
    warned.add(topic);
    report({ kind: 'warning', message });
  }

  async function fetchPage(pipeline: AnyPipeline, request: PageRequest): Promise<FetchedPage> {
    return pace.limit(async () => {
      const path = requestPath(base, pipeline, request);
      const url = base.origin + path;
      for (let attempt = 1; ; attempt += 1) {
        signal.throwIfAborted();
        if (end !== null) throw end;
        if (attempt === 1) requireAnswering(request);
        figures.requests += 1;
        if (attempt > 1) figures.retries += 1;
        report({ kind: 'request', dataset: request.dataset, retried: attempt > 1 });
        const round = pace.begin();
        const outcome = await attemptOnce(pipeline, request, path, url);
        if ('page' in outcome) {
          health.notePage(request.dataset);
          pace.answered();
          return outcome;
        }
        const { failure } = outcome;
        if (failure.kind === 'status') health.answered = true;
        if (failure.kind === 'status' && (failure.status === 429 || failure.status === 503)) {
          figures.throttled += 1;
          pace.slowDown(round);
          figures.lowestConcurrency = Math.min(figures.lowestConcurrency, pace.concurrency);
        }
        const plan = planRetry({
          failure,
          attempt,
          maxAttempts: options.maxAttempts,
          answeredBefore: health.answered,
          now: clock.now(),
          random: random(),
        });
        if ('giveUp' in plan) {
          // A source may weave the key into anything that is told of it.
          const error = describeFailure(failure, url, plan.giveUp, options.apiKey.redact(outcome.detail));
          end ??= health.noteGivenUp(request.dataset, failure, error);
          throw end ?? error;
        }
        waits.note(request.dataset, failure, plan.wait);
        await clock.sleep(plan.wait, signal);
      }
    });
  }

  /** @throws SourceUnreachableError where the endpoint has failed so often that asking it again helps nobody. */
  function requireAnswering({ dataset }: PageRequest): void {
    const failures = health.goneSince(dataset);
    if (failures === null) return;
    throw new SourceUnreachableError(
      `The source ${base.origin} is asked no more for ${dataset}: ${failures} requests in a row were given up.`,
      'Run the sync again when the source gives answers that can be read.',
    );
  }

  /** Sends the request once. Failures that trying again may mend are returned, all others thrown. */
  async function attemptOnce(
    pipeline: AnyPipeline,
    request: PageRequest,
    path: string,
    url: string,
  ): Promise<FetchedPage | FailedAttempt> {
    let received: Received;
    const attempt = boundAttempt(signal, options.timeout);
    try {
      received = await transport.send(request, path, attempt.signal);
    } catch (error) {
      if (error instanceof LandingError) end = error;
      if (error instanceof ResponseTooLargeError) health.noteTooLarge(request.dataset);
      if (error instanceof RekapError) throw error;
      signal.throwIfAborted();
      if (attempt.timedOut()) {
        const failure = { kind: 'timeout' } as const;
        return { failure, detail: nameFailure(failure, options.timeout) };
      }
      return {
        failure: { kind: 'connection', code: connectionCode(error) },
        detail: error instanceof Error ? error.message : String(error),
      };
    } finally {
      attempt.end();
    }
    const { status, headers } = received;
    figures.bytes += received.body.length;
    const body = withoutKey(received.body, options.apiKey);
    if (body !== received.body)
      warnOnce(
        'key',
        `The source repeats the API key in its answers (${url}); it is taken out before they are landed.`,
      );
    const answer: Answer = { request, url, status, at: received.at ?? clock.now(), body };
    const landed = await landOrEnd(answer);
    if (status === 401 || status === 403) {
      end = new SourceRefusedKeyError(
        `The source refused the API key: ${url} answered ${status}: ${excerpt(body)}`,
        'Set REKAP_API_KEY to a valid key, or name a file that holds it with --api-key-file.',
      );
      throw end;
    }
    if (nothingThere.has(status)) {
      const refusal = statusError(status, url, 'there is nothing there', excerpt(body));
      return { page: emptyPage(request, url), at: answer.at, landed, refusal };
    }
    if (status !== 200) {
      return {
        failure: { kind: 'status', status, retryAfter: headerText(headers['retry-after']) },
        detail: redirectDetail(headers['location'], pipeline.endpoint, url) ?? excerpt(body),
      };
    }
    try {
      return { page: scan(pipeline, request, url, body), at: answer.at, landed, refusal: null };
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
      if (error.offset >= body.length) return { failure: { kind: 'truncated' }, detail: excerpt(body) };
      const detail = `The answer of ${url} is not the envelope {count, data}: ${error.message}. It begins: ${excerpt(body)}`;
      // From a source that has given pages, such an answer may be a slip of the moment, such as a gateway's.
      if (health.hasGiven(request.dataset)) return { failure: { kind: 'malformed' }, detail };
      throw malformed(detail);
    }
  }

  async function landOrEnd(answer: Answer): Promise<LandedBody> {
    try {
      return await land(answer);
    } catch (error) {
      end = error;
      throw error;
    }
  }

  async function recallPage(pipeline: AnyPipeline, request: PageRequest): Promise<FetchedPage | null> {
    const found = await recallAnswer(request);
    if (found === null || found.status !== 200) return null;
    let page: Page;
    try {
      page = scan(pipeline, request, found.url, found.body);
    } catch (error) {
      if (error instanceof ScanError) return null;
      throw error;
    }
    return { page, at: found.at, landed: await landOrEnd({ ...found, request }), refusal: null };
  }

  /** A damaged answer is no answer: the source can still be asked. */
  async function recallAnswer(request: PageRequest): Promise<Answer | null> {
    try {
      return (await resumed?.answerTo(request)) ?? null;
    } catch (error) {
      if (!(error instanceof LandingError)) throw error;
      warnOnce('resume', `A page that was landed cannot be used and is asked for again: ${error.message}`);
      return null;
    }
  }

  return {
    figures,
    fetchPage,
    hasLanded: (request) => resumed?.has(request) === true,
    recallPage,
    noteResumed(pages) {
      figures.resumed += pages;
    },
    reopen(pipeline, request, bytes) {
      return scan(pipeline, request, base.origin + requestPath(base, pipeline, request), bytes);
    },
    close: () => transport.close(),
  };
}

interface FailedAttempt {
  readonly failure: Failure;
  readonly detail: string;
}
