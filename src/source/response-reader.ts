/** Reads responses: stores each one, checks its status, then scans it. */

import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { headerOf } from '../project/field-path.ts';
import type { Land, LandedBody, Page, PageRequest, SourceResponse } from '../stages.ts';
import { beginsAsJson, describeBody, excerpt } from './body-problems.ts';
import { ScanError } from './decode/json-text.ts';
import { createPageScanner } from './decode/page-scanner.ts';
import { faultIn, knownHeaders } from './envelope-signs.ts';
import type { HttpResponse } from './http-transport.ts';
import { type Failure, waitOf } from './retry-plan.ts';
import type { Secret } from './secret.ts';
import type { SourceHealth } from './source-health.ts';
import { isSuccess } from '../stages.ts';
import { emptyPage, emptyStatuses, headerText, redirectDetail, refusedKey, statusError } from './source-messages.ts';

export interface FetchedPage {
  readonly page: Page;
  readonly at: Date;
  readonly landed: LandedBody;
  /** The error of the source if it has nothing for this request. The page is then empty. */
  readonly refusal: RekapError | null;
  /** URL of the next page in the header `Link`, without the key; null if it has none, and for a page from a landing. */
  readonly link: string | null;
}

export interface FetchOptions {
  /** A refusal counts as a response, also 403. */
  readonly mayRefuse?: boolean;
  /** A refusal may concern the page size. 403 still concerns the key. */
  readonly mayRefuseSize?: boolean;
  /** The source need not know the page: at most two attempts, and a failure doesn't count against the endpoint. */
  readonly isOptional?: boolean;
}

export interface OutgoingRequest extends FetchOptions {
  readonly pipeline: AnyPipeline;
  readonly request: PageRequest;
  readonly path: string;
  readonly url: string;
}

export interface FailedAttempt {
  readonly failure: Failure;
  readonly detail: string;
  readonly next?: string;
}

export interface ReaderContext {
  readonly apiKey: Secret;
  /** The query parameter that carries the key; null if none does. */
  readonly keyParameter: string | null;
  readonly land: Land;
  readonly health: SourceHealth;
  readonly warn: (topic: string, message: string) => void;
}

/** Returns the values of headers that say something about the list. */
export function* valuesOf(headers: HttpResponse['headers']): Generator<[string, string]> {
  for (const name of Object.keys(headers)) {
    const value = knownHeaders.test(name) ? headerText(headers[name]) : null;
    if (value !== null) yield [name, value];
  }
}

