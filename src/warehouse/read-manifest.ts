/** Reads a manifest of the current or the previous format from JSON. */

import * as v from 'valibot';
import { loadProject } from '../project/load-project.ts';
import { storedPart } from '../project/stored.ts';
import { findProblems } from '../project/validate.ts';
import { type Manifest, manifestShape } from './snapshot-format.ts';

/** `why` is the rest of a sentence that begins with the file. */
export type ReadManifest = { readonly manifest: Manifest } | { readonly why: string };

/**
 * Checks a manifest and its declaration, which may come from an untrusted source.
 * @param id ID of the snapshot that it must describe.
 */
export async function readManifest(value: unknown, id: string): Promise<ReadManifest> {
  const format = formatOf(value);
  const current = format === 1 ? await upgradeManifest(value) : value;
  if (typeof format === 'number' && format > 2)
    return { why: `has format ${format}, which requires a newer release. Use that release of rekap to read it` };
  if (!v.is(manifestShape, current) || current.snapshot !== id) return { why: `is not a manifest of snapshot ${id}` };
  const [problem] = findProblems(current.project);
  return problem === undefined ? { manifest: current } : { why: `has an inconsistent declaration: ${problem.what}` };
}

function formatOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'format' in value ? value.format : null;
}

const olderVerdict = v.looseObject({ district: v.nullable(v.number()), complete: v.boolean() });

const olderManifest = v.looseObject({
  datasets: v.record(v.string(), v.looseObject({ districts: v.array(olderVerdict) })),
});

/** Upgrades a verdict of an older manifest or landing, which named partitions by number and had one kind of paging. */
export function upgradeVerdict({ district, ...verdict }: v.InferOutput<typeof olderVerdict>): Record<string, unknown> {
  return {
    ...verdict,
    partition: district === null ? null : String(district),
    grade: verdict.complete ? 'overlap' : null,
  };
}

/** Adds the bundled project, because the first format had no declaration and no other project existed. */
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
