/** Requests pages from the source: limits the rate, retries, and stores every response before reading it. */

import { isRekapError, messageOf, RekapError } from '../errors.ts';
import {
  type FailedAttempt,
  type FetchedPage,
  type FetchOptions,
  type OutgoingRequest,
  ResponseReader,
} from './response-reader.ts';
import type { HttpResponse, Transport } from './http-transport.ts';
import { ResumedPages } from './resumed-pages.ts';
import { faultIn } from './envelope-signs.ts';
import { type Failure, isRateLimit, planRetry } from './retry-plan.ts';
import type { Secret } from './secret.ts';
import { Pace, SourceHealth } from './source-health.ts';
import { retryAfterTooLong, connectionCode, describeFailure, isRefusal, nameFailure } from './source-messages.ts';
import { ScanError } from './decode/json-text.ts';
import { mayHaveKey } from './paging/next.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { headerOf } from '../project/field-path.ts';
import { boundSignal } from '../runtime/bound-signal.ts';
import type { Clock, Random, Report } from '../runtime/context.ts';
import type { Land, LandedResponses, PageRequest } from '../stages.ts';

export interface SourceOptions {
  readonly baseUrl: string;
  readonly apiKey: Secret;
  readonly concurrency: number;
  /** Milliseconds per attempt. */
  readonly timeout: number;
  readonly maxAttempts: number;
  /** Milliseconds that the run may take. No wait is longer than what is left. */
  readonly maxDuration: number;
  /** The query parameter that carries the key; null if none does. */
  readonly keyParameter: string | null;
}

export interface SourceContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly report: Report;
  readonly transport: Transport;
  readonly land: Land;
  /** Landings of interrupted runs, newest first. */
  readonly resumed: readonly LandedResponses[];
  /** Aborts every request and every wait. Its reason is thrown. */
  readonly signal: AbortSignal;
}

export interface SourceFigures {
  requests: number;
  retries: number;
  bytes: number;
  readonly statuses: Record<string, number>;
  throttled: number;
  lowestConcurrency: number | null;
  fromLanding: number;
  /** By dataset, the first refusal if the source has refused every request; otherwise null. */
  readonly refusals: Record<string, RekapError | null>;
}

export const noFigures: Readonly<SourceFigures> = {
  requests: 0,
  retries: 0,
  bytes: 0,
  statuses: {},
  throttled: 0,
  lowestConcurrency: null,
  fromLanding: 0,
  refusals: {},
};

const attemptsAtOptional = 2;

const longWait = 5000;

export type PageSource = Pick<SourceClient, 'fetchPage'>;

export class SourceClient {
  readonly figures: SourceFigures;
  private readonly options: SourceOptions;
  private readonly context: SourceContext;
  private readonly base: URL;
  private readonly pace: Pace;
  private readonly health = new SourceHealth();
  private readonly reader: ResponseReader;
  private readonly resumed: ResumedPages | null;
  private readonly warned = new Set<string>();
  /** End of the wait that was reported last, in milliseconds of the monotonic clock. */
  private reportedUntil = Number.NEGATIVE_INFINITY;
  private readonly deadline: number;

  constructor(options: SourceOptions, context: SourceContext) {
    this.options = options;
    this.context = context;
    this.base = new URL(options.baseUrl);
    this.deadline = context.clock.monotonic() + options.maxDuration;
    this.pace = new Pace(options.concurrency);
    this.figures = { ...noFigures, statuses: {}, refusals: {}, lowestConcurrency: options.concurrency };
    const warn = (topic: string, message: string): void => this.warnOnce(topic, message);
    this.resumed = context.resumed.length === 0 ? null : new ResumedPages(context.resumed, warn);
    const { apiKey, keyParameter } = options;
    this.reader = new ResponseReader({ apiKey, keyParameter, land: context.land, health: this.health, warn });
  }

  /** Fetches one page, with retries if they can help. Throws a `RekapError` that names the URL. */
  async fetchPage(pipeline: AnyPipeline, request: PageRequest, options: FetchOptions = {}): Promise<FetchedPage> {
    const { transport, clock, signal, report } = this.context;
    const { dataset } = request;
    const { headers, paging } = pipeline;
    // A next page may be at another origin that the declaration allows.
    const isElsewhere = !request.target.startsWith('/');
    const { origin, pathname, search } = isElsewhere ? new URL(request.target) : this.base;
    const path = isElsewhere ? pathname + search : this.base.pathname.replace(/\/$/, '') + request.target;
    const outgoing = { pipeline, request, path, url: origin + path, ...options };
    const withKey = !isElsewhere || (paging.by === 'next' && mayHaveKey(paging, origin));
    // A request keeps its slot while it waits for a retry, which lowers the load on a source in trouble.
    return this.pace.limit(async () => {
      const recalled = await this.recall(outgoing);
      if (recalled !== null) return recalled;
      if (this.health.end === null) this.requireResponsive(dataset);
      for (let attempt = 1; ; attempt += 1) {
        signal.throwIfAborted();
        if (this.health.end !== null) throw this.health.end;
        const retried = attempt > 1;
        this.figures.requests += 1;
        if (retried) this.figures.retries += 1;
        report({ kind: 'request', dataset, retried });
        const round = this.pace.begin();
        const bound = boundSignal(signal, this.options.timeout, () => undefined);
        const outcome = await transport
          .send(request, path, bound.signal, { origin, withKey, headers })
          .finally(() => bound.end())
          .then(
            (response) => this.read(outgoing, response),
            (error: unknown) => this.failureOf(outgoing, error, bound.isLate()),
          );
        if ('page' in outcome) {
          await this.notePage(request, outcome);
          return outcome;
        }
        if (outcome.failure.kind === 'status') this.noteStatus(outcome.failure, round);
        await clock.sleep(this.waitBefore(outgoing, attempt, outcome), signal);
      }
    });
  }

