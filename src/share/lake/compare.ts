/** Compares a table of a catalog with a Parquet file of a snapshot, row by row, and writes the difference. */

import { columnList, type Database, quoteIdentifier, readParquetSql } from '../../runtime/database.ts';
import { lakeTableSql } from './lake-database.ts';
import { type LakeTable, placeholderSql } from './table-schema.ts';

/** Rows that only one of the two has. A changed row counts in both. */
export interface Difference {
  readonly table: string;
  readonly added: number;
  readonly removed: number;
}

/** Returns a SELECT of the rows whose number differs, with their number in the catalog and in the snapshot. */
function differenceSql({ columns, file }: LakeTable, inLake: string): string {
  const names = columnList(columns.map(({ name }) => name));
  return `SELECT ${names}, sum(of_lake)::BIGINT AS "in lake", sum(of_snapshot)::BIGINT AS "in snapshot"
    FROM (SELECT ${names}, 1 AS of_lake, 0 AS of_snapshot FROM ${inLake}
      UNION ALL SELECT ${names}, 0, 1 FROM ${readParquetSql(file)})
    GROUP BY ${names} HAVING "in lake" <> "in snapshot"`;
}

export async function compare(database: Database, namespace: string, table: LakeTable): Promise<Difference> {
  return countDifference(database, table.name, `(${differenceSql(table, lakeTableSql(namespace, table.name))})`);
}

async function countDifference(database: Database, table: string, differences: string): Promise<Difference> {
  const [found] = await database.rows<{ added: bigint; removed: bigint }>(
    `SELECT coalesce(sum(greatest("in snapshot" - "in lake", 0)), 0)::BIGINT AS added,
       coalesce(sum(greatest("in lake" - "in snapshot", 0)), 0)::BIGINT AS removed FROM ${differences}`,
  );
  return { table, added: Number(found!.added), removed: Number(found!.removed) };
}

/**
 * Makes a table equal to the snapshot within the open transaction, by deleting and inserting only the rows that differ.
 *
 * @param isNew True if the table has no snapshot in the catalog yet. Then it gets one even without rows, because only a snapshot can have a tag.
 */
export async function writeDifference(
  database: Database,
  namespace: string,
  table: LakeTable,
  isNew: boolean,
): Promise<Difference> {
  const target = lakeTableSql(namespace, table.name);
  const names = columnList(table.columns.map(({ name }) => name));
  await database.run(`CREATE OR REPLACE TEMP TABLE difference AS ${differenceSql(table, target)}`);
  const difference = await countDifference(database, table.name, 'difference');
  const same = table.columns
    .map(({ name }) => `t.${quoteIdentifier(name)} IS NOT DISTINCT FROM d.${quoteIdentifier(name)}`)
    .join(' AND ');
  const [{ stale }] = (await database.rows<{ stale: bigint }>(
    'SELECT count(*) FILTER ("in lake" > 0) AS stale FROM difference',
  )) as [{ stale: bigint }];
  // Deletes all copies of a row, even if the snapshot has some of them.
  if (stale > 0n)
    await database.run(`DELETE FROM ${target} AS t USING difference AS d WHERE d."in lake" > 0 AND ${same}`);
  if (difference.added > 0 || stale > 0n) {
    const order = table.key.length === 0 ? '' : ` ORDER BY ${columnList(table.key)}`;
    await database.run(
      `INSERT INTO ${target} (${names}) SELECT ${names} FROM difference, range("in snapshot")${order}`,
    );
  } else if (isNew) {
    const values = table.columns.map((column) => placeholderSql(table, column));
    await database.run(`INSERT INTO ${target} (${names}) SELECT ${values.join(', ')}`);
    await database.run(`DELETE FROM ${target}`);
  }
  return difference;
}
