/** Writes the result of a query to stdout or a file, with a notice for figures of the sample. */

import { extname } from 'node:path';
import { writeOut } from './print/terminal.ts';
import { RekapError } from '../errors.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import type { QuerySettings } from '../snapshots/query/run-query.ts';
import { countOf } from '../runtime/text.ts';

const formatsByExtension = {
  '': 'table',
  '.txt': 'table',
  '.md': 'markdown',
  '.csv': 'csv',
  '.json': 'json',
  '.parquet': 'parquet',
  '.arrow': 'arrow',
} as const;

export type FileFormat = (typeof formatsByExtension)[keyof typeof formatsByExtension];
export type PrintedFormat = Exclude<FileFormat, 'parquet' | 'arrow'>;

/** @param advice Ends the advice of the error. @throws `usage` if no format matches the extension. */
export function formatOfFile(file: string, advice = ''): FileFormat {
  const extension = extname(file).toLowerCase();
  const format = Object.entries(formatsByExtension).find(([known]) => known === extension)?.[1];
  if (format !== undefined) return format;
  throw new RekapError(
    'usage',
    `The extension ${JSON.stringify(extension)} of ${file} does not match any format.`,
    `Use the extension .md, .csv, .json, .parquet, .arrow or .txt${advice}.`,
  );
}

interface Query {
  readonly database: string;
  readonly sql: string;
  /** Notice about sample figures: the last line of a table, on stderr for other formats. */
  readonly notice: string | null;
}

interface PrintedQuery extends Query {
  readonly format: PrintedFormat;
}

export async function printResult(query: PrintedQuery, bounds: QuerySettings = {}): Promise<void> {
  const { database, sql, notice, format } = query;
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
    await writeTable(result, to);
    if (notice !== null) await to(`${notice}\n`);
  };
  await runQuery(database, sql, (result) => writePaged((to) => draw(result, to)), bounds);
}

interface SavedQuery extends Query {
  readonly out: string;
  readonly format: FileFormat;
}

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
      // Unlike write, appendFile always writes everything.
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
