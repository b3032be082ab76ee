/** Names that rekap gives itself, which no project may give to anything else. */

/** Why a value is null, as a negative number in the place of the value: every count is 0 or more. */
export const NullReason = { missing: -1, null: -2, empty: -3, malformed: -4 } as const;

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

/** Checks that the transformation makes of every pipeline; the first four record why a value is null. */
export const ownChecks: ReadonlySet<string> = new Set([...Object.keys(NullReason), conflictingRecords]);
