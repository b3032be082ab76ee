/** Appends Arrow batches to tables in memory: one copy per column of numbers, one call per string. */

import type { DuckDBAppender, DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';
import bindings from '@duckdb/node-bindings';
import type { Data, RecordBatch } from 'apache-arrow';
import { rowMessage } from './check-messages.ts';
import * as arrow from '../runtime/arrow.ts';
import { type Database, duckdb, quoteIdentifier } from '../runtime/database.ts';
import { kindOf } from '../kinds/kinds.ts';
import {
  datasetTable,
  placeColumns,
  quarantineTable,
  stagedViolationsTable,
  type TableColumn,
  type TableDefinition,
} from './tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { Batch, Quarantined, Violation } from '../stages.ts';

/** Rows after which the appenders flush for the first time. Flushing rarely is faster. */
const smallLoad = 262_144;
/** Rows between later flushes. Rows in appenders don't count against DuckDB's memory limit. */
const rowsHeld = 65_536;

/** Maximum rows of a DuckDB data chunk. */
const chunkRows = 2048;

const stagingSchema = 'staging';

/** Returns the name of a staged table in SQL. */
export function stagedName(table: string): string {
  return `${stagingSchema}.${quoteIdentifier(table)}`;
}

export class Staging {
  appended = 0;
  /** Characters of the longest text of a violation or a quarantined record, or of the texts of an average row. */
  longest = 0;
  private isClosed = false;
  private flushAt = smallLoad;
  private readonly database: Database;
  private readonly violations: DuckDBAppender;
  private readonly quarantine: DuckDBAppender;
  private readonly appenders: ReadonlyMap<string, DuckDBAppender>;
  private readonly places: readonly TableColumn[];

  private constructor(
    database: Database,
    pipelines: readonly AnyPipeline[],
    appenders: ReadonlyMap<string, DuckDBAppender>,
  ) {
    this.database = database;
    this.appenders = appenders;
    this.violations = appenders.get('violations')!;
    this.quarantine = appenders.get('quarantine')!;
    this.places = placeColumns(pipelines);
  }

  static async create(database: Database, pipelines: readonly AnyPipeline[]): Promise<Staging> {
    const appenders = new Map<string, DuckDBAppender>();
    // A temporary table belongs to one connection; the checks run on several.
    await database.run(`ATTACH ':memory:' AS ${stagingSchema}`);
    for (const table of [stagedViolationsTable(pipelines), quarantineTable, ...pipelines.map(stagedTable)]) {
      await database.run(createStagingSql(table));
      appenders.set(table.name, await database.connection.createAppender(table.name, 'main', stagingSchema));
    }
    return new Staging(database, pipelines, appenders);
  }

  /** Appends a batch. Blocks while DuckDB copies, for some milliseconds per ten thousand rows. */
  append(pipeline: AnyPipeline, batch: Batch): void {
    this.appended += batch.rows.numRows + batch.violations.length + batch.quarantined.length;
    if (batch.rows.numRows > 0) this.appendRows(pipeline, batch.rows);
    for (const violation of batch.violations) {
      this.longest = Math.max(this.longest, violation.raw_value?.length ?? 0);
      appendRow(this.violations, this.violationValues(pipeline, violation));
    }
    for (const record of batch.quarantined) {
      this.longest = Math.max(this.longest, record.record.length);
      appendRow(this.quarantine, quarantineValues(record));
    }
    if (this.appended < this.flushAt) return;
    this.flushAt = this.appended + rowsHeld;
    for (const appender of this.appenders.values()) appender.flushSync();
  }

  /** Makes all rows readable. Nothing can be appended afterwards. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    for (const appender of this.appenders.values()) appender.closeSync();
  }

  async drop(tables: readonly string[]): Promise<void> {
    await this.database.run(tables.map((table) => `DROP TABLE ${stagedName(table)}`).join('; '));
  }

  private appendRows(pipeline: AnyPipeline, rows: RecordBatch): void {
    const appender = this.appenders.get(pipeline.table)!;
    const texts = rows.data.children.reduce((sum, { valueOffsets }) => sum + (valueOffsets?.[rows.numRows] ?? 0), 0);
    this.longest = Math.max(this.longest, texts / rows.numRows);
    for (let from = 0; from < rows.numRows; from += chunkRows)
      appender.appendDataChunk(makeChunk(rows.data.children, from, Math.min(chunkRows, rows.numRows - from)));
  }

  private violationValues(pipeline: AnyPipeline, violation: Violation): Values {
    return [
      violation.dataset,
      ...this.places.map(({ name, type }) => {
        const value = violation.place[name] ?? null;
        return value !== null && type === 'VARCHAR' ? String(value) : value;
      }),
      violation.check_name,
      violation.severity,
      violation.column_name,
      violation.raw_value,
      violation.expected,
      violation.actual,
      rowMessage(pipeline, violation),
    ];
  }
}

/**
 * Copies rows `from` to `from + rows` into a data chunk.
 * `from` must be a multiple of 64, because Arrow and DuckDB store validity as bits in 64-bit words.
 */
function makeChunk(columns: readonly Data[], from: number, rows: number): DuckDBDataChunk {
  const { DuckDBDataChunk } = duckdb();
  const chunk = DuckDBDataChunk.create(columns.map(stagedType), rows);
  for (const [index, { values, valueOffsets: starts, nullCount, nullBitmap }] of columns.entries()) {
    const vector = bindings.data_chunk_get_vector(chunk.chunk, index);
    const copy = (data: Int32Array | Uint32Array | BigInt64Array | Float64Array | Uint8Array): void =>
      bindings.copy_data_to_vector(vector, 0, data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
    if (starts !== undefined)
      for (let row = 0; row < rows; row += 1)
        bindings.vector_assign_string_element_len(
          vector,
          row,
          (values as Uint8Array).subarray(starts[from + row], starts[from + row + 1]),
        );
    else if (values instanceof Uint8Array) copy(unpackBits(values, from, rows));
    else {
      // A decimal has four words of 32 bits.
      const width = values instanceof Uint32Array ? 4 : 1;
      copy((values as Int32Array).subarray(from * width, (from + rows) * width));
    }
    if (nullCount === 0) continue;
    const words = Math.ceil(rows / 64) * 8;
    bindings.vector_ensure_validity_writable(vector);
    bindings.copy_data_to_vector_validity(
      vector,
      0,
      nullBitmap.buffer as ArrayBuffer,
      nullBitmap.byteOffset + from / 8,
      words,
    );
  }
  return chunk;
}

/** Returns the DuckDB type with the same memory layout as an Arrow column. */
function stagedType({ type }: Data): DuckDBType {
  const { BIGINT, BOOLEAN, DATE, DECIMAL, DOUBLE, INTEGER, TIMESTAMP, VARCHAR } = duckdb();
  const { DataType } = arrow;
  if (DataType.isUtf8(type)) return VARCHAR;
  if (DataType.isBool(type)) return BOOLEAN;
  if (DataType.isDate(type)) return DATE;
  if (DataType.isTimestamp(type)) return TIMESTAMP;
  if (DataType.isFloat(type)) return DOUBLE;
  if (DataType.isDecimal(type)) return DECIMAL(38, type.scale);
  return DataType.isInt(type) && type.bitWidth === 64 ? BIGINT : INTEGER;
}

/** Returns a dataset's table with the types that Arrow has. DuckDB converts them later. */
function stagedTable(pipeline: AnyPipeline): TableDefinition {
  const table = datasetTable(pipeline);
  const columns = table.columns.map((column) => {
    const definition = pipeline.columns[column.name];
    return definition === undefined ? column : { ...column, type: kindOf(definition).stagedType };
  });
  return { ...table, columns };
}

type Values = readonly (string | number | bigint | boolean | null)[];

function quarantineValues({ dataset, reason, record, partition, request }: Quarantined): Values {
  return [dataset, reason, record, partition, request];
}

function appendRow(appender: DuckDBAppender, values: Values): void {
  for (const value of values) {
    if (value === null) appender.appendNull();
    else if (typeof value === 'number') appender.appendInteger(value);
    else if (typeof value === 'bigint') appender.appendBigInt(value);
    else if (typeof value === 'boolean') appender.appendBoolean(value);
    else appender.appendVarchar(value);
  }
  appender.endRow();
}

function createStagingSql(table: TableDefinition): string {
  const columns = table.columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`).join(', ');
  return `CREATE TABLE ${stagedName(table.name)} (${columns})`;
}

function unpackBits(bits: Uint8Array, from: number, rows: number): Uint8Array {
  return Uint8Array.from({ length: rows }, (_, row) => (bits[(from + row) >> 3]! >> ((from + row) & 7)) & 1);
}
