/** Messages for failed requests: the URL, what happened, and what to do next. */

import { isRekapError, messageOf, RekapError, systemCode, explainSystemLimit } from '../errors.ts';
import type { Failure } from './retry-plan.ts';
import { RecordIndexBuilder } from './decode/record-index-builder.ts';
import type { Page, PageRequest } from '../stages.ts';

/** Error codes of zlib and brotli for bytes that don't match their encoding. */
export const notAsEncoded = /^(Z_|ERR__ERROR_FORMAT)/;

const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET']);

interface FailureText {
  readonly url: string;
  readonly giveUp: string;
  readonly detail: string;
  /** What to do about a malformed response. */
  readonly next?: string | undefined;
}

export function describeFailure(failure: Failure, { url, giveUp, detail, next }: FailureText): RekapError {
  switch (failure.kind) {
    case 'status':
      return statusError(failure.status, url, giveUp, detail);
    case 'connection':
      if (notAsEncoded.test(failure.code))
        return new RekapError(
          'envelope',
          `The body of the response of ${url} does not match its content-encoding: ${detail} (${giveUp}).`,
          'Contact the operator of the service, or of the proxy in front of it.',
        );
      return unreachable(failure.code, url, giveUp, connectionMessage(failure.code, detail));
    case 'timeout':
      return new RekapError(
        'source-unreachable',
        `${url} timed out: ${detail} (${giveUp}).`,
        'A longer --timeout or a smaller --page-size may help.',
      );
    case 'truncated':
      return new RekapError(
        'envelope',
        `The response of ${url} ends in the middle of its records (${giveUp}). It starts with: ${detail}`,
        'Run the sync again later, or try a smaller --page-size.',
      );
    case 'not JSON': {
      const isPage = detail.startsWith('<');
      const what = isPage ? 'HTML or XML, such as a web page,' : 'other content';
      return new RekapError(
        'envelope',
        `${url} returned ${what} instead of JSON (${giveUp}). It starts with: ${detail}`,
        isPage
          ? 'Check that --base-url is the service itself and not a login page, a proxy or a maintenance page. If it is, run the sync again later, or contact the operator of the service.'
          : 'Check that this URL returns JSON. If it usually does, run the sync again later.',
      );
    }
    case 'malformed':
      return new RekapError('envelope', detail, next);
  }
}

function unreachable(code: string, url: string, giveUp: string, why: string): RekapError {
  const [what, next] = brokenConnection.has(code)
    ? [
        'did not return a complete response',
        'Run the sync again later. A smaller --page-size may help. If there is never a response, check --base-url.',
      ]
    : ['cannot be reached', adviceOnCertificate(code) ?? 'Check --base-url and the network, then run the sync again.'];
  return new RekapError('source-unreachable', `${url} ${what}: ${why} (${giveUp}).`, next);
}

/** Returns what to do about a certificate of an unknown authority; null for other failures. */
export function adviceOnCertificate(code: string): string | null {
  return /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code)
    ? 'If you trust the server, set NODE_EXTRA_CA_CERTS to a PEM file with the certificate of its authority.'
    : null;
}

/** Returns the error for a request that failed because of a limit of this machine; null for any other failure. */
export function localFailure(error: unknown): RekapError | null {
  const message = messageOf(error);
  return message.startsWith('WebAssembly')
    ? new RekapError(
        'system-limit',
        `Node.js cannot run WebAssembly, which rekap needs to read HTTP: ${message}.`,
        'Run rekap without --jitless, without MemoryDenyWriteExecute= in systemd, and without a limit on the address space (ulimit -v).',
        { cause: error },
      )
    : explainSystemLimit(error);
}

export function nameFailure(failure: Failure, timeout: number): string {
  switch (failure.kind) {
    case 'status':
      return `status ${failure.status}`;
    case 'connection':
      return notAsEncoded.test(failure.code)
        ? `a response that does not match its content-encoding (${failure.code})`
        : `no connection (${failure.code})`;
    case 'timeout':
      return `no complete response within ${timeout / 1000} s`;
    case 'truncated':
      return 'a response that ends early';
    case 'not JSON':
      return 'a response that is not JSON';
    case 'malformed':
      return 'a response without the declared shape';
  }
}

export function statusError(status: number, url: string, why: string, detail: string): RekapError {
  return new RekapError('source-status', `${url} returned status ${status} (${why}): ${detail}`, adviceOn(status), {
    status,
  });
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function adviceOn(status: number): string {
  if (status === 404 || status === 410)
    return 'Check --base-url and `path` of the pipeline, which together are the URL of the endpoint.';
  if (status === 429) return 'Run the sync again later, or with a lower --concurrency.';
  if (status >= 500) return 'Run the sync again later. A smaller --page-size may help.';
  if (isRedirect(status)) return 'Declare the final address: --base-url, followed by `path` of the pipeline.';
  return 'Check --base-url and --page-size, or contact the operator of the service.';
}

function connectionMessage(code: string, detail: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'the connection was refused';
    case 'ENOTFOUND':
      return 'the host was not found';
    case 'EAI_AGAIN':
      return 'the host name cannot be resolved at the moment';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'the server does not use TLS; its address may start with http://';
    case 'UND_ERR_HEADERS_OVERFLOW':
      return `the headers of the response are larger than 16 kB [${code}]`;
    default:
      return `${detail.replaceAll(/\s+/g, ' ').trim() || 'the connection failed'} [${code}]`;
  }
}

