/** Exports every table and view of a snapshot to files: all of them, or none. */

import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withSuggestion } from '../runtime/closest-name.ts';
import { quoteIdentifier } from '../runtime/database.ts';
import { readPublishedDictionary, type Relation } from '../warehouse/read-dictionary.ts';
import { type ReadBounds, verifyHint } from '../warehouse/open-published.ts';
import { RekapError, systemReason } from '../errors.ts';
import type { QueryResult } from './query/query-result.ts';
import { runQuery } from './query/run-query.ts';
import { writeAllAside, writeAside } from './query/write-aside.ts';
import { writeCsvFile } from './query/write-result.ts';
import { type ReadTable, writeWorkbook } from './query/write-workbook.ts';
import { findAltered } from '../warehouse/check-files.ts';
import {
  databaseFile,
  describeManifest,
  type Manifest,
  type ManifestFile,
  parquetPath,
} from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

export interface ExportOptions extends Pick<ReadBounds, 'signal'> {
  readonly format: 'xlsx' | 'csv' | 'parquet';
  /** The only table or view to export; null or undefined for all. */
  readonly only?: string | null | undefined;
  /** Created if it doesn't exist. */
  readonly folder: string;
}

/** Returns the paths of the files. Throws `query` if a table has more rows than a sheet allows. */
export async function exportSnapshot(
  snapshot: Snapshot,
  { format, folder, only = null, ...bounds }: ExportOptions,
): Promise<string[]> {
  const { manifest } = snapshot;
  const database = join(snapshot.folder, databaseFile);
  const relations = chooseRelations(await readPublishedDictionary(database), only);
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    const what = `The folder ${folder} cannot be created: ${systemReason(error)}.`;
    throw new RekapError('usage', what, 'Choose another folder.', { cause: error });
  });
  const read: ReadTable = (name, use) => readTable(snapshot, name, use, bounds);
  if (format === 'xlsx') {
    const target = join(folder, `${only ?? 'rekap'}.xlsx`);
    // Empty tables last, because people look at the first sheets.
    const isEmpty = ({ name }: Relation): boolean => parquetOf(manifest, name)?.rows === 0;
    const sheets = relations.toSorted((a, b) => Number(isEmpty(a)) - Number(isEmpty(b)));
    const { workbook } = manifest.project;
    const query: ReadTable = (sql, use) => runQuery(database, sql, use, bounds);
    const readers = workbook === undefined || only !== null ? undefined : { ...workbook, read: query };
    await writeAside(target, (aside) => writeWorkbook(read, sheets, describeManifest(manifest), aside, readers));
    return [target];
  }
  const exported = relations.filter(({ name }) => format === 'csv' || parquetOf(manifest, name) !== undefined);
  const files = exported.map(({ name }) => ({
    target: join(folder, `${name}.${format}`),
    write: async (aside: string) => {
      bounds.signal?.throwIfAborted();
      if (format === 'parquet') await copyParquet(snapshot, parquetOf(manifest, name)!, aside);
      else await exportCsv(snapshot, name, aside, bounds);
    },
  }));
  const about = aboutText(manifest, exported, format);
  files.unshift({ target: join(folder, 'ABOUT.txt'), write: (aside) => writeFile(aside, about) });
  await writeAllAside(files);
  return files.map(({ target }) => target);
}

/** @throws `usage` if there is no table or view of this name. */
function chooseRelations(all: readonly Relation[], only: string | null): readonly Relation[] {
  const chosen = all.filter(({ name }) => only === null || name === only);
  if (chosen.length > 0) return chosen;
  const names = all.map(({ name }) => name);
  const what = withSuggestion(`The snapshot has no table or view ${only}`, only!, names);
  throw new RekapError('usage', what, 'Run "rekap query" for a list of them.');
}

async function copyParquet({ folder }: Snapshot, file: ManifestFile, aside: string): Promise<void> {
  const [altered] = await findAltered(folder, [file]);
  if (altered !== undefined) throw new RekapError('warehouse', `${altered.path}: ${altered.why}.`, verifyHint);
  await copyFile(join(folder, file.path), aside);
}

/** Writes one table or view to `file`, which must not exist. */
export async function exportCsv(snapshot: Snapshot, name: string, file: string, bounds: ReadBounds): Promise<void> {
  await readTable(snapshot, name, (result) => writeCsvFile(result, file), bounds);
}

/** Checks the number of rows against the manifest. */
function readTable<Value>(
  { folder, manifest }: Snapshot,
  name: string,
  use: (result: QueryResult) => Promise<Value>,
  bounds: ReadBounds,
): Promise<Value> {
  const rows = parquetOf(manifest, name)?.rows ?? undefined;
  return runQuery(join(folder, databaseFile), `FROM ${quoteIdentifier(name)}`, use, { rows, ...bounds });
}

function parquetOf(manifest: Manifest, name: string): ManifestFile | undefined {
  return manifest.files.find(({ path }) => path === parquetPath(name));
}

function aboutText(manifest: Manifest, relations: readonly Relation[], format: 'csv' | 'parquet'): string {
  const facts = describeManifest(manifest).map(([name, value]) => `${name}: ${value}`);
  const files = relations.map(({ name, meaning }) => `${name}.${format}: ${meaning}`);
  return `${[...facts, '', ...files].join('\n')}\n`;
}
