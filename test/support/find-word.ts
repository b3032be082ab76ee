/** Looks for a word in every file below a folder and in texts, however it is written there. */

import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { openDatabase, type Database } from '../../src/runtime/database.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Whether a text holds the word: as it is, in capitals, in the escapes of JSON, URLs and HTML, or in base64. */
export function holdsWord(text: string, word: string): boolean {
  const plain = text
    .replace(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/&#x0*([0-9a-f]{2});/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\\', '');
  return plain.toLowerCase().includes(word.toLowerCase()) || base64Forms(word).some((form) => text.includes(form));
}

/** The characters of base64 that depend on the word alone, wherever in three bytes it begins. */
function base64Forms(word: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(word)]);
    const whole = (text: string): string =>
      text.slice(before === 0 ? 0 : before + 1, Math.floor((bytes.length * 8) / 6));
    return [whole(bytes.toString('base64')), whole(bytes.toString('base64url'))];
  });
}

/** The files below `folder` that hold the word, by their path, with what is in them looked into: gzip, DuckDB, Parquet. */
export async function filesWithWord(folder: string, word: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const texts = await textsOf(path);
    if (texts.some((text) => holdsWord(text, word)) || holdsWord(path, word)) found.push(relative(folder, path));
  }
  return found.toSorted();
}

async function textsOf(path: string): Promise<string[]> {
  const bytes = await readFile(path);
  const raw = bytes.toString('latin1');
  if (path.endsWith('.gz')) return [raw, unzip(bytes).toString('latin1')];
  if (path.endsWith('.duckdb') && bytes.length > 0) return [raw, ...(await textsOfDatabase(path))];
  if (path.endsWith('.parquet')) {
    const memory = await openDatabase(':memory:');
    try {
      return [raw, await textsOfTable(memory, `read_parquet('${path}')`)];
    } finally {
      memory.close();
    }
  }
  return [raw];
}

/** As zcat does it: one member after another, and of a file that ends early what there is. */
function unzip(bytes: Buffer): Buffer {
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH });
}

async function textsOfDatabase(path: string): Promise<string[]> {
  // A killed run leaves a log beside its database, and opening the two merges them: a copy is opened.
  const copy = join(await temporaryFolder(), 'copy.duckdb');
  await copyFile(path, copy);
  if (existsSync(`${path}.wal`)) await copyFile(`${path}.wal`, `${copy}.wal`);
  const database = await openDatabase(copy);
  try {
    const tables = await database.rows<{ name: string }>(
      'SELECT table_name AS name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal',
    );
    return await Promise.all(tables.map(({ name }) => textsOfTable(database, `"${name}"`)));
  } finally {
    database.close();
  }
}

/** All rows of a table as text: every column, whatever its type. */
async function textsOfTable(database: Database, table: string): Promise<string> {
  const rows = await database.rows<{ row: string }>(`SELECT CAST(t AS VARCHAR) AS row FROM ${table} AS t`);
  return rows.map(({ row }) => row).join('\n');
}
