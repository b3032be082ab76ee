/** Sends the result of a query to stdout or to a file, and says which figures are made up. */

import { extname } from 'node:path';
import type { TableLayout, Ways } from './print/result-table.ts';
import { writeOut } from './print/terminal.ts';
import { RekapError } from '../errors.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import type { QuerySettings } from '../snapshots/query/run-query.ts';
import { countOf } from '../runtime/text.ts';

/** Formats by the ending of a file's name. */
const formatsByEnding = {
  '': 'table',
  '.txt': 'table',
  '.md': 'markdown',
  '.csv': 'csv',
  '.json': 'json',
  '.parquet': 'parquet',
  '.arrow': 'arrow',
} as const;

export type FileFormat = (typeof formatsByEnding)[keyof typeof formatsByEnding];
export type PrintedFormat = Exclude<FileFormat, 'parquet' | 'arrow'>;

/**
 * Returns the format that a file's name ends in.
 *
 * @param advice What else to do if no format has the ending.
 * @throws `usage` if no format has the ending.
 */
export function formatOfFile(file: string, advice = ''): FileFormat {
  const ending = extname(file).toLowerCase();
  const format = Object.entries(formatsByEnding).find(([known]) => known === ending)?.[1];
  if (format !== undefined) return format;
  throw new RekapError(
    'usage',
    `The extension ${JSON.stringify(ending)} of ${file} does not match any format.`,
    `Use the extension .md, .csv, .json, .parquet, .arrow or .txt${advice}.`,
  );
}

interface Query {
  /** Path of the DuckDB file. */
  readonly database: string;
  readonly sql: string;
  /** What to know of the figures. It ends a table, and goes to stderr with every other format. */
  readonly notice: string | null;
}

interface PrintedQuery extends Query {
  readonly format: PrintedFormat;
  readonly layout: TableLayout;
  /** How to see what a table leaves out, if not by the options of `rekap query`. */
  readonly ways?: Ways;
  /** Whether a table that is longer than the terminal opens in a pager. */
  readonly isPaged: boolean;
}

/** Runs a query and prints its result. Throws as `runQuery` does. */
export async function printResult(query: PrintedQuery, bounds: QuerySettings = {}): Promise<void> {
  const { database, sql, notice, format, layout, ways, isPaged } = query;
  const { runQuery } = await import('../snapshots/query/run-query.ts');
  if (format !== 'table') {
    const writeRows = await loadTextWriter(format);
    await runQuery(database, sql, (result) => writeRows(result, writeOut), bounds);
    printNotice(notice);
    return;
  }
  const [{ writeTable }, { writePaged }] = await Promise.all([
    import('./print/result-table.ts'),
    import('./print/page-output.ts'),
  ]);
  const draw = async (result: QueryResult, to: typeof writeOut): Promise<void> => {
    await writeTable(layout, ways)(result, to);
    if (notice !== null) await to(`${notice}\n`);
  };
  await runQuery(
    database,
    sql,
    (result) => (isPaged ? writePaged((to) => draw(result, to)) : draw(result, writeOut)),
    bounds,
  );
}

interface SavedQuery extends Query {
  readonly out: string;
  readonly format: FileFormat;
}

/** Runs a query and writes its result to a file: aside first, then renamed. Throws as `runQuery` and `writeAside` do. */
export async function saveResult({ out, notice, ...query }: SavedQuery, bounds: QuerySettings = {}): Promise<void> {
  const rows = await writeFileOf({ out, notice, ...query }, bounds);
  process.stderr.write(`${countOf(rows, 'row')} written to ${out}\n`);
  if (query.format !== 'table') printNotice(notice);
}

async function writeFileOf({ database, sql, out, format, notice }: SavedQuery, bounds: QuerySettings): Promise<number> {
  const [{ queryToParquet, runQuery }, { writeAside }, { open }] = await Promise.all([
    import('../snapshots/query/run-query.ts'),
    import('../snapshots/query/write-aside.ts'),
    import('node:fs/promises'),
  ]);
  if (format === 'parquet') return queryToParquet(database, sql, out, bounds);
  const writeRows = await loadWriter(format);
  return writeAside(out, async (aside) => {
    const file = await open(aside, 'wx');
    const write = (piece: string | Uint8Array): Promise<void> => {
      bounds.signal?.throwIfAborted();
      // appendFile writes everything; write may write a part.
      return file.appendFile(piece);
    };
    try {
      const rows = await runQuery(database, sql, (result) => writeRows(result, write), bounds);
      if (format === 'table' && notice !== null) await write(`${notice}\n`);
      return rows;
    } finally {
      await file.close();
    }
  });
}

type WriteRows = (result: QueryResult, write: (piece: string | Uint8Array) => Promise<void>) => Promise<number>;

async function loadWriter(format: Exclude<FileFormat, 'parquet'>): Promise<WriteRows> {
  if (format === 'table') return (await import('./print/result-table.ts')).writePlainTable;
  if (format === 'arrow') return (await import('../snapshots/query/write-arrow.ts')).writeArrow;
  return loadTextWriter(format);
}

async function loadTextWriter(format: Exclude<PrintedFormat, 'table'>) {
  const { writeCsv, writeJson, writeMarkdown } = await import('../snapshots/query/write-result.ts');
  return { csv: writeCsv, json: writeJson, markdown: writeMarkdown }[format];
}

function printNotice(notice: string | null): void {
  if (notice !== null) process.stderr.write(`${notice}\n`);
}
