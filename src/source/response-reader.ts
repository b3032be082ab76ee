/** Reads responses: stores each one, checks its status, then scans it. */

import { RekapError } from '../errors.ts';
import { beginsAsJson, describeBody, excerpt, isGzip, unexpectedGzip } from './body-problems.ts';
import type { HttpResponse } from './http-transport.ts';
import type { Failure } from './retry-plan.ts';
import type { Secret } from './secret.ts';
import type { SourceHealth } from './source-health.ts';
import { refusedKey, emptyPage, headerText, emptyStatuses, redirectDetail, statusError } from './source-messages.ts';
import { ScanError } from './decode/json-text.ts';
import { createPageScanner } from './decode/scan-response.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { SourceResponse, Land, LandedBody, Page, PageRequest } from '../stages.ts';

export interface FetchedPage {
  readonly page: Page;
  readonly at: Date;
  readonly landed: LandedBody;
  /** The error of the source if it has nothing for this request. The page is then empty. */
  readonly refusal: RekapError | null;
  /** URL of the next page in the header `Link`; null if it has none, and for a page from a landing. */
  readonly link: string | null;
}

export interface OutgoingRequest {
  readonly pipeline: AnyPipeline;
  readonly request: PageRequest;
  readonly path: string;
  readonly url: string;
  readonly mayRefuse: boolean;
  readonly mayForbid: boolean;
  readonly isOptional: boolean;
}

export interface TimedResponse extends HttpResponse {
  readonly at: Date;
}

export interface FailedAttempt {
  readonly failure: Failure;
  readonly detail: string;
  readonly next?: string;
}

export interface ReaderContext {
  readonly apiKey: Secret;
  readonly land: Land;
  readonly health: SourceHealth;
  readonly warn: (topic: string, message: string) => void;
}

/** A shorter key, or one of digits only, could occur in the data by chance. Removing it would change figures. */
const minKeyLength = 8;

/** Returns the body, or a copy without the key if the source echoes it, plain or escaped for JSON, URLs or HTML. */
export function withoutKey(body: Buffer, apiKey: Secret): Buffer {
  const key = apiKey.reveal();
  return key.length < minKeyLength || /^\d+$/.test(key) ? body : apiKey.removeFrom(body);
}

export function nextOfLink(link: string | null): string | null {
  for (const [, target, parameters] of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?![\w-]))/i.test(parameters!)) return target!;
  return null;
}

export class ResponseReader {
  readonly scan: ReturnType<typeof createPageScanner>;
  private readonly context: ReaderContext;

  constructor(context: ReaderContext) {
    this.context = context;
    this.scan = createPageScanner(context.warn);
  }

  /** Stores a response and reads it. Returns failures that a retry may fix, and throws all others. */
  async read(
    { pipeline, request, url, mayForbid }: OutgoingRequest,
    response: TimedResponse,
  ): Promise<FetchedPage | FailedAttempt> {
    const { apiKey, health, warn } = this.context;
    const { status, headers, at } = response;
    const body = withoutKey(response.body, apiKey);
    if (body !== response.body)
      warn(
        'key',
        `The source repeats the API key in its responses (${url}). rekap removes the key before it stores them.`,
      );
    const landed = await this.land({ request, url, status, at, body });
    if (status === 401 || (status === 403 && !mayForbid)) {
      health.end = refusedKey(url, status, excerpt(body), health.hasReturnedAnyPage);
      throw health.end;
    }
    if (emptyStatuses.has(status)) {
      const refusal = statusError(status, url, 'nothing found', excerpt(body));
      return { page: emptyPage(request, url), at, landed, refusal, link: null };
    }
    if (status !== 200) {
      return {
        failure: { kind: 'status', status, retryAfter: headerText(headers['retry-after']) },
        detail: redirectDetail(headers['location'], pipeline.path, url) ?? excerpt(body),
      };
    }
    if (isGzip(body)) throw unexpectedGzip(url);
    // Without Content-Length, only a final newline shows that an NDJSON body is complete.
    const isOpen = pipeline.format === 'ndjson' && headers['content-length'] === undefined;
    if (isOpen && body.length > 0 && body.at(-1) !== 0x0a)
      return { failure: { kind: 'truncated' }, detail: excerpt(body) };
    try {
      const page = this.scan(pipeline, request, url, body);
      return { page, at, landed, refusal: null, link: nextOfLink(headerText(headers['link'])) };
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
      if (error.offset >= body.length) return { failure: { kind: 'truncated' }, detail: excerpt(body) };
      if (!beginsAsJson(body)) return { failure: { kind: 'not JSON' }, detail: excerpt(body) };
      const { what, next } = describeBody(body, error, pipeline.format);
      const detail = `The response of ${url} ${what}`;
      // A source that has returned pages may fail for a moment, for example in a gateway. Then a retry helps.
      if (health.hasReturnedPage(request.dataset)) return { failure: { kind: 'malformed' }, detail, next };
      throw new RekapError('envelope', detail, next);
    }
  }

  /** Stores a response. If that fails, the run ends, because figures need their stored responses as evidence. */
  async land(response: SourceResponse): Promise<LandedBody> {
    try {
      return await this.context.land(response);
    } catch (error) {
      this.context.health.end = error;
      throw error;
    }
  }
}
