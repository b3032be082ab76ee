/** Puts a manifest together and writes it; hashes the files it names. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as pipeStreams } from 'node:stream/promises';
import {
  changesTableName,
  manifestFile,
  parquetPath,
  type Manifest,
  type ManifestDataset,
  type ManifestFile,
} from '../warehouse.ts';

/** Length and SHA-256 of a file below `folder`. The file must not be open in DuckDB: reading it would drop DuckDB's lock. */
export async function describeFile(folder: string, path: string, rows: number | null): Promise<ManifestFile> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  await pipeStreams(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return { path, bytes: (await stat(file)).size, rows, sha256: hash.digest('hex') };
}

/** Gives the paths of all files of the snapshot, the manifest's own too. */
export async function writeManifest(folder: string, manifest: Manifest): Promise<string[]> {
  await writeFile(join(folder, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx' });
  return [...manifest.files.map(({ path }) => path), manifestFile];
}

/** SHA-256 of anything that JSON can hold, as a fingerprint to compare. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Whether two snapshots hold the same tables: the Parquet files are the same bytes wherever their rows are. */
export function holdsSameTables(now: Manifest, before: Manifest): boolean {
  return (
    now.definition === before.definition &&
    now.source === before.source &&
    differingParquet(now, before, false).length === 0
  );
}

/** SHA-256 of a snapshot's history of changes; null where it has none. */
export function historyOf({ files }: Manifest): string | null {
  return files.find(({ path }) => path === parquetPath(changesTableName))?.sha256 ?? null;
}

/**
 * What differs between two snapshots that should be equal: the bytes of Parquet files and the figures of each dataset. The times at
 * which districts were read are no figures.
 *
 * @param withChanges Whether the history of changes is compared too.
 */
export function differingFigures(now: Manifest, before: Manifest, withChanges: boolean): string[] {
  const names = [...new Set([...Object.keys(now.datasets), ...Object.keys(before.datasets)])].toSorted();
  const datasets = names.flatMap((name) => {
    const a = comparable(now.datasets[name], withChanges);
    const b = comparable(before.datasets[name], withChanges);
    return Object.keys({ ...a, ...b })
      .filter((part) => JSON.stringify(a[part]) !== JSON.stringify(b[part]))
      .map((part) => `${name}: ${part}`);
  });
  return [...differingParquet(now, before, withChanges), ...datasets];
}

function comparable(dataset: ManifestDataset | undefined, withChanges: boolean): Record<string, unknown> {
  if (dataset === undefined) return {};
  const { changes, ...rest } = dataset;
  return {
    ...rest,
    ...(withChanges ? { changes } : {}),
    districts: dataset.districts.map((verdict) => ({ ...verdict, readAt: '' })),
  };
}

function differingParquet(now: Manifest, before: Manifest, withChanges: boolean): string[] {
  const [a, b] = [now, before].map(
    ({ files }) =>
      new Map(files.filter(({ path }) => path.endsWith('.parquet')).map(({ path, sha256 }) => [path, sha256])),
  );
  // The history goes on whether or not anything else does: two runs in a row never have the same.
  const history = parquetPath(changesTableName);
  return [...new Set([...a!.keys(), ...b!.keys()])]
    .filter((path) => a!.get(path) !== b!.get(path) && (withChanges || path !== history))
    .toSorted();
}
