/** Opens the source of a sync: requests over HTTP, stored responses, and pages of interrupted runs. */

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createHttpTransport } from '../source/http-transport.ts';
import { SourceClient } from '../source/source-client.ts';
import { extract } from '../extract/extract.ts';
import type { RunFile } from '../land/formats.ts';
import { openLanding } from '../land/landing.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import { partitionParameters } from '../project/partition-list.ts';
import { storedPart } from '../project/stored.ts';
import { historyOf } from '../publish/manifest.ts';
import { readWindows } from './known-rows.ts';
import { openResumedRuns } from '../publish/landings.ts';
import type { Run } from '../publish/run.ts';
import { closeAll, orClose } from '../runtime/bound-signal.ts';
import { readVersion } from '../runtime/version.ts';
import type { AcceptedReading } from '../stages.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

const maxResponseBytes = 64 * 1024 * 1024;
const heldBytes = 48 * 1024 * 1024;
const maxRecords = 20_000_000;

export interface OpenedSource {
  readonly readings: AsyncIterable<AcceptedReading>;
  close(): Promise<void>;
}

export async function openSource(run: Run): Promise<OpenedSource> {
  const { options, context } = run;
  run.enter('fetch');
  const windows = await readWindows(run);
  const resumed = await openResumedRuns(run);
  const landing = await orClose(resumed, () => openLanding(run.landing, describeRun(run)));
  return orClose([landing, ...resumed], async () => {
    const ended = new AbortController();
    const signal = AbortSignal.any([run.signal, ended.signal]);
    // Each concurrent request adds a listener. Node warns about a leak above ten.
    setMaxListeners(0, signal);
    const { auth } = run.project;
    const transport = createHttpTransport({
      ...options,
      auth,
      connections: options.concurrency,
      maxResponseBytes,
    });
    const keyParameter = auth !== null && 'query' in auth ? auth.query : null;
    const client = new SourceClient(
      { ...options, keyParameter },
      {
        ...context,
        transport,
        land: (response) => landing.land(response),
        resumed,
        signal,
      },
    );
    run.figures = client.figures;
    const extracted = extract({
      pipelines: run.requested,
      client,
      clock: context.clock,
      report: context.report,
      concurrency: options.concurrency,
      pageSize: options.pageSize,
      scopes: run.scopes,
      windows,
      before: partitionsBefore(run),
      baseUrl: options.baseUrl,
      expected: expectedOf(run.project, run.previous),
      acceptChanges: options.acceptChanges,
      contentKey: contentKeyOf(run.previous),
      heldBytes,
      maxRecords,
      signal,
    });
    let closing: Promise<void> | null = null;
    const close = async (): Promise<void> => {
      ended.abort(new Error('The source is closed.'));
      await extracted.return().catch(() => undefined);
      await closeAll([client, ...resumed, landing]);
    };
    return {
      readings: endingWith(ended, landing.landVerdicts(extracted, run.warnings)),
      close: () => (closing ??= close()),
    };
  });
}

/** Aborts the requests of a generator before it returns early, because it waits for them. */
function endingWith<Item>(ended: AbortController, items: AsyncGenerator<Item, void, undefined>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => items.next(),
      return() {
        ended.abort(new Error('The source is closed.'));
        return items.return();
      },
    }),
  };
}

/** Returns, by table, the partitions with records in the previous snapshot, from all datasets with the same partition column. */
function partitionsBefore({ requested, previous }: Run): Record<string, string[]> {
  const columnsOf = (pipeline: AnyPipeline): string =>
    partitionParameters(pipeline)
      .map(({ column }) => column)
      .join();
  const then = new Map(previous?.manifest.project.pipelines.map((pipeline) => [pipeline.table, columnsOf(pipeline)]));
  const before = Object.entries(previous?.manifest.datasets ?? {}).flatMap(([table, { partitions }]) =>
    partitions.flatMap(({ partition, received }) =>
      partition === null || received === 0 ? [] : [{ columns: then.get(table), partition }],
    ),
  );
  return Object.fromEntries(
    requested.map((pipeline) => {
      const own = before.filter(({ columns }) => columns === columnsOf(pipeline));
      return [pipeline.table, [...new Set(own.map(({ partition }) => partition))]];
    }),
  );
}

/** Returns the rows of each table in the previous snapshot, or the declared number without one. */
function expectedOf({ pipelines }: Project, previous: Snapshot | null): Record<string, number> {
  return Object.fromEntries(
    pipelines.map(({ table, expectedRecords = 0 }) => [
      table,
      previous?.manifest.datasets[table]?.rows || expectedRecords,
    ]),
  );
}

/** Returns the key of the previous contents, so that new ones can be compared with them. Without previous contents, the key is random. */
function contentKeyOf(previous: Snapshot | null): string {
  for (const { partitions } of Object.values(previous?.manifest.datasets ?? {}))
    for (const { content } of partitions) {
      const key = /^[0-9a-f]{16}(?=-)/.exec(content ?? '');
      if (key !== null) return key[0];
    }
  return randomBytes(8).toString('hex');
}

function describeRun({ id, startedAt, options, previous, requested, project, scopes }: Run): RunFile {
  return {
    format: 3,
    run: id,
    started_at: startedAt.toISOString(),
    tool: { name: 'rekap', version: readVersion() },
    source: options.source,
    base_url: options.baseUrl,
    previous: previous?.id ?? null,
    previous_history: previous === null ? null : historyOf(previous.manifest),
    strict: options.strict,
    refuse: options.refuse,
    accept_changes: options.acceptChanges,
    accept_source: options.acceptSource,
    dry_run: options.dryRun,
    datasets: requested.map(({ table }) => table),
    partitions: options.partitions === null ? null : [...options.partitions],
    ...(scopes.size > 0 && { scopes: Object.fromEntries(scopes) }),
    page_size: options.pageSize,
    project: storedPart(project),
  };
}
