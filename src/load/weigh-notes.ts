/** How much memory violations and quarantined records need to be sorted: DuckDB puts a part of what it sorts on the disk, but not all. */

import type { Database } from '../database.ts';
import type { Batch } from '../stages.ts';

/** Bytes of memory, measured with some room: per violation, and per byte of the texts that may be long. */
const perViolation = 16;
const perByte = 4;

/** Bytes of memory that what a batch notes needs. */
export function weighNotes({ violations, quarantined }: Batch): number {
  const malformed = violations.reduce((sum, { raw_value: raw }) => sum + (raw?.length ?? 0), 0);
  const records = quarantined.reduce((sum, { record }) => sum + record.length, 0);
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
