/** Reads what came: landed first, then judged by its status, then scanned. */

import { RekapError } from '../errors.ts';
import type { Received } from './http-transport.ts';
import type { Failure } from './retry-plan.ts';
import type { Secret } from './secret.ts';
import type { SourceHealth } from './source-health.ts';
import {
  refusedKey,
  emptyPage,
  excerpt,
  headerText,
  malformed,
  nothingThere,
  redirectDetail,
  statusError,
} from './source-messages.ts';
import { ScanError } from './decode/json-text.ts';
import { createPageScanner } from './decode/scan-answer.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { Answer, Land, LandedBody, Page, PageRequest } from '../stages.ts';

/** A page, the time its answer was complete, and the way to its landed bytes. */
export interface FetchedPage {
  readonly page: Page;
  readonly at: Date;
  readonly landed: LandedBody;
  /** What the source said where it has nothing there; the page is then empty. */
  readonly refusal: RekapError | null;
  /** Where the header `Link` says that the next page is; null where it does not, and for a page from a landing. */
  readonly link: string | null;
}

/** A request, as the source is asked it. */
export interface OutgoingRequest {
  readonly pipeline: AnyPipeline;
  readonly request: PageRequest;
  readonly path: string;
  readonly url: string;
  /** As in `Leniency`. */
  readonly mayRefuse: boolean;
  /** Whether 403 is an answer too. */
  readonly mayForbid: boolean;
  readonly isOptional: boolean;
}

/** An answer, and when it came. */
export interface Arrived extends Received {
  readonly at: Date;
}

/** Why an attempt failed, and what a person should see of it. */
export interface FailedAttempt {
  readonly failure: Failure;
  readonly detail: string;
}

/** What a reader goes by. */
export interface ReaderContext {
  readonly apiKey: Secret;
  readonly land: Land;
  readonly health: SourceHealth;
  /** Takes a warning; of several about one topic the first counts. */
  readonly warn: (topic: string, message: string) => void;
}

/** Whether an object or an array begins here; every answer of a service that speaks JSON does. */
function beginsAsJson(body: Buffer): boolean {
  return /^(?:\xef\xbb\xbf)?\s*[[{]/.test(body.toString('latin1', 0, 1000));
}

/** A shorter key, or one of digits, could stand in the data by chance, and taking it out would alter figures. */
const shortestSoughtKey = 8;

/** The body itself, or a copy without the key should the source echo it, as it is or in the escapes of JSON, URLs and HTML. */
export function withoutKey(body: Buffer, apiKey: Secret): Buffer {
  const key = apiKey.reveal();
  return key.length < shortestSoughtKey || /^\d+$/.test(key) ? body : apiKey.removeFrom(body);
}

/** The address of the next page in a header `Link` (RFC 8288); null where there is none. */
function nextOfLink(link: string | null): string | null {
  for (const [, target, parameters] of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?![\w-]))/i.test(parameters!)) return target!;
  return null;
}

export class AnswerReader {
  readonly scan: ReturnType<typeof createPageScanner>;
  private readonly context: ReaderContext;

  constructor(context: ReaderContext) {
    this.context = context;
    this.scan = createPageScanner(context.warn);
  }

  /** Lands an answer and reads it. Failures that trying again may mend are returned, all others thrown. */
  async read(
    { pipeline, request, url, mayForbid }: OutgoingRequest,
    arrived: Arrived,
  ): Promise<FetchedPage | FailedAttempt> {
    const { apiKey, health, warn } = this.context;
    const { status, headers, at } = arrived;
    const body = withoutKey(arrived.body, apiKey);
    if (body !== arrived.body)
      warn(
        'key',
        `The source repeats the API key in its responses (${url}). rekap removes the key before it stores them.`,
      );
    const landed = await this.land({ request, url, status, at, body });
    if (status === 401 || (status === 403 && !mayForbid)) {
      health.end = refusedKey(url, status, excerpt(body), health.hasGivenAny);
      throw health.end;
    }
    if (nothingThere.has(status)) {
      const refusal = statusError(status, url, 'nothing found', excerpt(body));
      return { page: emptyPage(request, url), at, landed, refusal, link: null };
    }
    if (status !== 200) {
      return {
        failure: { kind: 'status', status, retryAfter: headerText(headers['retry-after']) },
        detail: redirectDetail(headers['location'], pipeline.path, url) ?? excerpt(body),
      };
    }
    // Without a length, only the end of its last line says that all of a list of lines has come.
    const isOpen = pipeline.format === 'ndjson' && headers['content-length'] === undefined;
    if (isOpen && body.length > 0 && body.at(-1) !== 0x0a)
      return { failure: { kind: 'truncated' }, detail: excerpt(body) };
    try {
      const page = this.scan(pipeline, request, url, body);
      return { page, at, landed, refusal: null, link: nextOfLink(headerText(headers['link'])) };
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
      if (error.offset >= body.length) return { failure: { kind: 'truncated' }, detail: excerpt(body) };
      const isGzip = body[0] === 0x1f && body[1] === 0x8b;
      if (!isGzip && !beginsAsJson(body)) return { failure: { kind: 'not JSON' }, detail: excerpt(body) };
      const detail = isGzip
        ? `The response of ${url} is compressed with gzip, but its content-encoding does not say so.`
        : `The response of ${url} does not have the declared shape: ${error.message}. It starts with: ${excerpt(body)}`;
      // From a source that has given pages, such an answer may be a slip of the moment, such as a gateway's.
      if (health.hasGiven(request.dataset)) return { failure: { kind: 'malformed' }, detail };
      throw malformed(detail);
    }
  }

  /** Keeps an answer. Where that fails, the run is over, for what cannot be shown is not to be published. */
  async land(answer: Answer): Promise<LandedBody> {
    try {
      return await this.context.land(answer);
    } catch (error) {
      this.context.health.end = error;
      throw error;
    }
  }
}
