/** Asks the source for pages: politely, stubbornly, and with every answer landed before it is read. */

import { isRekapError, messageOf, RekapError } from '../errors.ts';
import {
  AnswerReader,
  type Arrived,
  type OutgoingRequest,
  type FailedAttempt,
  type FetchedPage,
} from './answer-reader.ts';
import type { Transport } from './http-transport.ts';
import { ResumedPages } from './resumed-pages.ts';
import { type Failure, planRetry } from './retry-plan.ts';
import type { Secret } from './secret.ts';
import { Pace, SourceHealth } from './source-health.ts';
import { asksForPatience, connectionCode, describeFailure, isRefusal, nameFailure } from './source-messages.ts';
import { ScanError } from './decode/json-text.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { boundSignal } from '../runtime/bound-signal.ts';
import type { Clock, Random, Report } from '../runtime/context.ts';
import type { Land, LandedAnswers, PageRequest } from '../stages.ts';

export interface SourceOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Requests under way at a time, at most. */
  readonly concurrency: number;
  /** Milliseconds for one attempt. */
  readonly timeout: number;
  /** Attempts at one request. */
  readonly maxAttempts: number;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  readonly transport: Transport;
  readonly land: Land;
  /** What runs that were broken off have landed, the newest first; none where there is nothing to go on from. */
  readonly resumed: readonly LandedAnswers[];
  /** Ends every request and every wait; its reason is thrown. */
  readonly signal: AbortSignal;
}

/** What counts as an answer where a request need not bring records. */
interface Leniency {
  /** A refusal is an answer, also 403: nothing may be there, or the source may not give it. */
  readonly mayRefuse?: boolean;
  /** A refusal may concern the size of the page; 403 concerns the key. */
  readonly mayRefuseSize?: boolean;
  /** Besides, the source need not know what is asked for: it is tried but twice, and its failure says nothing of others. */
  readonly isOptional?: boolean;
}

/** What the run's requests came to. */
export interface SourceFigures {
  requests: number;
  retries: number;
  bytes: number;
  /** Answers by their status. */
  readonly statuses: Record<string, number>;
  throttled: number;
  lowestConcurrency: number | null;
  /** Pages taken from a landing instead. */
  fromLanding: number;
}

export const noFigures: Readonly<SourceFigures> = {
  requests: 0,
  retries: 0,
  bytes: 0,
  statuses: {},
  throttled: 0,
  lowestConcurrency: null,
  fromLanding: 0,
};

/** A failure may be a slip of the moment. */
const attemptsAtOptional = 2;

/** Milliseconds after which a person wonders what is going on. */
const longWait = 5000;

/** Where pages come from. */
export type PageSource = Pick<SourceClient, 'fetchPage'>;

