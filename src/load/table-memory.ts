/** How much memory the tables are filled in: violations and quarantined records need more, for DuckDB cannot put all that it sorts on the disk. */

import { mostMemory, type Database } from '../duckdb/database.ts';
import type { Batch } from '../stages.ts';

/** Bytes in which the tables are sorted where little is noted, on a small machine too: less would not do. */
const least = 160_000_000;
/** Bytes of memory, measured with some room: per row, per violation, and per byte of the texts that may be long. */
const perRow = 20;
const perViolation = 16;
const perByte = 4;

/**
 * Bytes of memory for the tables, within bounds however much a source makes rekap note: the machine has other work.
 *
 * @param notes Bytes that the notes need beyond what the rows do.
 */
export function memoryOfTables(rows: number, notes: number): number {
  return Math.max(least, Math.min(least + rows * perRow + notes, mostMemory));
}

/** Bytes of memory that what a batch notes needs. */
export function weighNotes({ violations, quarantined }: Batch): number {
  const malformed = violations.reduce(
    (sum, { raw_value: raw }) => sum + (raw === null ? 0 : Buffer.byteLength(raw)),
    0,
  );
  const records = quarantined.reduce((sum, { record }) => sum + Buffer.byteLength(record), 0);
  return violations.length * perViolation + (malformed + records) * perByte;
}

/** The same of all that the attached database `previous` has noted. */
export async function weighPreviousNotes(database: Database): Promise<number> {
  const [weight] = await database.rows<{ bytes: number }>(
    `SELECT ((SELECT count(*) * ${perViolation} + coalesce(sum(strlen(raw_value)), 0) * ${perByte} FROM previous.violations)
       + (SELECT coalesce(sum(strlen(record)), 0) * ${perByte} FROM previous.quarantine))::DOUBLE AS bytes`,
  );
  return weight!.bytes;
}
