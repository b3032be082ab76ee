/** Compares each table with its Parquet file: columns, their types, and every value of every row. */

import { basename, join } from 'node:path';
import type { Database } from '../duckdb/database.ts';
import { quoteIdentifier, quoteText } from '../duckdb/sql-text.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

/** A table and the file that should hold the same. */
interface Pair {
  readonly path: string;
  readonly table: string;
  /** As SQL. */
  readonly inDatabase: string;
  readonly inParquet: string;
  /** Rows that the manifest names; null where it names none. */
  readonly rows: number | null;
}

/** One statement for all tables, twice: each by itself would cost more than what it asks. */
export async function compareContent(database: Database, folder: string, { files }: Manifest): Promise<string[]> {
  const pairs = files
    .filter(({ path }) => path.endsWith('.parquet'))
    .map(({ path, rows }): Pair => {
      const table = basename(path, '.parquet');
      const inParquet = `read_parquet(${quoteText(join(folder, path))})`;
      return { path, table, rows, inDatabase: quoteIdentifier(table), inParquet };
    });
  if (pairs.length === 0) return [];
  const problems = await compareColumns(database, pairs);
  return problems.length > 0 ? problems : compareRows(database, pairs);
}

/** A row of a table, seen as one value, has a type that names all columns and theirs. */
async function compareColumns(database: Database, pairs: readonly Pair[]): Promise<string[]> {
  const names = pairs.flatMap((_, index) => [`t${index}`, `p${index}`]);
  const relations = pairs.flatMap(({ inDatabase, inParquet }, index) => [
    `${inDatabase} AS t${index}`,
    `${inParquet} AS p${index}`,
  ]);
  const rows = await database.rows<{ column_name: string; column_type: string }>(
    `DESCRIBE SELECT ${names.join(', ')} FROM ${relations.join(', ')}`,
  );
  const types = new Map(rows.map(({ column_name, column_type }) => [column_name, column_type]));
  return pairs.flatMap(({ path, table }, index) => {
    const [there, here] = [types.get(`t${index}`), types.get(`p${index}`)];
    return there === here ? [] : [`${path}: its columns are ${here}, those of the table ${table} are ${there}`];
  });
}

async function compareRows(database: Database, pairs: readonly Pair[]): Promise<string[]> {
  const found = await database.rows<{ rows: bigint; there: string; here: string }>(
    pairs
      .map(
        ({ inDatabase, inParquet }) =>
          `SELECT (SELECT count(*) FROM ${inDatabase}) AS rows, (${contentSql(inDatabase)}) AS there, (${contentSql(inParquet)}) AS here`,
      )
      .join(' UNION ALL '),
  );
  return pairs.flatMap(({ path, table, rows }, index) => {
    const { rows: counted, there, here } = found[index]!;
    const problems = there === here ? [] : [`${path}: its rows are not those of the table ${table}`];
    if (rows !== null && Number(counted) !== rows)
      problems.push(`table ${table}: the number of rows is ${counted}, the manifest says ${rows}`);
    return problems;
  });
}

/** Number of rows and two sums over the rows' hashes: equal rows in any order give the same. */
function contentSql(relation: string): string {
  return `SELECT concat_ws(' ', count(*), sum(hash(r)), bit_xor(hash(r))) FROM ${relation} r`;
}
