/** Asks the source for pages: one pace, one way to try again, and every answer landed before it is read. */

import { boundSignal, type BoundSignal } from '../../bound-signal.ts';
import { isRekapError, messageOf, RekapError } from '../../errors.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import type { Land, LandedAnswers, Page, PageRequest } from '../../stages.ts';
import type { Clock, Random, Report } from '../../context.ts';
import type { Secret } from '../../secret.ts';
import { AnswerReader, type Arrived, type Asked, type FailedAttempt, type FetchedPage } from './answer-reader.ts';
import { landedPages, type LandedPages } from './landed-pages.ts';
import { LongWaits } from './long-waits.ts';
import { nextRequestSent, Pace } from './pace.ts';
import { requestPath } from './page-request.ts';
import { planRetry } from './retry-plan.ts';
import { SourceHealth } from './source-health.ts';
import { asksForPatience, connectionCode, describeFailure, nameFailure } from './source-messages.ts';
import { isRefusal } from './refusals.ts';
import type { Transport } from './transport.ts';

export interface SourceOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly concurrency: number;
  /** Milliseconds that one attempt may take, from sending to the last byte. */
  readonly timeout: number;
  readonly maxAttempts: number;
}

export interface SourceContext {
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

/** What counts as an answer where a request need not bring records. */
interface Leniency {
  /** A refusal is an answer, also 403: nothing may be there, or the source may not give it. */
  readonly mayRefuse?: boolean;
  /** Besides, the source need not know what is asked for: it is tried but twice, and its failure says nothing of others. */
  readonly isOptional?: boolean;
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

export interface SourceClient extends LandedPages {
  readonly figures: Readonly<SourceFigures>;
  /** Resolves when the first page has come. */
  readonly answered: Promise<void>;
  /**
   * Fetches one page, trying again as long as that can help. Throws a `RekapError` that names the URL.
   */
  fetchPage(pipeline: AnyPipeline, request: PageRequest, leniency?: Leniency): Promise<FetchedPage>;
  /** Counts recalled pages once they have made a reading. */
  noteResumed(pages: number): void;
  /** The page in bytes that were landed before. */
  reopen(pipeline: AnyPipeline, request: PageRequest, bytes: Buffer): Page;
  close(): Promise<void>;
}

/** A failure may be a slip of the moment. */
const attemptsAtOptional = 2;

/** A page that is asked for, and how often it has been. */
interface Asking extends Asked {
  readonly path: string;
  attempt: number;
  /** Milliseconds before the next attempt. */
  wait: number;
}

export function createSourceClient(options: SourceOptions, context: SourceContext): SourceClient {
  const { clock, random, report, transport, land, resumed, signal } = context;
  const base = new URL(options.baseUrl);
  const pace = new Pace(options.concurrency);
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
  const reader = new AnswerReader({ apiKey: options.apiKey, land, health, warn: warnOnce });
  let noteAnswered: () => void;
  const answered = new Promise<void>((resolve) => (noteAnswered = resolve));
  const waits = new LongWaits(clock, report, options.timeout);

  function warnOnce(topic: string, message: string): void {
    if (warned.has(topic)) return;
    warned.add(topic);
    report({ kind: 'warning', message });
  }

  async function fetchPage(
    pipeline: AnyPipeline,
    request: PageRequest,
    { mayRefuse = false, isOptional = false }: Leniency = {},
  ): Promise<FetchedPage> {
    const path = requestPath(base, pipeline, request);
    const asked: Asking = {
      pipeline,
      request,
      path,
      url: base.origin + path,
      mayRefuse,
      isOptional,
      attempt: 0,
      wait: 0,
    };
    for (;;) {
      const found = await pace.limit(() => askUntilAnswered(asked));
      if ('page' in found) return notePage(found, request);
      await nextRequestSent();
      const outcome = await reader.read(asked, found);
      if ('page' in outcome) return notePage(outcome, request);
      asked.wait = waitBefore(asked, outcome);
    }
  }

  function noteRequest({ request: { dataset }, attempt }: Asking): void {
    const retried = attempt > 1;
    figures.requests += 1;
    if (retried) figures.retries += 1;
    report({ kind: 'request', dataset, retried });
  }

  function noteThrottled({ failure }: FailedAttempt, round: number): void {
    if (failure.kind !== 'status' || (failure.status !== 429 && failure.status !== 503)) return;
    figures.throttled += 1;
    pace.slowDown(round);
    figures.lowestConcurrency = Math.min(figures.lowestConcurrency, pace.concurrency);
  }

  function notePage(found: FetchedPage, { dataset }: PageRequest): FetchedPage {
    health.notePage(dataset);
    pace.answered();
    noteAnswered();
    return found;
  }

  /**
   * Sends the request until it is answered, for good or ill. It keeps its place while it waits to try again, so that a source in trouble
   * is asked less. While all goes well it gives its place away before the answer is read, so that the next request is on its way meanwhile.
   */
  async function askUntilAnswered(asked: Asking): Promise<Arrived | FetchedPage> {
    if (health.end === null) requireAnswering(asked.request);
    for (;;) {
      if (asked.wait > 0) await clock.sleep(asked.wait, signal);
      signal.throwIfAborted();
      if (health.end !== null) throw health.end;
      asked.attempt += 1;
      noteRequest(asked);
      const round = pace.begin();
      const sent = await send(asked);
      if ('status' in sent && sent.status === 200 && pace.isSmooth) return sent;
      const outcome = 'status' in sent ? await reader.read(asked, sent) : sent;
      if ('page' in outcome) return outcome;
      const { failure } = outcome;
      if (failure.kind === 'status') health.answered = true;
      noteThrottled(outcome, round);
      asked.wait = waitBefore(asked, outcome);
    }
  }

  /** Milliseconds to wait before the request is sent again. Throws where that would not help. */
  function waitBefore(
    { request, url, mayRefuse, isOptional, attempt }: Asking,
    { failure, detail }: FailedAttempt,
  ): number {
    pace.failed();
    const maxAttempts = isOptional ? Math.min(attemptsAtOptional, options.maxAttempts) : options.maxAttempts;
    const { answered: answeredBefore } = health;
    const plan = planRetry({ answeredBefore, now: clock.now(), random: random(), failure, attempt, maxAttempts });
    if ('giveUp' in plan) {
      // A source may weave the key into anything that is told of it.
      const error = describeFailure(failure, url, plan.giveUp, options.apiKey.redact(detail));
      if (plan.forAll) health.end ??= asksForPatience(error);
      else if (!isOptional && !(mayRefuse && isRefusal(error)))
        health.end ??= health.noteGivenUp(request.dataset, failure, error);
      throw health.end ?? error;
    }
    waits.note(request.dataset, failure, plan.wait);
    return plan.wait;
  }

  /** @throws `source-unreachable` where the endpoint has failed so often that asking it again helps nobody. */
  function requireAnswering({ dataset }: PageRequest): void {
    const failures = health.goneSince(dataset);
    if (failures === null) return;
    throw new RekapError(
      'source-unreachable',
      `The source ${base.origin} is asked no more for ${dataset}: ${failures} requests in a row were given up.`,
      'Run the sync again when the source gives answers that can be read.',
    );
  }

  /** Ends with the run, or when one attempt has taken as long as it may. */
  function boundAttempt(): BoundSignal {
    return boundSignal(signal, options.timeout, () => undefined);
  }

  /** Sends the request once. Failures that trying again may mend are returned, all others thrown. */
  async function send(asked: Asking): Promise<Arrived | FailedAttempt> {
    const attempt = boundAttempt();
    try {
      return await sendWithin(attempt, asked);
    } catch (error) {
      if (isRekapError(error, 'system-limit')) health.end = error;
      if (isRekapError(error, 'response-too-large') && !asked.isOptional) health.noteTooLarge(asked.request.dataset);
      if (error instanceof RekapError) throw error;
      signal.throwIfAborted();
      if (attempt.isLate()) {
        const failure = { kind: 'timeout' } as const;
        return { failure, detail: nameFailure(failure, options.timeout) };
      }
      return {
        failure: { kind: 'connection', code: connectionCode(error) },
        detail: messageOf(error),
      };
    }
  }

  async function sendWithin(attempt: BoundSignal, { request, path }: Asking): Promise<Arrived> {
    try {
      const received = await transport.send(request, path, attempt.signal);
      figures.bytes += received.body.length;
      return { ...received, at: received.at ?? clock.now() };
    } finally {
      attempt.end();
    }
  }

  return {
    figures,
    answered,
    fetchPage,
    ...landedPages(resumed, reader, (message) => warnOnce('resume', message)),
    noteResumed(pages) {
      figures.resumed += pages;
    },
    reopen(pipeline, request, bytes) {
      return reader.scan(pipeline, request, base.origin + requestPath(base, pipeline, request), bytes);
    },
    close: () => transport.close(),
  };
}
