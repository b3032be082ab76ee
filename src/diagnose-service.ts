/** Checks that a service answers as a project declares it. */

import { messageOf, RekapError } from './errors.ts';
import { createHttpTransport, type HttpResponse, type Transport } from './source/http-transport.ts';
import type { Secret } from './source/secret.ts';
import { checkKey } from './source/source-messages.ts';
import { createPageScanner } from './source/decode/scan-response.ts';
import { nextOfLink } from './source/link-header.ts';
import type { PageAddress } from './source/paging/pass.ts';
import { DeclaredPlaces } from './extract/declared-places.ts';
import { targetOf } from './extract/pages.ts';
import { RecordReader } from './extract/prove.ts';
import { type AnyPipeline, nextPointer, type Project } from './project/declaration.ts';
import type { Clock } from './runtime/context.ts';
import { countOf } from './runtime/text.ts';
import type { Page } from './stages.ts';

export interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'warning' | 'failed';
  readonly found: string;
  readonly next: string | null;
}

export interface ServiceOptions {
  readonly project: Project;
  readonly pageSize: number;
  readonly timeout: number;
  readonly clock: Clock;
}

const maxSkew = 300_000;
/** Records of the first request. Some fields may be missing in a single record. */
const sampled = 10;

export const ok = (about: string, found: string): Finding => ({ about, state: 'ok', found, next: null });
export const bad = (about: string, found: string, next: string): Finding => ({ about, state: 'failed', found, next });
export const doubt = (about: string, found: string, next: string): Finding => ({
  about,
  state: 'warning',
  found,
  next,
});

/** Requests a few records, and compares them with the declaration. */
export async function* examineService(
  options: ServiceOptions,
  baseUrl: string,
  apiKey: Secret,
): AsyncGenerator<Finding> {
  const { timeout, project, clock, pageSize } = options;
  const transport = createHttpTransport({
    baseUrl,
    apiKey,
    auth: options.project.auth,
    connections: 1,
    timeout,
    maxResponseBytes: 64_000_000,
  });
  const pipeline = project.pipelines[0]!;
  const request = createRequest(transport, new URL(baseUrl), pipeline, options);
  try {
    const sample = await request(null, sampled);
    const isTooLong = 'response' in sample && [400, 413, 422].includes(sample.response.status);
    const first = isTooLong ? await request(null, 1) : sample;
    if ('why' in first)
      return yield bad(
        'service',
        apiKey.redact(first.why),
        'Check --base-url, the network, and that the service is running.',
      );
    const { status, headers } = first.response;
    yield ok('service', `${new URL(baseUrl).host} responded with status ${status} in ${first.took} ms`);
    const date = Date.parse(headers['date']?.toString() ?? '');
    const skew = Number.isNaN(date) ? 0 : Math.abs(clock.now().getTime() - date);
    yield skew <= maxSkew
      ? ok('clock', 'agrees with the service')
      : doubt(
          'clock',
          `differs from the service by ${Math.round(skew / 1000)} s`,
          'Set the clock. rekap uses it for times in the warehouse.',
        );
    const { values } = pipeline.partition ?? {};
    const somePartition = values?.from === 'list' ? values.values[0] : undefined;
    const second = status === 403 && somePartition !== undefined ? await request(somePartition, pageSize) : null;
    if (second !== null && 'response' in second && second.response.status === 200)
      return yield doubt(
        'access',
        'the service accepts the API key, but refuses the full listing (403)',
        'A sync reads each known partition separately.',
      );
    if (status === 401 || status === 403)
      return yield bad('access', `the service refuses the API key (${status})`, checkKey);
    if (status !== 200)
      return yield bad(
        'response',
        `the service responded with status ${status}`,
        'Check the path of --base-url. It is the part before the path of the endpoint.',
      );
    yield ok('access', 'the service accepts the API key');
    const read = readRecords(pipeline, first.response.body);
    if (typeof read === 'string')
      return yield bad('response', read, 'The response does not have the declared shape. Check --base-url.');
    yield* examinePlaces(pipeline, read.page, first.response.headers);
    const [partition] = read.partitions;
    if (partition !== undefined) {
      const own = await request(partition, pageSize);
      const records = 'why' in own ? null : readRecords(pipeline, own.response.body);
      yield records === null || typeof records === 'string' || records.count === 0
        ? bad(
            'partition',
            `partition ${partition} does not return records`,
            'rekap must read each partition separately to prove it complete. Contact the operator of the service about its filter.',
          )
        : ok(
            'partition',
            `partition ${partition} has ${countOf(records.count, 'record')}, read in ${'why' in own ? 0 : own.took} ms`,
          );
    }
    if (pipeline.paging.by === 'offset') yield await examinePages(request, pipeline, pageSize);
  } finally {
    await transport.close();
  }
}

