/** Turns the tables of a snapshot into Iceberg tables: columns, required keys, comments and sort order. */

import { RekapError } from '../../errors.ts';
import type { IcebergField, NewTable, TableMetadata } from './iceberg.ts';

/** A table to publish, as its Parquet file has it. */
export interface LakeTable {
  readonly name: string;
  readonly meaning: string;
  /** The Parquet file of the snapshot. */
  readonly file: string;
  /** In key order for a dataset; otherwise the order of the file stays. */
  readonly columns: readonly LakeColumn[];
  readonly key: readonly string[];
}

export interface LakeColumn {
  readonly name: string;
  /** Type in DuckDB. */
  readonly type: string;
  readonly meaning: string;
}

/** Iceberg has no unsigned types, and no integers of less than 32 bits. */
const types: Readonly<Record<string, string>> = {
  BOOLEAN: 'boolean',
  TINYINT: 'int',
  SMALLINT: 'int',
  INTEGER: 'int',
  UTINYINT: 'int',
  USMALLINT: 'int',
  UINTEGER: 'long',
  BIGINT: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  VARCHAR: 'string',
  DATE: 'date',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
};

/** @throws `usage` if Iceberg, as DuckDB writes it, doesn't have the type. */
function icebergType(table: string, { name, type }: LakeColumn): string {
  const [, digits, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
  if (digits !== undefined) return `decimal(${digits}, ${scale})`;
  if (Object.hasOwn(types, type)) return types[type]!;
  const what = `The column ${name} of ${table} has the type ${type}, which cannot be published to a catalog.`;
  throw new RekapError('usage', what, 'Cast it in the SQL of the model, for example to VARCHAR or DECIMAL.');
}

/** Returns the request that creates a table. Its rows are in key order. */
export function newTable(table: LakeTable, properties: Readonly<Record<string, string>>): NewTable {
  const fields = table.columns.map((column, index) => fieldOf(table, column, index + 1));
  const sorted = table.key.map((name) => ({
    transform: 'identity',
    'source-id': fields.find((field) => field.name === name)!.id,
    direction: 'asc',
    'null-order': 'nulls-last',
  }));
  return {
    name: table.name,
    schema: { type: 'struct', fields },
    ...(sorted.length > 0 && { 'write-order': { 'order-id': 1, fields: sorted } }),
    properties: { 'format-version': '2', comment: table.meaning, ...properties },
  };
}

function fieldOf(table: LakeTable, column: LakeColumn, id: number): IcebergField {
  return {
    id,
    name: column.name,
    required: table.key.includes(column.name),
    type: icebergType(table.name, column),
    ...(column.meaning !== '' && { doc: column.meaning }),
  };
}

/**
 * Returns the columns to add to an existing table.
 * @throws `lake` if a column was removed, or its type changed: Iceberg keeps the old data files, which don't have the new type.
 */
export function missingFields(table: LakeTable, metadata: TableMetadata): IcebergField[] {
  const existing = currentFields(metadata);
  const wanted = new Map(table.columns.map((column) => [column.name, icebergType(table.name, column)]));
  const lost = existing.filter(({ name, type }) => plainType(type) !== plainType(wanted.get(name)));
  if (lost.length > 0) {
    const [{ name, type }] = lost as [IcebergField];
    const now = wanted.get(name);
    const what = `The column ${name} of ${table.name} has the type ${plainType(type)} in the catalog, but ${now === undefined ? 'no longer exists' : `is ${now}`} in the snapshot.`;
    throw new RekapError('lake', what, 'Publish to another --namespace, or drop the table in the catalog first.');
  }
  const names = new Set(existing.map(({ name }) => name));
  const added = table.columns.filter(({ name }) => !names.has(name));
  const lastId = metadata['last-column-id'];
  // Not required, because the existing rows don't have them.
  return added.map((column, index) => ({ ...fieldOf(table, column, lastId + 1 + index), required: false }));
}

export function currentFields(metadata: TableMetadata): readonly IcebergField[] {
  return metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id'])!.fields;
}

function plainType(type: unknown): string {
  return typeof type === 'string' ? type.replaceAll(' ', '') : JSON.stringify(type ?? null);
}

/** Returns a value of the column's type in SQL, for a row that is deleted at once: NULL, or a value that a key may have. */
export function placeholderSql(table: LakeTable, { name, type }: LakeColumn): string {
  if (!table.key.includes(name)) return `NULL::${type}`;
  const text = /^(DATE|TIMESTAMP)/.test(type) ? '1970-01-01' : /^VARCHAR$/.test(type) ? '' : '0';
  return `'${text}'::${type}`;
}
