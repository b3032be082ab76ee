/** Writes a query's result as an Arrow IPC file. */

import { createRequire } from 'node:module';
import type { Data, DataType } from 'apache-arrow';
import { duckdb } from '../../runtime/database.ts';
import {
  overflowError,
  displayText,
  isHuge,
  type QueryResult,
  type ResultColumn,
  type ResultValue,
} from './query-result.ts';

/** The complete module, for the reason in `duckdb.ts`. */
const arrow = createRequire(import.meta.url)('apache-arrow') as typeof import('apache-arrow');

export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/**
 * Writes a record batch per group of rows, so that memory holds one group. Returns the number of rows.
 * 128-bit sums become Int64. Lists, structs, decimals and other types without a simple counterpart become text.
 * @throws `query` if a sum exceeds 64 bits.
 */
export async function writeArrow(result: QueryResult, write: WriteBytes): Promise<number> {
  const kinds = result.columns.map(kindOf);
  const schema = new arrow.Schema(
    result.columns.map(({ name }, index) => new arrow.Field(name, kinds[index]!.type, true)),
  );
  const chunks = new Chunks();
  const writer = new arrow.RecordBatchFileWriter().reset(chunks, schema);
  let rows = 0;
  for await (const group of result.groups()) {
    if (group.length === 0) continue;
    const children = kinds.map((kind, index) =>
      makeData(
        kind,
        group.map((row) => row[index] ?? null),
      ),
    );
    const type = new arrow.Struct(schema.fields);
    const struct = arrow.makeData({ type, length: group.length, nullCount: 0, children });
    writer.write(new arrow.RecordBatch(schema, struct));
    await write(chunks.take());
    rows += group.length;
  }
  writer.close();
  await write(chunks.take());
  return rows;
}

/** Collects the writer's output. The library's own queue can only be read to the end. */
class Chunks extends arrow.AsyncByteQueue {
  private readonly chunks: Uint8Array[] = [];

  override write(chunk: unknown): void {
    this.chunks.push(chunk as Uint8Array);
  }

  take(): Uint8Array {
    return Buffer.concat(this.chunks.splice(0));
  }
}

interface Kind {
  readonly type: DataType;
  /** The type of the converted values, if it differs from `type` but has the same bytes. */
  readonly as?: DataType;
  readonly read: (value: ResultValue) => unknown;
}

/** The types whose values need no conversion. */
const plainTypes: Readonly<Record<string, DataType>> = {
  TINYINT: new arrow.Int32(),
  UTINYINT: new arrow.Int32(),
  SMALLINT: new arrow.Int32(),
  USMALLINT: new arrow.Int32(),
  INTEGER: new arrow.Int32(),
  UINTEGER: new arrow.Uint32(),
  BIGINT: new arrow.Int64(),
  UBIGINT: new arrow.Uint64(),
  FLOAT: new arrow.Float64(),
  DOUBLE: new arrow.Float64(),
  BOOLEAN: new arrow.Bool(),
};

const convertedTypes: Readonly<Record<string, Kind>> = {
  DATE: {
    type: new arrow.DateDay(),
    as: new arrow.Int32(),
    read: (value) => (value instanceof duckdb().DuckDBDateValue ? value.days : null),
  },
  // DuckDB's microseconds, because JavaScript dates have only milliseconds.
  TIMESTAMP: {
    type: new arrow.TimestampMicrosecond(),
    as: new arrow.Int64(),
    read: (value) => (value instanceof duckdb().DuckDBTimestampValue ? value.micros : null),
  },
};

function kindOf(column: ResultColumn): Kind {
  const narrow = (value: ResultValue): unknown => {
    if (typeof value === 'bigint' && BigInt.asIntN(64, value) !== value) throw overflowError(column);
    return value;
  };
  if (isHuge(column)) return { type: new arrow.Int64(), read: narrow };
  const type = plainTypes[column.type];
  if (type !== undefined) return { type, read: (value) => value };
  return convertedTypes[column.type] ?? { type: new arrow.Utf8(), read: displayText };
}

function makeData({ type, as = type, read }: Kind, values: readonly ResultValue[]): Data {
  const converted = values.map((value) => (value === null ? null : read(value)));
  return arrow.vectorFromArray(converted, as).data[0]!.clone(type);
}
