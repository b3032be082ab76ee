/** Reads rows out of a snapshot's DuckDB file. */

import { join } from 'node:path';
import { openDatabase } from '../../src/runtime/database.ts';
import { databaseFile } from '../../src/warehouse/snapshot-format.ts';

/** The rows of a query on the warehouse's current snapshot. */
export async function readRows<Row>(warehouse: string, sql: string): Promise<Row[]> {
  const database = await openDatabase(join(warehouse, 'current', databaseFile), { readOnly: true });
  try {
    return await database.rows<Row>(sql);
  } finally {
    database.close();
  }
}

/** The single value of a query, as text. */
export async function readValue(warehouse: string, sql: string): Promise<string> {
  const [row] = await readRows<Record<string, unknown>>(warehouse, sql);
  return String(Object.values(row ?? {})[0]);
}
