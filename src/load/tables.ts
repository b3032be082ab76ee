/** Defines the tables of rekap.duckdb, generated from the pipelines' declarations. */

import { consistencyColumn } from '../project/reserved.ts';
import { quoteIdentifier, quoteText } from '../runtime/database.ts';
import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { changesTableName, snapshotsLogTableName, violationsLogTableName } from '../warehouse/snapshot-format.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly comment: string;
  readonly isRequired?: boolean;
}

export interface TableDefinition {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly TableColumn[];
  readonly sortedBy: readonly string[];
}

export function datasetTable(pipeline: AnyPipeline): TableDefinition {
  return {
    name: pipeline.table,
    comment: pipeline.comment,
    columns: [
      ...Object.entries(pipeline.columns).map(([name, definition]) => ({
        name,
        type: kindOf(definition).sqlType,
        comment: `${definition.comment}${definition.kind === 'count' && pipeline.unit !== undefined ? ` Unit: ${pipeline.unit}.` : ''} Source field: ${definition.field}.`,
        isRequired: pipeline.key.includes(name),
      })),
      {
        name: consistencyColumn,
        type: 'BOOLEAN',
        comment: 'True if the row passes every check of severity error. See the table violations.',
      },
    ],
    sortedBy: pipeline.key,
  };
}

/**
 * Returns the columns of all keys of a project, which locate a violation. NULL for datasets without a column of that name. Texts if datasets
 * have columns of the same name and of different types.
 */
export function placeColumns(pipelines: readonly AnyPipeline[]): TableColumn[] {
  const places = new Map<string, TableColumn>();
  for (const { key, columns } of pipelines)
    for (const name of key) {
      const definition = columns[name]!;
      const comment = `${definition.comment} Part of the key of the row.`;
      const { sqlType } = kindOf(definition);
      const first = places.get(name) ?? { name, type: sqlType, comment };
      places.set(name, first.type === sqlType ? first : { ...first, type: 'VARCHAR' });
    }
  return [...places.values()];
}

function rowColumns(pipelines: readonly AnyPipeline[]): TableColumn[] {
  return [{ name: 'dataset', type: 'VARCHAR', comment: 'Table that contains the row.' }, ...placeColumns(pipelines)];
}

/** Returns the columns that identify a violation: the row, the check and the column, but not the values. */
export function violationIdentity(pipelines: readonly AnyPipeline[]): string[] {
  return [...rowColumns(pipelines).map(({ name }) => name), 'check_name', 'column_name'];
}

const ages: readonly TableColumn[] = [
  {
    name: 'first_snapshot',
    type: 'VARCHAR',
    comment:
      'The first snapshot that has the violation, without a gap since then in the chain of previous snapshots. After a rollback, the chain continues from the earlier snapshot.',
  },
  { name: 'since', type: 'TIMESTAMP', comment: 'UTC time when the run of that snapshot began.' },
];

/** Returns the table `violations` without ages, which come from the previous snapshot. */
export function stagedViolationsTable(pipelines: readonly AnyPipeline[]): TableDefinition {
  const columns: TableColumn[] = [
    ...rowColumns(pipelines),
    {
      name: 'check_name',
      type: 'VARCHAR',
      comment:
        'Check that fails: a row check, a check across tables, or missing, null, empty or malformed for a value that is not a number.',
    },
    { name: 'severity', type: 'VARCHAR', comment: 'error or warning.' },
    { name: 'column_name', type: 'VARCHAR', comment: 'Column that the check is about.' },
    {
      name: 'raw_value',
      type: 'VARCHAR',
      comment: 'The text as the source sent it, if it is not a valid value of the column.',
    },
    { name: 'expected', type: 'VARCHAR', comment: 'The value that the check expects.' },
    { name: 'actual', type: 'VARCHAR', comment: 'The value found.' },
    { name: 'message', type: 'VARCHAR', comment: 'Message that describes the violation.' },
  ];
  return {
    name: 'violations',
    comment: 'One row per failed check. The rows that fail are published without corrections.',
    columns,
    sortedBy: columns.map(({ name }) => name),
  };
}

export function violationsTable(pipelines: readonly AnyPipeline[]): TableDefinition {
  const staged = stagedViolationsTable(pipelines);
  return { ...staged, columns: [...staged.columns, ...ages] };
}

/** Returns the columns of a violation that don't depend on its values. */
export function violationColumns(pipelines: readonly AnyPipeline[]): TableColumn[] {
  const columns = new Map(stagedViolationsTable(pipelines).columns.map((column) => [column.name, column]));
  return [...violationIdentity(pipelines), 'severity', 'message'].map((name) => columns.get(name)!);
}

export function violationsLogTable(pipelines: readonly AnyPipeline[]): TableDefinition {
  const columns = violationColumns(pipelines);
  return {
    name: violationsLogTableName,
    comment: 'One row per violation in this snapshot or an earlier one: when it appeared and when it was resolved.',
    columns: [
      ...columns,
      ...ages,
      {
        name: 'resolved_snapshot',
        type: 'VARCHAR',
        comment: 'The first snapshot without the violation. NULL if it is not resolved.',
      },
      { name: 'resolved_at', type: 'TIMESTAMP', comment: 'UTC time when the run of that snapshot began.' },
    ],
    sortedBy: ['since', ...columns.map(({ name }) => name), 'resolved_snapshot'],
  };
}

/** Columns of `changes` that are computed from its others. */
export const changedNumbers: readonly string[] = ['old_number', 'new_number'];

