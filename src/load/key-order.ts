/** Shows that no key stands twice in a table: each row's key comes after that of the row before. */

import type { Database } from '../duckdb/database.ts';
import { RekapError } from '../errors.ts';
import { columnList, quoteIdentifier } from '../duckdb/sql-text.ts';

/** @throws `verification` where a row's key is that of the row before, or comes before it. */
export async function requireKeyOrder(database: Database, table: string, key: readonly string[]): Promise<void> {
  const columns = columnList(key);
  const [misplaced] = await database.rows(
    `SELECT ${columns} FROM (SELECT ${columns}, lag(row(${columns})) OVER () AS "key before" FROM ${quoteIdentifier(table)})
     WHERE row(${columns}) <= "key before" LIMIT 1`,
  );
  if (misplaced === undefined) return;
  throw new RekapError(
    'verification',
    `The table ${table} holds a key twice, or rows out of the order of their keys: at ${JSON.stringify(misplaced)}.`,
    'Nothing was published.',
  );
}
