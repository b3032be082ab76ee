/** Names that rekap gives itself, which no project may give to anything else. */

import { NoCount } from '../records/fields.ts';

/** The check of a record whose key came before with other values. */
export const conflictingRecords = 'conflicting_records';

/** Tables beside those of the pipelines. */
export const ownTables: ReadonlySet<string> = new Set([
  'violations',
  'violations_log',
  'quarantine',
  'changes',
  'snapshots_log',
]);

/** The view that rekap generates from the sum checks. */
export const reconciliationName = 'reconciliation';

/** The column that every pipeline's table has besides those it declares. */
export const consistencyColumn = 'is_consistent';

/** Columns of `violations`, its log, `quarantine` and `changes` beside the key of the row in question. */
export const ownRowColumns: ReadonlySet<string> = new Set([
  'dataset',
  'check_name',
  'severity',
  'column_name',
  'raw_value',
  'expected',
  'actual',
  'message',
  'first_snapshot',
  'since',
  'resolved_snapshot',
  'resolved_at',
  'old_value',
  'new_value',
  'kind',
  'snapshot_id',
]);

/** Checks that the transformation makes of every pipeline; by the first four a mirror knows what a NULL was. */
export const ownChecks: ReadonlySet<string> = new Set([...Object.keys(NoCount), conflictingRecords]);