export function changesTable(pipelines: readonly AnyPipeline[]): TableDefinition {
  const columns: TableDefinition['columns'] = [
    ...rowColumns(pipelines),
    { name: 'column_name', type: 'VARCHAR', comment: 'Column that changed.' },
    { name: 'old_value', type: 'VARCHAR', comment: 'Value before the change. NULL if the record is new.' },
    { name: 'new_value', type: 'VARCHAR', comment: 'Value after the change. NULL if the record was removed.' },
    {
      name: 'kind',
      type: 'VARCHAR',
      comment: 'changed, added or removed. An added or removed record has a row for each column.',
    },
    {
      name: 'snapshot_id',
      type: 'VARCHAR',
      comment:
        'ID of the first snapshot with the new value in the chain of previous snapshots. The ID starts with the UTC time.',
    },
    {
      name: 'old_number',
      type: 'DOUBLE',
      comment: 'old_value as a number, to compute with: exact up to 2^53. NULL for a column of texts, days or times.',
    },
    { name: 'new_number', type: 'DOUBLE', comment: 'new_value as a number, like old_number.' },
    {
      name: 'missed',
      type: 'BOOLEAN',
      comment: 'True if the windows of incremental syncs could not show the change: only reading the whole list did.',
    },
  ];
  return {
    name: changesTableName,
    comment:
      'Values that the source changed: one row per record and column that differs from the previous snapshot, for this snapshot and the chain of previous snapshots before it. After a rollback, the chain continues from the earlier snapshot, without those that were rolled back.',
    columns,
    sortedBy: ['snapshot_id', ...columns.map(({ name }) => name).filter((name) => name !== 'snapshot_id')],
  };
}

export const quarantineTable: TableDefinition = {
  name: 'quarantine',
  comment: 'Records that could not be stored as a row of a table, as received.',
  columns: [
    { name: 'dataset', type: 'VARCHAR', comment: 'Table that the record belongs to.' },
    { name: 'reason', type: 'VARCHAR', comment: 'Why the record is not a row of that table.' },
    { name: 'record', type: 'VARCHAR', comment: 'The JSON as received.' },
    {
      name: 'partition_value',
      type: 'VARCHAR',
      comment: 'Value of the filter parameter in the request. NULL if the record came with the full listing.',
    },
    {
      name: 'request',
      type: 'VARCHAR',
      comment: 'The request whose response contained the record, without the base URL.',
    },
  ],
  sortedBy: ['dataset', 'reason', 'record', 'partition_value', 'request'],
};

export function snapshotsLogTable(pipelines: readonly AnyPipeline[]): TableDefinition {
  return {
    name: snapshotsLogTableName,
    comment:
      'One row per dataset of this snapshot and of the chain of previous snapshots before it. After a rollback, the chain continues from the earlier snapshot, without those that were rolled back.',
    columns: [
      { name: 'snapshot_id', type: 'VARCHAR', comment: 'ID of the snapshot.' },
      { name: 'published_at', type: 'TIMESTAMP', comment: 'UTC time when the run of the snapshot began.' },
      { name: 'source', type: 'VARCHAR', comment: 'Base URL of the source, or sample.' },
      { name: 'dataset', type: 'VARCHAR', comment: 'Table of the dataset.' },
      { name: 'row_count', type: 'BIGINT', comment: 'Number of rows in the table.' },
      {
        name: 'grand_total',
        type: totalType(pipelines),
        comment: "Sum of the dataset's total column, such as grand_total.",
      },
      { name: 'violation_count', type: 'BIGINT', comment: 'Number of rows in violations for the table.' },
    ],
    sortedBy: ['snapshot_id', 'dataset'],
  };
}

/** Returns the type of the totals: the sum of 64-bit integers or decimals can exceed BIGINT. */
export function totalType(pipelines: readonly AnyPipeline[]): string {
  const totals = pipelines.flatMap(({ watch: [total], columns }) => (total === undefined ? [] : [columns[total]!]));
  if (totals.every(({ kind }) => kind === 'count')) return 'BIGINT';
  return `DECIMAL(38,${Math.max(...totals.map((column) => (column.kind === 'decimal' ? column.scale : 0)))})`;
}

/**
 * Returns the columns of a table as SQL, to select from that table in another snapshot.
 * @param existing Columns of that snapshot's table. A key column that it doesn't have becomes NULL.
 */
export function selectList(columns: readonly TableColumn[], existing: ReadonlySet<string>): string {
  return columns
    .map(
      ({ name, type }) => `${existing.has(name) ? quoteIdentifier(name) : 'NULL'}::${type} AS ${quoteIdentifier(name)}`,
    )
    .join(', ');
}

export function createTableSql(table: TableDefinition): string {
  const name = quoteIdentifier(table.name);
  const columns = table.columns
    .map((column) => `${quoteIdentifier(column.name)} ${column.type}${column.isRequired === true ? ' NOT NULL' : ''}`)
    .join(', ');
  return [
    `CREATE TABLE ${name} (${columns})`,
    `COMMENT ON TABLE ${name} IS ${quoteText(table.comment)}`,
    ...table.columns.map(
      (column) => `COMMENT ON COLUMN ${name}.${quoteIdentifier(column.name)} IS ${quoteText(column.comment)}`,
    ),
  ].join(';\n');
}

export function allTables(pipelines: readonly AnyPipeline[]): TableDefinition[] {
  return [
    ...pipelines.map(datasetTable),
    changesTable(pipelines),
    quarantineTable,
    violationsTable(pipelines),
    violationsLogTable(pipelines),
    snapshotsLogTable(pipelines),
  ];
}