type Outcome = { readonly response: HttpResponse; readonly took: number } | { readonly why: string };
type SendRequest = (partition: string | null, size: number, offset?: number) => Promise<Outcome>;

function createRequest(
  transport: Transport,
  base: URL,
  pipeline: AnyPipeline,
  { timeout, clock }: ServiceOptions,
): SendRequest {
  return async (partition, size, offset = 0) => {
    const target = targetOf(pipeline, partition, firstPage(pipeline, size, offset));
    const request = { dataset: pipeline.table, partition, target };
    const began = clock.monotonic();
    try {
      const path = base.pathname.replace(/\/$/, '') + target;
      const response = await transport.send(request, path, AbortSignal.timeout(timeout));
      return { response, took: Math.round(clock.monotonic() - began) };
    } catch (error) {
      return {
        why: error instanceof RekapError ? error.message : `the service cannot be reached: ${messageOf(error)}`,
      };
    }
  };
}

/** Returns the address of the first page; in a list with offsets, of the page at `offset`. */
function firstPage({ paging }: AnyPipeline, size: number, offset: number): PageAddress {
  switch (paging.by) {
    case 'offset':
      return { [paging.limit]: size, [paging.offset]: offset };
    case 'page':
      return { ...(paging.size !== undefined && { [paging.size]: size }), [paging.page]: paging.first ?? 1 };
    case 'next':
      return paging.size === undefined ? {} : { [paging.size]: size };
    case 'none':
      return {};
  }
}

/** Compares the places that the declaration names with a response. */
function* examinePlaces(pipeline: AnyPipeline, page: Page, headers: HttpResponse['headers']): Generator<Finding> {
  const places = new DeclaredPlaces(pipeline);
  places.note(page);
  const { paging } = pipeline;
  const next = 'link' in paging ? (nextOfLink(headers['link']) ?? undefined) : page.next;
  const problems = places.problems();
  for (const what of problems) yield bad('response', what, 'Correct the declaration.');
  for (const what of places.warnings()) yield doubt('response', what, 'Correct the field if it is misspelled.');
  if (paging.by === 'next' && next === undefined)
    yield doubt(
      'response',
      `the response has no ${nextPointer(paging) ?? 'header Link with rel="next"'}, so it names no next page`,
      'Check the paging. In a list of one page, this is correct.',
    );
  if (problems.length === 0) yield ok('response', 'the response has the declared shape');
}

/** Returns the records of a response and their partitions, or what is wrong with the response. */
function readRecords(
  pipeline: AnyPipeline,
  bytes: Buffer,
): { page: Page; count: number; partitions: string[] } | string {
  try {
    const request = { dataset: pipeline.table, partition: null, target: '' };
    const page = createPageScanner(() => undefined)(pipeline, request, '', bytes);
    const { records } = page;
    const reader = new RecordReader(pipeline);
    const partitions = Array.from({ length: records.length }, (_, row) => {
      reader.read(page, row);
      return reader.partition;
    });
    return { page, count: records.length, partitions: partitions.filter((value) => value !== null) };
  } catch (error) {
    return messageOf(error);
  }
}

async function examinePages(request: SendRequest, pipeline: AnyPipeline, pageSize: number): Promise<Finding> {
  for (const limit of [...new Set([pageSize, 100, 10])].filter((size) => size <= pageSize)) {
    const requested = await request(null, limit);
    const records =
      'why' in requested || requested.response.status !== 200 ? null : readRecords(pipeline, requested.response.body);
    if (records === null || typeof records === 'string') continue;
    if (limit < pageSize)
      return doubt(
        'page size',
        `the service refuses a page size of ${pageSize}, but accepts ${limit}`,
        `A sync finds this limit itself. To save requests, add --page-size ${limit}.`,
      );
    // If a short page isn't the last one, the service caps the page size.
    const behind = records.count > 0 && records.count < limit ? await request(null, 1, records.count) : null;
    const more = behind === null || 'why' in behind ? null : readRecords(pipeline, behind.response.body);
    return more !== null && typeof more !== 'string' && more.count > 0
      ? doubt(
          'page size',
          `the service returns ${countOf(records.count, 'record')} instead of ${limit}, but has more`,
          'The service caps the page size without an error. rekap still reads all records, but sends more requests.',
        )
      : ok('page size', `the service accepts a page size of ${limit} and returns ${countOf(records.count, 'record')}`);
  }
  return bad(
    'page size',
    'the service refuses even a page size of 10',
    'Ask the operator of the service for the maximum page size.',
  );
}