/** Returns the innermost error code, which is the most specific. undici wraps the system's error, and an AggregateError has several. */
export function connectionCode(error: unknown): string {
  let code = systemCode(error);
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (systemCode(inner) !== 'unknown') code = systemCode(inner);
    if (inner instanceof AggregateError && inner.errors.length > 0) code = systemCode(inner.errors[0]);
  }
  return code;
}

const checkKey =
  'Check that REKAP_API_KEY, or the file named by --api-key-file, contains the complete key of this service, without spaces. If it does, ask the operator whether the key is still valid.';

/**
 * Returns the error for a refused key. 403 may have another reason, but the key is the most likely one.
 *
 * @param wasAccepted True if the source has returned a page in this run.
 */
export function refusedKey(url: string, status: number, detail: string, wasAccepted: boolean): RekapError {
  if (wasAccepted)
    return new RekapError(
      'source-refused-key',
      `${url} returned status ${status}, although the source accepted the API key for other requests of this run: ${detail}`,
      'Ask the operator of the service why it refuses this request. It may limit how far a list can be paged.',
    );
  return new RekapError(
    'source-refused-key',
    `The source ${status === 401 ? 'refused' : 'probably refused'} the API key: ${url} returned status ${status}: ${detail}`,
    checkKey,
  );
}

export function refusedAll(dataset: string, last: RekapError): RekapError {
  return new RekapError(
    'source-refused-all',
    `The source refuses every request for ${dataset}. ${last.message}`,
    isRekapError(last, 'source-status') && isRedirect(last.status)
      ? last.next
      : 'If the response mentions a limit, request fewer records at a time with --page-size. Otherwise check --base-url.',
  );
}

export function retryAfterTooLong(last: RekapError): RekapError {
  return new RekapError(
    'source-refused-all',
    `rekap stopped sending requests. ${last.message}`,
    'Run the sync again after that time. With --resume, it reuses the pages that are already stored.',
  );
}

export function headerText(value: string | string[] | undefined): string | null {
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

/** Describes a redirect, without the query of its target; null if the response isn't one. */
export function redirectDetail(location: string | string[] | undefined, path: string, url: string): string | null {
  const target = headerText(location);
  if (target === null) return null;
  if (!URL.canParse(target, url))
    return 'it redirects, and rekap does not follow redirects because they could expose the API key';
  const { origin, pathname } = new URL(target, url);
  const requested = new URL(url);
  const isOwn = origin === requested.origin;
  const [base, own] = [withoutSlash(pathname), withoutSlash(path)];
  const change = pathname.endsWith('/') ? 'add the slash to' : 'remove the slash from';
  const advice =
    isOwn && pathname === requested.pathname
      ? ' That is the same address. Contact the operator of the service.'
      : isOwn && base === withoutSlash(requested.pathname)
        ? ` In the pipeline, ${change} path: '${own}${pathname.slice(base.length)}'.`
        : base.endsWith(own)
          ? ` If you trust that address, set --base-url to ${origin}${base.slice(0, -own.length)}.`
          : '';
  return `it redirects to ${origin}${pathname}, and rekap does not follow redirects because they could expose the API key.${advice}`;
}

/**
 * No content, not found, gone, range not satisfiable (RFC 9110). Services return them past the last page, or for a partition without
 * records. Such a response counts as an empty page, which must be confirmed by a second one.
 */
export const emptyStatuses: ReadonlySet<number> = new Set([204, 404, 410, 416]);

/** Returns whether the service refuses this kind of request. Server errors and "too many requests" are temporary. */
export function isRefusal(error: unknown): error is RekapError {
  return (
    isRekapError(error, 'source-status') &&
    error.status >= 400 &&
    error.status < 500 &&
    ![408, 425, 429].includes(error.status)
  );
}

/** Returns whether a failure affects only its partition. A refused key, a source that refuses all, and a local fault end the run. */
export function concernsOnePartition(error: unknown): error is RekapError {
  return (
    error instanceof RekapError &&
    !isRekapError(error, 'source-refused-key', 'source-refused-all', 'landing', 'system-limit')
  );
}

export function emptyPage(request: PageRequest, url: string): Page {
  const none = {
    count: null,
    isCountExact: true,
    next: undefined,
    hasMore: null,
    envelope: new Map(),
    unknownFields: new Set<string>(),
  };
  return { request, url, bytes: Buffer.of(), ...none, records: new RecordIndexBuilder(0, 0).finish() };
}
