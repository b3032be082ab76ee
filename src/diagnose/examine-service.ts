/** Checks that a service responds as a project declares it: reads first pages as a sync does, and compares them with the declaration. */

import { RekapError } from '../errors.ts';
import { PageHolder } from '../extract/page-holder.ts';
import { DatasetPages, mayList } from '../extract/pages.ts';
import { RecordReader } from '../extract/prove.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { CollectedValues } from '../extract/partition-values.ts';
import { headerOf, nextPointer } from '../project/field-path.ts';
import type { Clock } from '../runtime/context.ts';
import { countOf } from '../runtime/text.ts';
import { createHttpTransport } from '../source/http-transport.ts';
import type { FetchedPage } from '../source/response-reader.ts';
import type { Secret } from '../source/secret.ts';
import { SourceClient } from '../source/source-client.ts';
import { isRefusal } from '../source/source-messages.ts';

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
const maxDuration = 120_000;
const maxResponseBytes = 64_000_000;

type Find = (about: string, found: string, next: string) => Finding;

export const ok = (about: string, found: string): Finding => ({ about, state: 'ok', found, next: null });
export const bad: Find = (about, found, next) => ({ about, state: 'failed', found, next });
export const doubt: Find = (about, found, next) => ({ about, state: 'warning', found, next });

/** Requests the first pages of a list and of a partition of each dataset. */
export async function* examineService(
  { project, pageSize, timeout, clock }: ServiceOptions,
  baseUrl: string,
  apiKey: Secret,
): AsyncGenerator<Finding> {
  const { auth } = project;
  const transport = createHttpTransport({ baseUrl, apiKey, auth, connections: 1, timeout, maxResponseBytes });
  let date = Number.NaN;
  const warnings: string[] = [];
  const keyParameter = auth !== null && 'query' in auth ? auth.query : null;
  const client = new SourceClient(
    { baseUrl, apiKey, concurrency: 1, timeout, maxAttempts: 1, maxDuration, keyParameter },
    {
      clock,
      random: () => 0,
      report: (event) => void (event.kind === 'warning' && warnings.push(event.message)),
      transport: {
        ...transport,
        async send(...request) {
          const response = await transport.send(...request);
          date = Date.parse(response.headers['date']?.toString() ?? '');
          return response;
        },
      },
      land: async ({ body }) => ({ response: 0, read: async () => body }),
      resumed: [],
      signal: AbortSignal.timeout(maxDuration),
    },
  );
  const limits = {
    client,
    pageSize,
    baseUrl,
    contentKey: '0'.repeat(16),
    maxRecords: Number.POSITIVE_INFINITY,
    report: () => undefined,
  };
  const holder = new PageHolder(0);
  try {
    for (const [index, pipeline] of project.pipelines.entries()) {
      const began = clock.monotonic();
      const pages = new DatasetPages(pipeline, limits, holder);
      if (!mayList(pipeline)) {
        // No request returns all partitions.
        const partition = knownPartition(pipeline);
        if (partition !== undefined) yield await examinePartition(pages, partition);
        else
          yield doubt(
            'service',
            `${pipeline.table} is not examined: its partitions come from another list`,
            'A sync reads that list first.',
          );
        continue;
      }
      const list = await firstPage(pages, null).catch((error: unknown) => {
        // Only a 403 may concern the list and not the address.
        if (pipeline.partition !== undefined && isRefusal(error) && error.status === 403) return error;
        throw error;
      });
      if (list instanceof RekapError) {
        yield doubt(
          'service',
          `the source refuses the full listing (403): ${apiKey.redact(list.message)}`,
          'A sync reads each known partition separately.',
        );
        const partition = knownPartition(pipeline);
        if (partition !== undefined) yield await examinePartition(pages, partition);
        continue;
      }
      const { refusal, page } = list;
      const milliseconds = Math.round(clock.monotonic() - began);
      if (refusal !== null) throw refusal;
      yield ok('service', `${pipeline.path} returned ${countOf(page.records.length, 'record')} in ${milliseconds} ms`);
      const skew = Math.abs(clock.now().getTime() - date);
      if (index === 0 && skew > maxSkew)
        yield doubt(
          'clock',
          `differs from the service by ${Math.round(skew / 1000)} s`,
          'Set the clock. rekap uses it for times in the warehouse.',
        );
      yield* examinePlaces(pages, list);
      const partition = somePartition(pipeline, list);
      if (partition !== undefined) yield await examinePartition(pages, partition);
    }
    for (const message of warnings) yield doubt('service', message, 'A sync reads the list all the same.');
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    yield bad('service', apiKey.redact(error.message), error.next);
  } finally {
    await client.close();
  }
}

async function firstPage(pages: DatasetPages, partition: string | null): Promise<FetchedPage> {
  const { partition: declared } = pages.pipeline;
  const mayBeRefused = declared !== undefined && partition === null;
  const pass = { partition, isOptional: false, mayBeRefused, size: null, isShortened: false };
  for await (const { fetched } of pages.pagesOf({ ...pass, lookahead: { pages: 1, total: null } })) return fetched;
  throw new Error('a pass has no page');
}

function somePartition(pipeline: AnyPipeline, { page }: FetchedPage): string | undefined {
  if (pipeline.partition === undefined) return undefined;
  const reader = new RecordReader(pipeline);
  for (let row = 0; row < page.records.length; row += 1) {
    reader.read(page, row);
    if (reader.partition !== null) return reader.partition;
  }
  return knownPartition(pipeline);
}

function knownPartition(pipeline: AnyPipeline): string | undefined {
  return new CollectedValues([pipeline]).referenceOf(pipeline)[0];
}

async function examinePartition(pages: DatasetPages, partition: string): Promise<Finding> {
  const { length } = (await firstPage(pages, partition)).page.records;
  return length > 0
    ? ok('partition', `partition ${partition} has ${countOf(length, 'record')} on its first page`)
    : bad(
        'partition',
        `partition ${partition} does not return records`,
        'rekap must read each partition separately to prove it complete. Contact the operator of the service about its filter.',
      );
}

/** Compares the places that the declaration names with the responses. */
function* examinePlaces({ places, pipeline }: DatasetPages, { page, link }: FetchedPage): Generator<Finding> {
  const { paging } = pipeline;
  const problems = places.problems();
  for (const what of problems) yield bad('response', what, 'Correct the declaration.');
  for (const what of places.warnings()) yield doubt('response', what, 'Correct the field if it is misspelled.');
  const next = headerOf(paging) === null ? page.next : (link ?? undefined);
  if (paging.by === 'next' && next === undefined)
    yield doubt(
      'response',
      `the response has no ${nextPointer(paging) ?? 'header Link with rel="next"'}, so it names no next page`,
      'Check the paging. In a list of one page, this is correct.',
    );
  if (problems.length === 0) yield ok('response', 'the response has the declared shape');
}
