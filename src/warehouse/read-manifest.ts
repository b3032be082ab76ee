/** Reads a manifest from JSON, whoever has written it: of this format, or of the one before. */

import * as v from 'valibot';
import { loadProject } from '../project/load-project.ts';
import { storedPart } from '../project/stored.ts';
import { findProblems } from '../project/validate.ts';
import { type Manifest, manifestShape } from './snapshot-format.ts';

/** What came of reading a manifest; `why` is the rest of a sentence that begins with the file. */
export type ReadManifest = { readonly manifest: Manifest } | { readonly why: string };

/**
 * @param id Of the snapshot that it must be of.
 * @returns What is wrong with it, also where its declaration contradicts itself: it may be anybody's.
 */
export async function readManifest(value: unknown, id: string): Promise<ReadManifest> {
  const format = formatOf(value);
  const current = format === 1 ? await upgradeManifest(value) : value;
  if (typeof format === 'number' && format > 2)
    return { why: `has the format ${format} of a newer release. Use that release of rekap to read it` };
  if (!v.is(manifestShape, current) || current.snapshot !== id) return { why: `is not a manifest of snapshot ${id}` };
  const [problem] = findProblems(current.project);
  return problem === undefined
    ? { manifest: current }
    : { why: `has a declaration that contradicts itself: ${problem.what}` };
}

function formatOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'format' in value ? value.format : null;
}

const olderVerdict = v.looseObject({ district: v.nullable(v.number()), complete: v.boolean() });

/** The older format, as far as it differs. */
const olderManifest = v.looseObject({
  datasets: v.record(v.string(), v.looseObject({ districts: v.array(olderVerdict) })),
});

/** A verdict of an older manifest or landing: it named a partition by a number, and knew one way of paging. */
export function upgradeVerdict({ district, ...verdict }: v.InferOutput<typeof olderVerdict>): Record<string, unknown> {
  return {
    ...verdict,
    partition: district === null ? null : String(district),
    grade: verdict.complete ? 'overlap' : null,
  };
}

/** The first format holds no declaration: it was made when there was no other project than the bundled one. */
async function upgradeManifest(value: unknown): Promise<unknown> {
  if (!v.is(olderManifest, value)) return null;
  const datasets = Object.entries(value.datasets).map(([name, { districts, ...dataset }]) => [
    name,
    { ...dataset, partitions: districts.map(upgradeVerdict) },
  ]);
  return {
    ...value,
    format: 2,
    project: storedPart(await loadProject()),
    datasets: Object.fromEntries(datasets) as unknown,
  };
}
