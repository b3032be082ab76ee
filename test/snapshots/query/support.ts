/** A database to query, results to write, and readers of what was written. */

import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { openDatabase } from '../../../src/runtime/database.ts';
import type { QueryResult } from '../../../src/snapshots/query/query-result.ts';
import type { writeCsv } from '../../../src/snapshots/query/write-result.ts';

/** A folder with a database in which `sql` ran. It lasts as long as the tests of the file. */
export function databaseOf(sql = ''): { readonly folder: string; readonly database: string } {
  const folder = mkdtempSync(join(tmpdir(), 'rekap-query-'));
  const database = join(folder, 'rekap.duckdb');
  beforeAll(async () => {
    const made = await openDatabase(database);
    if (sql !== '') await made.run(sql);
    made.close();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return { folder, database };
}

/** A result that holds these texts. */
export function textResult(names: readonly string[], groups: readonly (readonly (string | null)[])[][]): QueryResult {
  return {
    columns: names.map((name) => ({ name, type: 'VARCHAR' })),
    groups: async function* () {
      yield* groups;
    },
  };
}

/** What a writer writes of a result. */
export async function textOf(result: QueryResult, writer: typeof writeCsv): Promise<string> {
  let text = '';
  await writer(result, async (piece) => void (text += piece));
  return text;
}

/** The rows of a CSV text by RFC 4180, with LF line ends; a field without quotes that is empty is NULL. */
export function parseCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  let at = 0;
  while (at < text.length) {
    let field: string | null;
    if (text[at] === '"') {
      field = '';
      for (at += 1; text[at] !== '"' || text[at + 1] === '"'; at += 1) {
        if (at >= text.length) throw new Error('a quote is not closed');
        if (text[at] === '"') at += 1;
        field += text[at]!;
      }
      at += 1;
    } else {
      const start = at;
      while (text[at] !== ',' && text[at] !== '\n') {
        if (at >= text.length || text[at] === '"' || text[at] === '\r') throw new Error('a field is not quoted');
        at += 1;
      }
      field = at === start ? null : text.slice(start, at);
    }
    row.push(field);
    if (text[at] === '\n') {
      rows.push(row);
      row = [];
    } else if (text[at] !== ',') throw new Error('a field does not end');
    at += 1;
  }
  return rows;
}
