/** Exports every table and view of a snapshot to files, each written completely or not at all. */

import { copyFile, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { quoteIdentifier } from '../runtime/database.ts';
import { readPublishedDictionary, type Relation } from '../warehouse/read-dictionary.ts';
import { verifyHint } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import type { QueryResult } from './query/query-result.ts';
import { runQuery } from './query/run-query.ts';
import { writeAside } from './query/write-aside.ts';
import { writeCsv } from './query/write-result.ts';
import { type ReadTable, writeWorkbook } from './query/write-workbook.ts';
import { findAltered } from '../warehouse/check-files.ts';
import {
  databaseFile,
  type Manifest,
  type ManifestFile,
  parquetPath,
  sampleNotice,
} from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

/** Returns the paths of the files. Throws `query` if a table has more rows than a sheet allows. */
export async function exportSnapshot(
  snapshot: Snapshot,
  format: 'xlsx' | 'csv' | 'parquet',
  folder: string,
): Promise<string[]> {
  const file = join(snapshot.folder, databaseFile);
  const relations = await readPublishedDictionary(file);
  const read: ReadTable = (name, use) => readTable(file, snapshot.manifest, name, use);
  if (format === 'xlsx') {
    const target = join(folder, `rekap-${snapshot.id}.xlsx`);
    await writeAside(target, (aside) => writeWorkbook(read, relations, describe(snapshot.manifest), aside));
    return [target];
  }
  const about = join(folder, 'ABOUT.txt');
  const written = [about];
  const parquetOf = (name: string) => snapshot.manifest.files.find(({ path }) => path === parquetPath(name));
  const exported = relations.filter(({ name }) => format === 'csv' || parquetOf(name) !== undefined);
  await writeAside(about, (aside) => writeFile(aside, aboutText(snapshot.manifest, exported, format)));
  for (const { name } of exported) {
    const target = join(folder, `${name}.${format}`);
    await writeAside(target, (aside) =>
      format === 'parquet'
        ? copyParquet(snapshot, parquetOf(name)!, aside)
        : read(name, (result) => writeTable(result, aside)),
    );
    written.push(target);
  }
  return written;
}

/** Passes the rows of a table or view to `use`, and checks their number against the manifest. */
function readTable<Value>(
  database: string,
  { files }: Manifest,
  name: string,
  use: (result: QueryResult) => Promise<Value>,
): Promise<Value> {
  const rows = files.find(({ path }) => path === parquetPath(name))?.rows ?? undefined;
  return runQuery(database, `FROM ${quoteIdentifier(name)}`, use, { rows });
}

async function copyParquet({ folder }: Snapshot, file: ManifestFile, aside: string): Promise<void> {
  const [altered] = await findAltered(folder, [file]);
  if (altered !== undefined) throw new RekapError('warehouse', `${altered.path}: ${altered.why}.`, verifyHint);
  await copyFile(join(folder, file.path), aside);
}

async function writeTable(result: QueryResult, aside: string): Promise<void> {
  const file = await open(aside, 'wx');
  try {
    await writeCsv(result, (piece) => file.appendFile(piece));
  } finally {
    await file.close();
  }
}

function aboutText(manifest: Manifest, relations: readonly Relation[], format: 'csv' | 'parquet'): string {
  const facts = describe(manifest).map(([name, value]) => `${name}: ${value}`);
  const files = relations.map(({ name, meaning }) => `${name}.${format}: ${meaning}`);
  return `${[...facts, '', ...files].join('\n')}\n`;
}

function describe(manifest: Manifest): (readonly [string, string | number])[] {
  const { snapshot, source, created_at, tool, datasets } = manifest;
  const notice = sampleNotice(manifest);
  return [
    ...(notice === null ? [] : [['Notice', notice] as const]),
    ['Snapshot', snapshot],
    ['Source', source],
    ['Read at (UTC)', created_at],
    ['Created by', `${tool.name} ${tool.version}`],
    ...Object.entries(datasets).map(([name, { rows }]) => [`Rows of ${name}`, rows] as const),
  ];
}
