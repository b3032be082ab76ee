/** Syncs the sample of a project once per fault, and judges each result against a sync without faults. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sync } from '../index.ts';
import { isRekapError, type RekapError } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';
import { type FaultName, faultList, type FaultValues } from '../serve/faults/fault-list.ts';
import { type Manifest, parquetPath } from '../warehouse/snapshot-format.ts';
import { manualClock } from './manual-clock.ts';
import { startSource, type TestSource } from './start-source.ts';

export interface FaultTrial {
  /** Null for the trial with all faults together. */
  readonly fault: FaultName | null;
  /** Responses with a fault. */
  readonly responses: number;
  /**
   * 'exact': published, and every table equals that of a sync without faults. 'refused': nothing was published, for the reason in `error`.
   * 'moved': published while `drift` changed the source. 'unnoticed': published without a partition that was missing in the full listing,
   * because the project doesn't say where else partitions are named. 'unused': the fault never occurred. 'wrong': published with other
   * rows, which is a bug in rekap.
   */
  readonly outcome: 'exact' | 'refused' | 'moved' | 'unnoticed' | 'unused' | 'wrong';
  /** Records that the sync without faults published. */
  readonly records: number;
  /** Records that this sync published. */
  readonly published: number;
  readonly error: RekapError | null;
}

export interface TrialOptions {
  readonly project: LoadedProject;
  /** Faults to try, each alone and then all together. Values of a rate of 0 are left out. */
  readonly faults: FaultValues;
  readonly seed: number;
  /** Folder for the warehouses, which are removed. */
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** High enough for the fault to occur in a small sample. A stalled response takes a second of real time. */
const aloneRates: FaultValues = { hide: 0.5, total: 1, stall: 0.05 };
const usualRate = 0.25;

/** @throws Errors of the sample, such as `served-data`, or of a sync without faults. */
export async function* tryFaults({ project, faults, seed, folder, signal }: TrialOptions): AsyncGenerator<FaultTrial> {
  const source = await startSource({ project, seed });
  try {
    const settings = { project, folder, signal };
    const truth = await syncOnce(source, settings, 'truth');
    const longest = Math.max(
      ...Object.values(truth.datasets).flatMap(({ partitions }) => partitions.map(({ received }) => received)),
    );
    const names = faultList.map(({ name }) => name).filter((name) => (faults[name] ?? 0) > 0);
    const clamp = Math.max(2, Math.min(50, Math.ceil(longest / 3)));
    const strong = (name: FaultName): number => (name === 'clamp' ? clamp : (aloneRates[name] ?? usualRate));
    const trials: (readonly [FaultName | null, FaultValues])[] = names.map((name) => [name, { [name]: strong(name) }]);
    if (names.length > 1) trials.push([null, { ...faults, ...(faults.clamp !== undefined && { clamp }) }]);
    for (const [fault, values] of trials) {
      source.restart();
      source.setFaults(values);
      const judged = await judge(() => syncOnce(source, settings, fault ?? 'all'), truth, source);
      yield { fault, records: rowsOf(truth), ...judged };
    }
  } finally {
    await source.close();
  }
}

async function judge(
  run: () => Promise<Manifest>,
  truth: Manifest,
  source: TestSource,
): Promise<Omit<FaultTrial, 'fault' | 'records'>> {
  const struck = (name: FaultName): boolean => source.faultCounts.has(name);
  const count = (): number => [...source.faultCounts.values()].reduce((sum, own) => sum + own, 0);
  try {
    const manifest = await run();
    const isExact = hashesOf(manifest) === hashesOf(truth);
    const different = struck('drift') ? 'moved' : struck('hide') && dependsOnListing(truth) ? 'unnoticed' : 'wrong';
    const outcome = !isExact ? different : count() === 0 ? 'unused' : 'exact';
    return { responses: count(), outcome, published: rowsOf(manifest), error: null };
  } catch (error) {
    if (!isRekapError(error) || error.code === 'interrupted') throw error;
    return { responses: count(), outcome: 'refused', published: 0, error };
  }
}

function rowsOf({ datasets }: Manifest): number {
  return Object.values(datasets).reduce((sum, { rows }) => sum + rows, 0);
}

/** Returns whether only the full listing names the partitions of a dataset. */
function dependsOnListing({ project }: Manifest): boolean {
  return project.pipelines.some(({ partition }) => partition !== undefined && partition.values === undefined);
}

async function syncOnce(
  { url, apiKey }: TestSource,
  { project, folder, signal }: Pick<TrialOptions, 'project' | 'folder' | 'signal'>,
  id: string,
): Promise<Manifest> {
  const warehouse = join(folder, id);
  try {
    const { manifest } = await sync({
      project,
      baseUrl: url,
      apiKey,
      warehouse,
      clock: manualClock(),
      timeout: 1000,
      maxAttempts: 12,
      maxDuration: Number.MAX_SAFE_INTEGER,
      signal,
    });
    return manifest;
  } finally {
    await rm(warehouse, { recursive: true, force: true });
  }
}

/** Hashes of the rows, which don't depend on the snapshot. */
function hashesOf({ files, datasets }: Manifest): string {
  const tables = new Set([...Object.keys(datasets), 'violations'].map(parquetPath));
  return JSON.stringify(files.filter(({ path }) => tables.has(path)).map(({ path, content }) => [path, content]));
}
