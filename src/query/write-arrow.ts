/** Writes a query's result as an Arrow IPC file. */

import type { Data, DataType } from 'apache-arrow';
import { arrow } from '../arrow.ts';
import { duckdb } from '../duckdb.ts';
import type { QueryResult, ResultColumn, ResultValue } from './run-query.ts';
import { displayText } from './write-result.ts';

/** An Arrow IPC file; types that Arrow and this client do not share become text. Gives the bytes and the number of rows. */
export async function toArrowFile(result: QueryResult): Promise<{ bytes: Uint8Array; rows: number }> {
  const all: (readonly ResultValue[])[] = [];
  for await (const group of result.groups()) all.push(...group);
  const children = result.columns.map((column, index) =>
    arrowData(
      column,
      all.map((row) => row[index] ?? null),
    ),
  );
  const schema = new arrow.Schema(
    result.columns.map(({ name }, index) => new arrow.Field(name, children[index]!.type, true)),
  );
  const struct = arrow.makeData({ type: new arrow.Struct(schema.fields), length: all.length, nullCount: 0, children });
  const writer = arrow.RecordBatchFileWriter.writeAll(new arrow.Table(schema, [new arrow.RecordBatch(schema, struct)]));
  return { bytes: await writer.toUint8Array(), rows: all.length };
}

function arrowData({ type }: ResultColumn, values: readonly ResultValue[]): Data {
  switch (type) {
    case 'TINYINT':
    case 'SMALLINT':
    case 'INTEGER':
      return (
        arrow.vectorFromArray(values as (number | null)[], new arrow.Int32()).data[0] ?? emptyData(new arrow.Int32())
      );
    case 'BIGINT':
      return (
        arrow.vectorFromArray(values as (bigint | null)[], new arrow.Int64()).data[0] ?? emptyData(new arrow.Int64())
      );
    case 'FLOAT':
    case 'DOUBLE':
      return (
        arrow.vectorFromArray(values as (number | null)[], new arrow.Float64()).data[0] ??
        emptyData(new arrow.Float64())
      );
    case 'BOOLEAN':
      return (
        arrow.vectorFromArray(values as (boolean | null)[], new arrow.Bool()).data[0] ?? emptyData(new arrow.Bool())
      );
    case 'DATE':
    case 'TIMESTAMP':
      return timestampData(values);
    default:
      return (
        arrow.vectorFromArray(
          values.map((value) => (value === null ? null : displayText(value))),
          new arrow.Utf8(),
        ).data[0] ?? emptyData(new arrow.Utf8())
      );
  }
}

function emptyData(type: DataType): Data {
  return arrow.makeData({ type, length: 0, nullCount: 0 });
}

/** Microseconds as DuckDB has them: JavaScript's dates stop at the millisecond. */
function timestampData(values: readonly ResultValue[]): Data {
  const micros = new BigInt64Array(values.length);
  const valid = new Uint8Array(Math.ceil(values.length / 64) * 8);
  let nullCount = 0;
  for (const [row, value] of values.entries()) {
    if (value instanceof duckdb.DuckDBTimestampValue) micros[row] = value.micros;
    else if (value instanceof duckdb.DuckDBDateValue) micros[row] = BigInt(value.days) * 86_400_000_000n;
    else {
      nullCount += 1;
      continue;
    }
    valid[row >> 3]! |= 1 << (row & 7);
  }
  return arrow.makeData({
    type: new arrow.TimestampMicrosecond(),
    length: values.length,
    nullCount,
    nullBitmap: valid,
    data: micros,
  });
}
