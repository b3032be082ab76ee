/** Builds tables and Parquet files from accepted readings, in the folder of the run. */

import { join } from 'node:path';
import { RekapError } from '../errors.ts';
import type { WindowBound } from '../load/changes.ts';
import { Load } from '../load/load.ts';
import { keptRows } from '../publish/carry-over.ts';
import type { Built, Staged } from '../publish/describe-snapshot.ts';
import type { Run } from '../publish/run.ts';
import { readWindowBounds } from './known-rows.ts';
import { explainByPrevious, findPrevious } from '../publish/previous.ts';
import { comparePartitions, namePartition } from '../project/partition-list.ts';
import type { AcceptedReading, TransformTotals, Verdict } from '../stages.ts';
import { Transformer } from '../transform/transformer.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';

/** @throws `pipeline-definition` if the SQL of the project is invalid. */
export function beginLoad({ project, files, folder, previous, options: { memory }, signal }: Run): Promise<Load> {
  const before = previous === null ? null : join(previous.folder, databaseFile);
  return Load.begin({ folder, databaseFile, project, files, memory, previous: before, signal });
}

/** Transforms all records and appends them to staging tables. @throws `incomplete` if a partition isn't proved complete. */
export async function stage(run: Run, load: Load, readings: AsyncIterable<AcceptedReading>): Promise<Staged> {
  return orAbandon(run, load, async () => {
    const staged = await stageAll(run, readings, load);
    requireComplete(staged.verdicts);
    run.signal.throwIfAborted();
    return { ...staged, kept: keptRows(run, staged.verdicts) };
  });
}

export async function build(run: Run, load: Load, staged: Staged): Promise<Built> {
  return orAbandon(run, load, async () => {
    run.enter('build tables');
    const log = { snapshot: run.id, publishedAt: run.startedAt, source: run.options.source };
    const previous = await findPrevious(run);
    const bounds = previous === null ? new Map<string, WindowBound>() : await readWindowBounds(run, staged.kept);
    const loaded = await load.finish(staged.kept, log, previous, bounds);
    run.signal.throwIfAborted();
    return { ...staged, ...loaded, bounds };
  });
}

async function orAbandon<Value>(run: Run, load: Load, act: () => Promise<Value>): Promise<Value> {
  try {
    return await act();
  } catch (error) {
    load.abandon();
    run.signal.throwIfAborted();
    throw await explainByPrevious(run, error);
  }
}

async function stageAll(
  { requested }: Run,
  readings: AsyncIterable<AcceptedReading>,
  load: Load,
): Promise<Omit<Staged, 'kept'>> {
  const parts = new Map(
    requested.map((pipeline) => [pipeline.table, { pipeline, transformer: new Transformer(pipeline) }]),
  );
  const verdicts: Verdict[] = [];
  for await (const { verdict, pages } of readings) {
    verdicts.push(verdict);
    const part = parts.get(verdict.dataset);
    if (pages.length === 0 || part === undefined) continue;
    const { pipeline, transformer } = part;
    transformer.beginPartition();
    for (const accepted of pages) {
      for (const batch of transformer.addPage(await accepted.read())) load.append(pipeline, batch);
      accepted.release();
    }
  }
  const totals = new Map<string, TransformTotals>();
  for (const { pipeline, transformer } of parts.values()) {
    load.append(pipeline, transformer.finish());
    totals.set(pipeline.table, transformer.totals());
  }
  return { verdicts: verdicts.toSorted(byDatasetAndPartition), totals };
}

function byDatasetAndPartition(a: Verdict, b: Verdict): number {
  return a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : comparePartitions(a.partition, b.partition);
}

function requireComplete(verdicts: readonly Verdict[]): void {
  const incomplete = verdicts.filter(({ complete }) => !complete);
  if (incomplete.length === 0) return;
  const shown = incomplete
    .slice(0, 10)
    .map(({ dataset, partition, name, reason }) => `  - ${dataset}, ${namePartition(partition, name)}: ${reason}`);
  const more = incomplete.length > shown.length ? [`  - and ${incomplete.length - shown.length} more`] : [];
  throw new RekapError(
    'incomplete',
    [`${countIncomplete(verdicts)} could not be proved complete:`, ...shown, ...more].join('\n'),
    'Nothing was published. Run the sync again.',
  );
}

function countIncomplete(verdicts: readonly Verdict[]): string {
  return [...new Set(verdicts.map(({ dataset }) => dataset))]
    .flatMap((dataset) => {
      const own = verdicts.filter((verdict) => verdict.dataset === dataset);
      const doubtful = own.filter(({ complete }) => !complete).map(({ partition }) => partition);
      // A partition may have a second verdict with a doubt, so ids are counted once.
      const count = (ids: readonly (string | null)[]): number => new Set(ids.filter((id) => id !== null)).size;
      const partitions = count(doubtful);
      return [
        ...(doubtful.includes(null) ? [`the full listing of ${dataset}`] : []),
        ...(partitions > 0
          ? [`${partitions} of ${count(own.map(({ partition }) => partition))} partitions of ${dataset}`]
          : []),
      ];
    })
    .join(', ');
}
