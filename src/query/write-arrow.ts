/** Writes a query's result as an Arrow IPC file. */

import type { Data, DataType, DateDay, TimestampMicrosecond } from 'apache-arrow';
import { createRequire } from 'node:module';
import { duckdb } from '../duckdb/database.ts';
import { beyondBigint, type QueryResult, type ResultColumn, type ResultValue } from './query-result.ts';
import { displayText } from './write-result.ts';

/** All of it, required for the reason that `duckdb.ts` gives. */
const arrow = createRequire(import.meta.url)('apache-arrow') as typeof import('apache-arrow');

/** Takes bytes piece by piece; resolves when they are where they belong. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/**
 * An Arrow IPC file, a record batch for each group of rows: memory holds one of them, however many there are. Sums, which DuckDB keeps
 * in 128 bits, become Int64; lists, structs, decimals and what else has no plain counterpart become text. Gives the number of rows.
 *
 * @throws `query` where such a number has no place in 64 bits.
 */
export async function writeArrow(result: QueryResult, write: WriteBytes): Promise<number> {
  const makers = result.columns.map(columnMaker);
  const schema = new arrow.Schema(
    result.columns.map(({ name }, index) => new arrow.Field(name, makers[index]!.type, true)),
  );
  const chunks = new Chunks();
  const writer = new arrow.RecordBatchFileWriter().reset(chunks, schema);
  let rows = 0;
  for await (const group of result.groups()) {
    if (group.length === 0) continue;
    const children = makers.map(({ make }, index) => make(group.map((row) => row[index] ?? null)));
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

/** What Arrow's writer has written and nobody has taken yet. Its own queue can only be read to the end. */
class Chunks extends arrow.AsyncByteQueue {
  private readonly chunks: Uint8Array[] = [];

  override write(chunk: unknown): void {
    // The writer gives its queue nothing else.
    this.chunks.push(chunk as Uint8Array);
  }

  take(): Uint8Array {
    return Buffer.concat(this.chunks.splice(0));
  }
}

/** A column's type in Arrow, and how its values become data of that type. */
interface ColumnMaker {
  readonly type: DataType;
  make(values: readonly ResultValue[]): Data;
}

function columnMaker(column: ResultColumn): ColumnMaker {
  switch (column.type) {
    case 'TINYINT':
    case 'UTINYINT':
    case 'SMALLINT':
    case 'USMALLINT':
    case 'INTEGER':
      return plainMaker(new arrow.Int32());
    case 'UINTEGER':
      return plainMaker(new arrow.Uint32());
    case 'BIGINT':
      return plainMaker(new arrow.Int64());
    case 'UBIGINT':
      return plainMaker(new arrow.Uint64());
    case 'HUGEINT':
    case 'UHUGEINT':
      return narrowMaker(column.name);
    case 'FLOAT':
    case 'DOUBLE':
      return plainMaker(new arrow.Float64());
    case 'BOOLEAN':
      return plainMaker(new arrow.Bool());
    case 'DATE':
      return dateMaker(new arrow.DateDay());
    case 'TIMESTAMP':
      return timestampMaker(new arrow.TimestampMicrosecond());
    default: {
      const { type: text, make } = plainMaker(new arrow.Utf8());
      return {
        type: text,
        make: (values) => make(values.map((value) => (value === null ? null : displayText(value)))),
      };
    }
  }
}

/** For values that are in JavaScript what Arrow takes. */
function plainMaker(type: DataType): ColumnMaker {
  return { type, make: (values) => arrow.vectorFromArray(values, type).data[0]! };
}

/** For whole numbers of 128 bits. Throws QueryError where one does not fit into 64. */
function narrowMaker(column: string): ColumnMaker {
  const { type, make } = plainMaker(new arrow.Int64());
  const fits = (value: ResultValue): boolean => typeof value !== 'bigint' || BigInt.asIntN(64, value) === value;
  return {
    type,
    make: (values) => {
      if (!values.every(fits)) throw beyondBigint(column);
      return make(values);
    },
  };
}

function dateMaker(type: DateDay): ColumnMaker {
  const daysOf = (value: ResultValue) => (value instanceof duckdb().DuckDBDateValue ? value.days : null);
  return { type, make: (values) => arrow.makeData({ type, ...readNumbers(values, Int32Array, daysOf) }) };
}

/** Microseconds as DuckDB has them: JavaScript's dates stop at the millisecond. */
function timestampMaker(type: TimestampMicrosecond): ColumnMaker {
  const microsOf = (value: ResultValue) => (value instanceof duckdb().DuckDBTimestampValue ? value.micros : null);
  return { type, make: (values) => arrow.makeData({ type, ...readNumbers(values, BigInt64Array, microsOf) }) };
}

/** Values that are whole numbers in DuckDB as in Arrow, and no numbers in JavaScript. */
function readNumbers<Value, Numbers extends { [row: number]: Value }>(
  values: readonly ResultValue[],
  NumberArray: new (length: number) => Numbers,
  read: (value: ResultValue) => Value | null,
): { length: number; nullCount: number; nullBitmap: Uint8Array; data: Numbers } {
  const data = new NumberArray(values.length);
  const numbers: { [row: number]: Value } = data;
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 64) * 8);
  let nullCount = 0;
  for (const [row, value] of values.entries()) {
    const number = read(value);
    if (number === null) nullCount += 1;
    else {
      numbers[row] = number;
      nullBitmap[row >> 3]! |= 1 << (row & 7);
    }
  }
  return { length: values.length, nullCount, nullBitmap, data };
}
