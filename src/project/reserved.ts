/** Names that are reserved for rekap in a project. */

/** Reasons why a value is null. They are negative, so that they can replace a count. */
export const NullReason = { missing: -1, null: -2, empty: -3, malformed: -4 } as const;

export const conflictingRecords = 'conflicting_records';

export const ownTables: ReadonlySet<string> = new Set([
  'violations',
  'violations_log',
  'quarantine',
  'changes',
  'snapshots_log',
]);

export const reconciliationName = 'reconciliation';

export const consistencyColumn = 'is_consistent';

/** Columns that rekap's tables have in addition to the key columns. */
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
  'old_number',
  'new_number',
  'missed',
  'kind',
  'snapshot_id',
]);

export const ownChecks: ReadonlySet<string> = new Set([...Object.keys(NullReason), conflictingRecords]);

/** Why a record is in quarantine if another record has its key. */
export const repeatedKey = 'same key, other values';
