/** Turns a published table back into the source's records, so that a sync from the mirror gives the same tables. */

import type { Database } from '../duckdb/database.ts';
import { columnList, quoteIdentifier } from '../duckdb/sql-text.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { readRecord, type ServedRecord } from './record-source.ts';

/** A value of the tables as DuckDB's client gives it: INTEGER as a number, text as a string, NULL as null. */
type Row = Readonly<Record<string, number | bigint | string | null>>;

/**
 * The records of one dataset: the table's rows in the order of its key, then what is in quarantine, as it was received.
 * It restores every field under the source's name, every value as a string, and for each NULL what `violations` says of it.
 * The tables do not keep leading zeros of a count, nor whether a malformed value was a string; neither changes what a sync
 * makes of the record.
 */
export async function restoreRecords(database: Database, pipeline: AnyPipeline): Promise<ServedRecord[]> {
  const lost = await readLostValues(database, pipeline);
  const columns = Object.entries(pipeline.columns);
  const rows = await database.rows<Row>(
    `SELECT ${columnList(Object.keys(pipeline.columns))} FROM ${quoteIdentifier(pipeline.table)} ORDER BY ${columnList(pipeline.key)}`,
  );
  const texts = rows.map((row) => {
    const key = keyOf(row, pipeline);
    const fields = columns.flatMap(([name, { field }]) => {
      const value = row[name] ?? null;
      const restored = value === null ? lost.get(`${key} ${name}`) : String(value);
      return restored === undefined ? [] : [[field, restored]];
    });
    return JSON.stringify(Object.fromEntries(fields));
  });
  // In the list of a district, records without a place in the table come after the rows they may repeat.
  const quarantined = await database.rows<{ record: string }>(
    'SELECT record FROM quarantine WHERE dataset = $1 ORDER BY rowid',
    [pipeline.table],
  );
  return [...texts, ...quarantined.map(({ record }) => record)].map((text) => readRecord(text, pipeline));
}

/** What stood where the table has NULL, by the row's key and the column. A field without an entry was left out. */
async function readLostValues(database: Database, pipeline: AnyPipeline): Promise<Map<string, Row[string]>> {
  const rows = await database.rows<Row>(
    `SELECT ${columnList(pipeline.key)}, column_name AS lost_column,
            CASE check_name WHEN 'malformed' THEN raw_value WHEN 'empty' THEN '' END AS lost_value
     FROM violations WHERE dataset = $1 AND check_name IN ('null', 'empty', 'malformed')`,
    [pipeline.table],
  );
  return new Map(rows.map((row) => [`${keyOf(row, pipeline)} ${row['lost_column']}`, row['lost_value'] ?? null]));
}

function keyOf(row: Row, { key }: AnyPipeline): string {
  return JSON.stringify(key.map((name) => String(row[name] ?? null)));
}
