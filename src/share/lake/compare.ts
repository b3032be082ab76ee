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

export async function compare(database: Database, namespace: string, table: LakeTable): Promise<Difference> {
  const target = lakeTableSql(namespace, table.name);
  const names = columnList(table.columns.map(({ name }) => name));
  // Rows whose number differs, with their number in the catalog and in the snapshot.
  await database.run(
    `CREATE OR REPLACE TEMP TABLE difference AS
     SELECT ${names}, sum(of_lake)::BIGINT AS "in lake", sum(of_snapshot)::BIGINT AS "in snapshot"
     FROM (SELECT ${names}, 1 AS of_lake, 0 AS of_snapshot FROM ${target}
       UNION ALL SELECT ${names}, 0, 1 FROM ${readParquetSql(table.file)})
     GROUP BY ${names} HAVING "in lake" <> "in snapshot"`,
  );
  const [found] = await database.rows<{ added: bigint; removed: bigint }>(
    `SELECT coalesce(sum(greatest("in snapshot" - "in lake", 0)), 0)::BIGINT AS added,
       coalesce(sum(greatest("in lake" - "in snapshot", 0)), 0)::BIGINT AS removed FROM difference`,
  );
  return { table: table.name, added: Number(found!.added), removed: Number(found!.removed) };
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
  const difference = await compare(database, namespace, table);
  const target = lakeTableSql(namespace, table.name);
  const columns = table.columns.map(({ name }) => quoteIdentifier(name));
  const names = columns.join(', ');
  if (difference.added + difference.removed > 0) {
    const same = columns.map((name) => `t.${name} IS NOT DISTINCT FROM d.${name}`).join(' AND ');
    const order = table.key.length === 0 ? '' : ` ORDER BY ${columnList(table.key)}`;
    // Deletes all copies of a row, even if the snapshot has some of them.
    if (difference.removed > 0)
      await database.run(
        `DELETE FROM ${target} AS t USING difference AS d WHERE d."in lake" > d."in snapshot" AND ${same}`,
      );
    await database.run(
      `INSERT INTO ${target} (${names}) SELECT ${names}
       FROM difference, range("in snapshot" - if("in lake" > "in snapshot", 0, "in lake"))${order}`,
    );
  } else if (isNew) {
    const values = table.columns.map((column) => placeholderSql(table, column));
    await database.run(`INSERT INTO ${target} (${names}) SELECT ${values.join(', ')}`);
    await database.run(`DELETE FROM ${target}`);
  }
  return difference;
}