  private read(outgoing: OutgoingRequest, response: HttpResponse): Promise<FetchedPage | FailedAttempt> {
    const { status, body } = response;
    const { statuses } = this.figures;
    this.figures.bytes += body.length;
    statuses[status] = (statuses[status] ?? 0) + 1;
    return this.reader.read(outgoing, response, this.context.clock.now());
  }

  /** Describes a request without a response. Throws an error that no retry fixes. */
  private failureOf({ request, isOptional }: OutgoingRequest, error: unknown, isLate: boolean): FailedAttempt {
    if (isRekapError(error, 'system-limit')) this.health.end = error;
    if (isRekapError(error, 'response-too-large') && isOptional !== true) this.health.noteTooLarge(request.dataset);
    if (error instanceof RekapError) throw error;
    this.context.signal.throwIfAborted();
    const failure: Failure = isLate ? { kind: 'timeout' } : { kind: 'connection', code: connectionCode(error) };
    return { failure, detail: isLate ? nameFailure(failure, this.options.timeout) : messageOf(error) };
  }

  private async notePage(request: PageRequest, { page, refusal }: FetchedPage): Promise<void> {
    const { dataset, partition } = request;
    const { refusals } = this.figures;
    this.health.notePage(dataset);
    if (refusal === null || refusals[dataset] === undefined) refusals[dataset] = refusal;
    this.pace.noteSuccess();
    // A page past the end says nothing, and the earlier run may not have requested it.
    if (partition === null && page.records.length > 0) await this.resumed?.compare(request, page.bytes);
  }

  private requireResponsive(dataset: string): void {
    const failures = this.health.failuresIfGone(dataset);
    if (failures === null) return;
    throw new RekapError(
      'source-unreachable',
      `rekap stopped sending requests for ${dataset} to ${this.base.origin}: ${failures} requests in a row failed.`,
      'Run the sync again when the source returns valid responses.',
    );
  }

  private waitBefore(outgoing: OutgoingRequest, attempt: number, failed: FailedAttempt): number {
    const { clock, random, report } = this.context;
    const { maxAttempts: most, timeout, apiKey } = this.options;
    const { request, url, isOptional } = outgoing;
    const mayRefuse = outgoing.mayRefuse || outgoing.mayRefuseSize;
    const { failure, next } = failed;
    const maxAttempts = isOptional && !isRateLimit(failure) ? Math.min(attemptsAtOptional, most) : most;
    const { hasResponded } = this.health;
    const timeLeft = this.deadline - clock.monotonic();
    const now = clock.now();
    const plan = planRetry({ hasResponded, timeLeft, now, random: random(), failure, attempt, maxAttempts });
    if ('giveUp' in plan) {
      // A source may put the key into anything that a message quotes.
      const detail = apiKey.redact(failed.detail);
      const error = describeFailure(failure, { url, giveUp: plan.giveUp, detail, next });
      if (plan.forAll) this.health.end ??= retryAfterTooLong(error);
      else if (!isOptional && !(mayRefuse && isRefusal(error)))
        this.health.end ??= this.health.noteGivenUp(request.dataset, failure, error);
      throw this.health.end ?? error;
    }
    // After a timeout, even a short wait is reported, because the attempt took long. Concurrent waits are reported once.
    const over = clock.monotonic() + plan.wait;
    if ((plan.wait >= longWait || failure.kind === 'timeout') && over >= this.reportedUntil) {
      this.reportedUntil = over + longWait;
      report({ kind: 'wait', dataset: request.dataset, milliseconds: plan.wait, why: nameFailure(failure, timeout) });
    }
    return plan.wait;
  }

  private noteStatus(failure: Extract<Failure, { kind: 'status' }>, round: number): void {
    this.health.hasResponded = true;
    if (failure.status !== 429 && failure.status !== 503 && !isRateLimit(failure)) return;
    this.figures.throttled += 1;
    this.pace.slowDown(round);
    this.figures.lowestConcurrency = Math.min(this.figures.lowestConcurrency!, this.pace.concurrency);
  }

  private warnOnce(topic: string, message: string): void {
    if (this.warned.has(topic)) return;
    this.warned.add(topic);
    this.context.report({ kind: 'warning', message });
  }

  /** Returns a partition's page from the landing of an interrupted run; null if no landing has it in readable form. */
  private async recall({ pipeline, request }: OutgoingRequest): Promise<FetchedPage | null> {
    // A landing doesn't store headers, and with them the next page.
    const isLinked = headerOf(pipeline.paging) !== null;
    const stored = request.partition === null || isLinked ? null : await this.resumed?.take(request);
    if (!stored) return null;
    try {
      const { url, body } = stored;
      const page = this.reader.readPage({ pipeline, request, url, body }, body);
      if (faultIn(page) !== null) return null;
      this.figures.fromLanding += 1;
      return { page, at: stored.at, landed: await this.reader.land({ ...stored, request }), refusal: null, link: null };
    } catch (error) {
      if (error instanceof ScanError) return null;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.context.transport.close();
  }
}