export class SourceClient {
  readonly figures: SourceFigures;
  private readonly options: SourceOptions;
  private readonly context: SourceContext;
  private readonly base: URL;
  private readonly pace: Pace;
  private readonly health = new SourceHealth();
  private readonly reader: AnswerReader;
  private readonly resumed: ResumedPages | null;
  private readonly warned = new Set<string>();
  /** Until when a wait has been told of. */
  private reportedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SourceOptions, context: SourceContext) {
    this.options = options;
    this.context = context;
    this.base = new URL(options.baseUrl);
    this.pace = new Pace(options.concurrency);
    this.figures = { ...noFigures, statuses: {}, lowestConcurrency: options.concurrency };
    const warn = (topic: string, message: string): void => this.warnOnce(topic, message);
    this.resumed = context.resumed.length === 0 ? null : new ResumedPages(context.resumed, warn);
    this.reader = new AnswerReader({ apiKey: options.apiKey, land: context.land, health: this.health, warn });
  }

  /** Fetches one page, trying again as long as that can help. Throws a `RekapError` that names the URL. */
  async fetchPage(pipeline: AnyPipeline, request: PageRequest, leniency: Leniency = {}): Promise<FetchedPage> {
    const path = this.pathOf(request);
    const requested: OutgoingRequest = {
      pipeline,
      request,
      path,
      url: this.base.origin + path,
      mayForbid: leniency.mayRefuse === true,
      mayRefuse: leniency.mayRefuse === true || leniency.mayRefuseSize === true,
      isOptional: leniency.isOptional === true,
    };
    // It keeps its place while it waits to try again, so that a source in trouble is asked less.
    return this.pace.limit(() => this.askUntilAnswered(requested));
  }

  private async askUntilAnswered(requested: OutgoingRequest): Promise<FetchedPage> {
    const { clock, signal } = this.context;
    const { dataset, partition } = requested.request;
    const recalled = await this.recall(requested);
    if (recalled !== null) return recalled;
    if (this.health.end === null) this.requireAnswering(dataset);
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      if (this.health.end !== null) throw this.health.end;
      this.noteRequest(dataset, attempt > 1);
      const round = this.pace.begin();
      const outcome = await this.attempt(requested);
      if ('page' in outcome) {
        this.health.notePage(dataset);
        this.pace.answered();
        if (partition === null) await this.resumed?.compare(requested.request, outcome.page.bytes);
        return outcome;
      }
      if (outcome.failure.kind === 'status') this.noteStatus(outcome.failure.status, round);
      await clock.sleep(this.waitBefore(requested, attempt, outcome), signal);
    }
  }

  /** Sends the request once and reads its answer. Failures that trying again may mend are returned, all others thrown. */
  private async attempt(requested: OutgoingRequest): Promise<FetchedPage | FailedAttempt> {
    const sent = await this.send(requested);
    return 'status' in sent ? this.reader.read(requested, sent) : sent;
  }

  private async send({ request, path, isOptional }: OutgoingRequest): Promise<Arrived | FailedAttempt> {
    const { transport, clock, signal } = this.context;
    const { timeout } = this.options;
    // Ends with the run, or when one attempt has taken as long as it may.
    const bound = boundSignal(signal, timeout, () => undefined);
    try {
      const received = await transport.send(request, path, bound.signal);
      const { bytes, statuses } = this.figures;
      this.figures.bytes = bytes + received.body.length;
      statuses[received.status] = (statuses[received.status] ?? 0) + 1;
      return { ...received, at: clock.now() };
    } catch (error) {
      if (isRekapError(error, 'system-limit')) this.health.end = error;
      if (isRekapError(error, 'response-too-large') && !isOptional) this.health.noteTooLarge(request.dataset);
      if (error instanceof RekapError) throw error;
      signal.throwIfAborted();
      const failure: Failure = bound.isLate()
        ? { kind: 'timeout' }
        : { kind: 'connection', code: connectionCode(error) };
      return { failure, detail: bound.isLate() ? nameFailure(failure, timeout) : messageOf(error) };
    } finally {
      bound.end();
    }
  }

  /** Milliseconds to wait before the request is sent again. Throws where that would not help. */
  private waitBefore(requested: OutgoingRequest, attempt: number, { failure, detail }: FailedAttempt): number {
    const { clock, random, report } = this.context;
    const { maxAttempts: most, timeout, apiKey } = this.options;
    const { request, url, mayRefuse, isOptional } = requested;
    const maxAttempts = isOptional ? Math.min(attemptsAtOptional, most) : most;
    const answeredBefore = this.health.answered;
    const plan = planRetry({ answeredBefore, now: clock.now(), random: random(), failure, attempt, maxAttempts });
    if ('giveUp' in plan) {
      // A source may weave the key into anything that is told of it.
      const error = describeFailure(failure, url, plan.giveUp, apiKey.redact(detail));
      if (plan.forAll) this.health.end ??= asksForPatience(error);
      else if (!isOptional && !(mayRefuse && isRefusal(error)))
        this.health.end ??= this.health.noteGivenUp(request.dataset, failure, error);
      throw this.health.end ?? error;
    }
    // A wait after a timeout is told of however short it is: that was long itself. Of those that wait together, one is.
    const over = clock.monotonic() + plan.wait;
    if ((plan.wait >= longWait || failure.kind === 'timeout') && over >= this.reportedUntil) {
      this.reportedUntil = over + longWait;
      report({ kind: 'wait', dataset: request.dataset, milliseconds: plan.wait, why: nameFailure(failure, timeout) });
    }
    return plan.wait;
  }

  private noteRequest(dataset: string, retried: boolean): void {
    this.figures.requests += 1;
    if (retried) this.figures.retries += 1;
    this.context.report({ kind: 'request', dataset, retried });
  }

  private noteStatus(status: number, round: number): void {
    this.health.answered = true;
    if (status !== 429 && status !== 503) return;
    this.figures.throttled += 1;
    this.pace.slowDown(round);
    this.figures.lowestConcurrency = Math.min(this.figures.lowestConcurrency!, this.pace.concurrency);
  }

  /** @throws `source-unreachable` where the endpoint has failed so often that asking it again helps nobody. */
  private requireAnswering(dataset: string): void {
    const failures = this.health.goneSince(dataset);
    if (failures === null) return;
    throw new RekapError(
      'source-unreachable',
      `rekap stopped sending requests for ${dataset} to ${this.base.origin}: ${failures} requests in a row failed.`,
      'Run the sync again when the source returns valid responses.',
    );
  }

  private warnOnce(topic: string, message: string): void {
    if (this.warned.has(topic)) return;
    this.warned.add(topic);
    this.context.report({ kind: 'warning', message });
  }

  /** A partition's page as a broken-off run has landed it; null where there is none that can be read. */
  private async recall({ pipeline, request }: OutgoingRequest): Promise<FetchedPage | null> {
    // A landing keeps no headers, and so not what the next page is where a header says it.
    const isLinked = pipeline.paging.by === 'next' && 'link' in pipeline.paging;
    const answer = request.partition === null || isLinked ? null : await this.resumed?.take(request);
    if (!answer) return null;
    try {
      const page = this.reader.scan(pipeline, request, answer.url, answer.body);
      this.figures.fromLanding += 1;
      return { page, at: answer.at, landed: await this.reader.land({ ...answer, request }), refusal: null, link: null };
    } catch (error) {
      if (error instanceof ScanError) return null;
      throw error;
    }
  }

  private pathOf({ target }: PageRequest): string {
    return this.base.pathname.replace(/\/$/, '') + target;
  }

  async close(): Promise<void> {
    await this.context.transport.close();
  }
}
