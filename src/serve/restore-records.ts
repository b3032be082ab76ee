/** Turns a published table back into the source's records, so that a sync from the mirror gives the same tables. */

import { type Database } from '../duckdb/database.ts';
import { NoCount } from '../records/fields.ts';
import { columnList, quoteIdentifier } from '../duckdb/sql-text.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { districtField, readDistrict, type ServedRecord } from './record-source.ts';

/** A value of the tables as DuckDB's client gives it: INTEGER as a number, text as a string, NULL as null. */
type Row = Readonly<Record<string, number | bigint | string | null>>;

interface LostValue {
  readonly check: keyof typeof NoCount;
  readonly raw: string | null;
}

/**
 * The records of one dataset: the table's rows in the order of its key, then what is in quarantine, as it was received.
 * Restored: every field under the source's name, every value as a string, and for each NULL what `violations` says of it.
 * Not restored: leading zeros of a count, and whether a malformed value was a string, because the tables do not keep them;
 * neither changes what a sync makes of the record.
 */
export async function restoreRecords(database: Database, pipeline: AnyPipeline): Promise<ServedRecord[]> {
  const lost = await readLostValues(database, pipeline);
  const columns = Object.entries(pipeline.columns);
  const rows = await database.rows<Row>(
    `SELECT ${columnList(columns.map(([name]) => name))} FROM ${quoteIdentifier(pipeline.table)} ORDER BY ${columnList(pipeline.key)}`,
  );
  const records = rows.map((row): ServedRecord => {
    const ofRow = lost.get(keyOf(row, pipeline));
    const fields: [string, string | null][] = [];
    for (const [name, { field }] of columns) {
      const value = row[name] ?? null;
      const restored = value === null ? restoreValue(ofRow?.get(name)) : String(value);
      if (restored !== undefined) fields.push([field, restored]);
    }
    return { text: JSON.stringify(Object.fromEntries(fields)), district: readDistrict(row[pipeline.district]) };
  });
  return [...records, ...(await readQuarantine(database, pipeline))];
}

/** What stood in the record where the table has NULL; undefined to leave the field out. */
function restoreValue(lost: LostValue | undefined): string | null | undefined {
  switch (lost?.check) {
    case 'null':
      return null;
    case 'empty':
      return '';
    case 'malformed':
      return lost.raw;
    default:
      return undefined;
  }
}

/** What is known of the NULLs of a dataset, by the row's key and then by column. */
async function readLostValues(database: Database, pipeline: AnyPipeline): Promise<Map<string, Map<string, LostValue>>> {
  const rows = await database.rows<
    Row & { check_name: LostValue['check']; column_name: string; raw_value: string | null }
  >(
    `SELECT ${columnList(pipeline.key)}, check_name, column_name, raw_value FROM violations
     WHERE dataset = $1 AND check_name IN (${Object.keys(NoCount)
       .map((name) => `'${name}'`)
       .join(', ')})`,
    [pipeline.table],
  );
  const lost = new Map<string, Map<string, LostValue>>();
  for (const row of rows) {
    const key = keyOf(row, pipeline);
    let ofRow = lost.get(key);
    if (ofRow === undefined) lost.set(key, (ofRow = new Map()));
    ofRow.set(row.column_name, { check: row.check_name, raw: row.raw_value });
  }
  return lost;
}

/** The records without a place in the table. In the list of a district they come last, after the rows they may repeat. */
async function readQuarantine(database: Database, pipeline: AnyPipeline): Promise<ServedRecord[]> {
  const rows = await database.rows<{ record: string }>(
    'SELECT record FROM quarantine WHERE dataset = $1 ORDER BY rowid',
    [pipeline.table],
  );
  const field = districtField(pipeline);
  return rows.map(({ record }) => {
    // What was received was JSON. If it is none, the file is damaged, and the error says so instead of a broken answer.
    const parsed: unknown = JSON.parse(record);
    const isRecord = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return { text: record, district: isRecord ? readDistrict((parsed as Record<string, unknown>)[field]) : null };
  });
}

function keyOf(row: Row, pipeline: AnyPipeline): string {
  return JSON.stringify(pipeline.key.map((name) => String(row[name] ?? null)));
}
