/** Builds accepted readings into tables and Parquet files in the run's folder, wherever the readings come from. */

import { RekapError } from '../errors.ts';
import { Load } from '../load/load.ts';
import type { CarryOver } from '../load/previous-tables.ts';
import type { Built, Staged } from './describe-snapshot.ts';
import type { Run } from './options.ts';
import { blamePrevious, readPrevious } from './previous.ts';
import type { AcceptedReading, TransformTotals, Verdict } from '../stages.ts';
import { Transformer } from '../transform/transformer.ts';
import { databaseFile } from '../warehouse/snapshot-format.ts';

/**
 * @param carryOver What the snapshot keeps of the one before; null for nothing.
 * @throws `incomplete` where a district could not be proved.
 */
export async function build(
  run: Run,
  readings: AsyncIterable<AcceptedReading>,
  carryOver: CarryOver | null,
): Promise<Built> {
  const { project, folder, signal } = run;
  let load: Load | null = null;
  try {
    load = await Load.begin({ folder, databaseFile, project, signal });
    const staged = await stage(run, readings, load);
    requireComplete(staged.verdicts);
    signal.throwIfAborted();
    run.enter('build tables');
    const log = { snapshot: run.id, publishedAt: run.startedAt, source: run.options.source };
    const loaded = await load.finish(carryOver, log, await readPrevious(run, carryOver !== null));
    signal.throwIfAborted();
    return { ...staged, ...loaded, carryOver };
  } catch (error) {
    load?.abandon();
    signal.throwIfAborted();
    throw await blamePrevious(run, error);
  }
}

/** Transforms and stages one district after the other, while others are read. */
async function stage({ asked }: Run, readings: AsyncIterable<AcceptedReading>, load: Load): Promise<Staged> {
  const parts = new Map(
    asked.map((pipeline) => [pipeline.table, { pipeline, transformer: new Transformer(pipeline) }]),
  );
  const verdicts: Verdict[] = [];
  for await (const { verdict, pages } of readings) {
    verdicts.push(verdict);
    if (pages.length === 0) continue;
    const { pipeline, transformer } = parts.get(verdict.dataset)!;
    transformer.beginDistrict();
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
  return { verdicts: verdicts.toSorted(byDatasetAndDistrict), totals };
}

function byDatasetAndDistrict(a: Verdict, b: Verdict): number {
  return a.dataset < b.dataset ? -1 : a.dataset > b.dataset ? 1 : (a.district ?? -1) - (b.district ?? -1);
}

function requireComplete(verdicts: readonly Verdict[]): void {
  const incomplete = verdicts.filter(({ complete }) => !complete);
  if (incomplete.length === 0) return;
  const shown = incomplete
    .slice(0, 10)
    .map(
      ({ dataset, district, reason }) =>
        `  - ${dataset}, ${district === null ? 'full listing' : `district ${district}`}: ${reason}`,
    );
  const more = incomplete.length > shown.length ? [`  - and ${incomplete.length - shown.length} more`] : [];
  throw new RekapError(
    'incomplete',
    [`${countIncomplete(verdicts)} could not be proved complete:`, ...shown, ...more].join('\n'),
    'Nothing was published. Run the sync again.',
  );
}

/** 3 of 84 districts of voters, 1 of 84 districts of voting_rights_users. */
function countIncomplete(verdicts: readonly Verdict[]): string {
  return [...new Set(verdicts.map(({ dataset }) => dataset))]
    .flatMap((dataset) => {
      const own = verdicts.filter((verdict) => verdict.dataset === dataset);
      const doubtful = own.filter(({ complete }) => !complete).map(({ district }) => district);
      // What is doubtful of a district that was read to its end has a verdict of its own.
      const count = (ids: readonly (number | null)[]): number => new Set(ids.filter((id) => id !== null)).size;
      const districts = count(doubtful);
      return [
        ...(doubtful.includes(null) ? [`the full listing of ${dataset}`] : []),
        ...(districts > 0
          ? [`${districts} of ${count(own.map(({ district }) => district))} districts of ${dataset}`]
          : []),
      ];
    })
    .join(', ');
}
