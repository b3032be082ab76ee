/** Writes the result of a query to stdout or a file, with a notice for figures of the sample. */

import { usageError } from './options/usage-error.ts';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';
import { writePaged } from './print/page-output.ts';
import { writePlainTable, writeTable } from './print/result-table.ts';
import { printNotice, writeOut } from './print/terminal.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import { queryToParquet, type QuerySettings, runQuery } from '../snapshots/query/run-query.ts';
import { writeAside } from '../snapshots/query/write-aside.ts';
import { writeCsv, writeJson, writeMarkdown } from '../snapshots/query/write-result.ts';
import { writeResultWorkbook } from '../snapshots/query/write-workbook.ts';
import { countOf } from '../runtime/text.ts';

const formatsByExtension = {
  '': 'table',
  '.txt': 'table',
  '.md': 'markdown',
  '.csv': 'csv',
  '.json': 'json',
  '.parquet': 'parquet',
  '.xlsx': 'xlsx',
} as const;

export type Format = (typeof formatsByExtension)[keyof typeof formatsByExtension];

/** @throws `usage` if no format matches the extension. */
export function formatOfFile(file: string): Format {
  const extension = extname(file).toLowerCase();
  const format = Object.entries(formatsByExtension).find(([known]) => known === extension)?.[1];
  if (format !== undefined) return format;
  throw usageError(
    `The extension ${JSON.stringify(extension)} of ${file} does not match any format.`,
    'Use the extension .md, .csv, .json, .parquet, .xlsx or .txt, or add --format.',
  );
}

interface Query {
  readonly database: string;
  readonly sql: string;
  /** Notice about sample figures: the last line of a table, on stderr for other formats. */
  readonly notice: string | null;
}

const textWriters = { csv: writeCsv, json: writeJson, markdown: writeMarkdown };

export async function printResult(
  { database, sql, notice, format }: Query & { readonly format: 'table' | keyof typeof textWriters },
  bounds: QuerySettings,
): Promise<void> {
  if (format !== 'table') {
    await runQuery(database, sql, (result) => textWriters[format](result, writeOut), bounds);
    return printNotice(notice);
  }
  const draw = async (result: QueryResult, to: typeof writeOut): Promise<void> => {
    await writeTable(result, to);
    if (notice !== null) await to(`${notice}\n`);
  };
  await runQuery(database, sql, (result) => writePaged((to) => draw(result, to)), bounds);
}

interface SavedQuery extends Query {
  readonly out: string;
  /** What a workbook says of the snapshot. */
  readonly about: readonly (readonly [string, string | number])[];
  readonly format: Format;
}

export async function saveResult(query: SavedQuery, bounds: QuerySettings): Promise<void> {
  const rows = await writeFileOf(query, bounds);
  printNotice(`${countOf(rows, 'row')} written to ${query.out}`);
  if (query.format !== 'table') printNotice(query.notice);
}

async function writeFileOf(query: SavedQuery, bounds: QuerySettings): Promise<number> {
  const { database, sql, notice, out, format, about } = query;
  if (format === 'parquet') return queryToParquet(database, sql, out, bounds);
  if (format === 'xlsx') {
    const facts = [...about, ['Query', sql]] as const;
    return writeAside(out, (aside) =>
      runQuery(database, sql, (result) => writeResultWorkbook(result, facts, aside), bounds),
    );
  }
  const writers = { ...textWriters, table: writePlainTable };
  return writeAside(out, async (aside) => {
    const file = await open(aside, 'wx');
    const write = (piece: string): Promise<void> => {
      bounds.signal?.throwIfAborted();
      // Unlike write, appendFile always writes everything.
      return file.appendFile(piece);
    };
    try {
      const rows = await runQuery(database, sql, (result) => writers[format](result, write), bounds);
      if (format === 'table' && notice !== null) await write(`${notice}\n`);
      return rows;
    } finally {
      await file.close();
    }
  });
}