function decodeQuery(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

function withoutKeyText(text: string, apiKey: Secret): string {
  return apiKey.removeFrom(Buffer.from(text)).toString();
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
    { pipeline, request, url, mayRefuse }: OutgoingRequest,
    response: HttpResponse,
    at: Date,
  ): Promise<FetchedPage | FailedAttempt> {
    const { apiKey, health, warn } = this.context;
    const { status, headers } = response;
    const body = apiKey.removeFrom(response.body);
    if (body !== response.body)
      warn(
        'key',
        `The source repeats the API key in its responses (${url}). rekap removes the key before it stores them.`,
      );
    const landed = await this.land({ request, url, status, at, body });
    const retryAfter = waitOf((name) => headerText(headers[name]), at);
    if (status === 401 || (status === 403 && retryAfter === null && mayRefuse !== true)) {
      health.end = refusedKey(url, status, excerpt(body), health.hasReturnedAnyPage);
      throw health.end;
    }
    if (emptyStatuses.has(status)) {
      const refusal = statusError(status, url, 'nothing found', excerpt(body));
      return { page: emptyPage(request, url), at, landed, refusal, link: null };
    }
    if (!isSuccess(status)) {
      const detail = redirectDetail(headers['location'], pipeline.path, url) ?? excerpt(body);
      return { failure: { kind: 'status', status, retryAfter }, detail };
    }
    // Without Content-Length, only a final newline shows that lines are complete.
    const isOpen = ['ndjson', 'csv'].includes(pipeline.format) && headers['content-length'] === undefined;
    if (isOpen && body.length > 0 && body.at(-1) !== 0x0a)
      return { failure: { kind: 'truncated' }, detail: excerpt(body) };
    try {
      const read = this.readPage({ pipeline, request, url, body }, response.body);
      const page = { ...read, envelope: new Map([...read.envelope, ...valuesOf(headers)]) };
      const fault = faultIn(page);
      if (fault !== null)
        return {
          failure: { kind: 'malformed' },
          detail: `The response of ${url} says that it failed: ${fault}. It starts with: ${excerpt(body)}`,
          next: 'Run the sync again later. If it fails again, contact the operator of the service.',
        };
      const { paging } = pipeline;
      const header = headerOf(paging) ?? (paging.by === 'next' || paging.by === 'none' ? 'link' : null);
      const named = header === null || header === 'link' ? null : headerText(headers[header]);
      const link = header === 'link' ? nextOfLink(headers['link']) : named === '' || named === '0' ? null : named;
      return { page, at, landed, refusal: null, link: link === null ? null : this.withoutCredentials(link, url) };
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
      if (error.offset >= body.length) return { failure: { kind: 'truncated' }, detail: excerpt(body) };
      if (pipeline.format !== 'csv' && !beginsAsJson(body))
        return { failure: { kind: 'not JSON' }, detail: excerpt(body) };
      const { what, next } = describeBody(body, error, pipeline.format);
      const detail = `The response of ${url} ${what}`;
      // A source that has returned pages may fail for a moment, for example in a gateway. Then a retry helps.
      if (health.hasReturnedPage(request.dataset)) return { failure: { kind: 'malformed' }, detail, next };
      throw new RekapError('envelope', detail, next);
    }
  }

  /**
   * Reads a page from a stored body, from which the key was removed.
   *
   * @param received The body as received, which names the next page.
   */
  readPage(
    { pipeline, request, url, body }: Pick<OutgoingRequest, 'pipeline' | 'request' | 'url'> & { readonly body: Buffer },
    received: Buffer,
  ): Page {
    const page = this.scan(pipeline, request, url, body);
    const { next } = received === body ? page : this.scan(pipeline, request, url, received);
    return typeof next === 'string' ? { ...page, next: this.withoutCredentials(next, url) } : page;
  }

  /** Removes the key from the query of a next URL, because rekap sends it itself. @throws `unprovable-source` if it is elsewhere in it. */
  private withoutCredentials(next: string, url: string): string {
    const { apiKey, keyParameter } = this.context;
    const [before = '', ...queries] = next.split('?');
    const kept = queries
      .join('?')
      .split('&')
      .filter((part) => {
        const [name, value = ''] = part.split('=', 2).map(decodeQuery);
        return name !== keyParameter && withoutKeyText(value, apiKey) === value && !value.includes('[redacted]');
      });
    const rest = kept.join('&');
    const clean = rest === '' ? before : `${before}?${rest}`;
    if (withoutKeyText(clean, apiKey) === clean) return clean;
    throw new RekapError(
      'unprovable-source',
      `${url} names a next page whose address contains the API key outside its query.`,
      'rekap sends the key only where the declaration says. Contact the operator of the service.',
    );
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

const entry = /<([^>]*)>((?:[^<"']|"[^"]*"|'[^']*')*)/g;
const parameter = /([\w!#$%&*+.^`|~-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']*)))?/g;

/**
 * Returns the target of the first link with the relation `next` in a `Link` header (RFC 8288); null if there is none. Accepts what browsers
 * and curl accept: unquoted relations, single quotes, several relations in one value, and no semicolon before a parameter.
 *
 * @param header Its value, or the values of its lines.
 */
export function nextOfLink(header: string | string[] | undefined): string | null {
  for (const [, target, parameters] of [header ?? []].flat().join(', ').matchAll(entry)) {
    const [relation] = [...parameters!.matchAll(parameter)].flatMap(([, name, double, single, plain]) =>
      name!.toLowerCase() === 'rel' ? [double ?? single ?? plain ?? ''] : [],
    );
    if (relation?.toLowerCase().split(/\s+/).includes('next') === true) return target!.trim();
  }
  return null;
}
