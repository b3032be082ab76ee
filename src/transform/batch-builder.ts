/** Takes a record's values row by row, gives an Arrow batch of Int32 and UTF-8 columns; costs one copy of each text. */

import type { Data, RecordBatch } from 'apache-arrow';
import { consistencyColumn } from '../define-pipeline.ts';
import { type AnyPipeline, keyPlaces, type SumCheck } from '../pipeline.ts';
import * as arrow from '../records/arrow.ts';
import type { Place, Violation } from '../stages.ts';

/** Rows of a full batch; a multiple of DuckDB's 2,048. */
const batchRows = 16_384;
/** Bytes of texts with which a batch is handed on at the end of a page, full or not: Arrow counts them in 31 bits. */
const muchText = 1 << 24;

/** A column of whole numbers; `valid[row]` is 0 for NULL. */
export interface NumberColumn {
  readonly values: Int32Array;
  readonly valid: Uint8Array;
}

/** A column of texts, in the UTF-8 in which they came: to decode and encode a name costs more than all else that a row needs. */
export class TextColumn {
  readonly valid = new Uint8Array(batchRows);
  /** Where the text of each row begins, and behind it where that of the next one does. */
  readonly starts = new Int32Array(batchRows + 1);
  bytes = new Uint8Array(1 << 16);

  /** Gives a row the text in bytes `start` to `end`. Rows come in their order; one without a text is NULL. */
  set(row: number, bytes: Uint8Array, start: number, end: number): void {
    const own = this.starts[row]!;
    const size = own + end - start;
    if (size > this.bytes.length) {
      const larger = new Uint8Array(size * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    // Names are short: to copy them byte by byte takes less than to make a view of them.
    for (let at = start; at < end; at += 1) this.bytes[own + at - start] = bytes[at]!;
    this.starts[row + 1] = size;
    this.valid[row] = 1;
  }

  /** Gives a row no text. */
  skip(row: number): void {
    this.starts[row + 1] = this.starts[row]!;
  }

  /** Null where the row has none. */
  text(row: number): string | null {
    return this.valid[row] === 1
      ? Buffer.from(this.bytes.buffer).toString('utf8', this.starts[row], this.starts[row + 1])
      : null;
  }
}

/** The columns of a batch while it is being filled. */
export class BatchBuilder {
  rows = 0;
  /** By the place of the column in the pipeline; holes where it is of the other kind. */
  readonly numbers: readonly NumberColumn[];
  readonly texts: readonly TextColumn[];
  /** 1 where the row breaks no error check. */
  readonly consistent = new Uint8Array(batchRows).fill(1);
  readonly names: readonly string[];
  private readonly key: readonly number[];

  constructor(pipeline: AnyPipeline) {
    this.names = Object.keys(pipeline.columns);
    this.key = keyPlaces(pipeline);
    const numbers: NumberColumn[] = [];
    const texts: TextColumn[] = [];
    for (const [index, { kind }] of Object.values(pipeline.columns).entries()) {
      if (kind === 'text') texts[index] = new TextColumn();
      else numbers[index] = { values: new Int32Array(batchRows), valid: new Uint8Array(batchRows) };
    }
    this.numbers = numbers;
    this.texts = texts;
  }

  get isFull(): boolean {
    return this.rows === batchRows;
  }

  /** Whether its texts are so long that no further page should be added. */
  get isHeavy(): boolean {
    return this.texts.some(({ starts }) => starts[this.rows]! > muchText);
  }

  /** The key of a row, column by column. */
  place(row: number): Place {
    return Object.fromEntries(
      this.key.map((index) => {
        const texts = this.texts[index];
        return [this.names[index]!, texts === undefined ? this.numbers[index]!.values[row]! : texts.text(row)];
      }),
    );
  }

  /** The batch as Arrow: the pipeline's columns in their order, then is_consistent. */
  toRecordBatch(): RecordBatch {
    const { rows } = this;
    const children: Data[] = this.names.map((_, index) => {
      const texts = this.texts[index];
      const { valid } = texts ?? this.numbers[index]!;
      const validity = { length: rows, nullCount: rows - countOnes(valid, rows), nullBitmap: packBits(valid, rows) };
      return texts === undefined
        ? arrow.makeData({ ...validity, type: new arrow.Int32(), data: this.numbers[index]!.values.subarray(0, rows) })
        : arrow.makeData({
            ...validity,
            type: new arrow.Utf8(),
            valueOffsets: texts.starts.subarray(0, rows + 1),
            data: texts.bytes.subarray(0, texts.starts[rows]),
          });
    });
    children.push(
      arrow.makeData({
        type: new arrow.Bool(),
        length: this.rows,
        nullCount: 0,
        data: packBits(this.consistent, this.rows),
      }),
    );
    const fields = [...this.names, consistencyColumn].map(
      (name, index) => new arrow.Field(name, children[index]!.type, name !== consistencyColumn),
    );
    const data = arrow.makeData({ type: new arrow.Struct(fields), length: this.rows, nullCount: 0, children });
    return new arrow.RecordBatch(new arrow.Schema(fields), data);
  }
}

/** One bit per row, least significant first, as Arrow and DuckDB both have it. */
function packBits(flags: Uint8Array, rows: number): Uint8Array {
  // Arrow wants whole 8-byte words.
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row += 1) if (flags[row] === 1) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

export function countOnes(flags: Uint8Array, rows: number): number {
  let ones = 0;
  for (let row = 0; row < rows; row += 1) ones += flags[row]!;
  return ones;
}

/** Adds a violation per broken sum and marks the rows that break an error check as inconsistent. */
export function checkRows(pipeline: AnyPipeline, batch: BatchBuilder, violations: Violation[]): void {
  for (const check of pipeline.checks) checkSum(pipeline.table, check, batch, violations);
}

function checkSum(dataset: string, check: SumCheck, batch: BatchBuilder, violations: Violation[]): void {
  const column = (name: string) => batch.numbers[batch.names.indexOf(name)]!;
  const whole = column(check.whole);
  /** Sums of two columns may not fit in 32 bits. */
  const sums = new Float64Array(batch.rows);
  const known = whole.valid.slice(0, batch.rows);
  for (const part of check.parts) addColumn(column(part), sums, known);
  for (const row of unequalRows(sums, whole.values, known)) {
    const [sum, actual] = [sums[row]!, whole.values[row]!];
    if (check.severity === 'error') batch.consistent[row] = 0;
    violations.push({
      dataset,
      place: batch.place(row),
      check_name: check.name,
      severity: check.severity,
      column_name: check.whole,
      raw_value: null,
      expected: String(sum),
      actual: String(actual),
    });
  }
}

/** An unknown part makes its row's sum unknown; its own violation has named it already. */
function addColumn({ values, valid }: NumberColumn, sums: Float64Array, known: Uint8Array): void {
  for (let row = 0; row < sums.length; row += 1) {
    sums[row]! += values[row]!;
    known[row]! &= valid[row]!;
  }
}

/** A function of its own, for one with a small loop alone is compiled soon and once. */
function unequalRows(sums: Float64Array, actual: Int32Array, known: Uint8Array): number[] {
  const rows: number[] = [];
  for (let row = 0; row < sums.length; row += 1) if (known[row] === 1 && sums[row] !== actual[row]) rows.push(row);
  return rows;
}
