/** Fills the columns of one batch, Int32 with validity for numbers and dictionaries for texts, and hands them over as Arrow. */

import type { Data, Dictionary, Int32, RecordBatch, Utf8 } from 'apache-arrow';
import { consistencyColumn } from '../define-pipeline.ts';
import { type AnyPipeline, keyPlaces, type SumCheck } from '../pipeline.ts';
import * as arrow from '../records/arrow.ts';
import type { Place, Violation } from '../stages.ts';
import { TextColumn } from './text-column.ts';

/** Rows of a full batch; a multiple of DuckDB's 2,048. */
const batchRows = 16_384;
/** Bytes of texts with which a batch is handed on at the end of a page, full or not: Arrow counts them in 31 bits. */
const muchText = 1 << 24;

/** A column of whole numbers; `valid[row]` is 0 for NULL. */
export interface NumberColumn {
  readonly values: Int32Array;
  readonly valid: Uint8Array;
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
      if (kind === 'text') texts[index] = new TextColumn(batchRows);
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
    return this.texts.reduce((sum, { size }) => sum + size, 0) > muchText;
  }

  /** The key of a row, column by column. */
  place(row: number): Place {
    return Object.fromEntries(
      this.key.map((index) => {
        const texts = this.texts[index];
        return [this.names[index]!, texts === undefined ? this.numbers[index]!.values[row]! : textAt(texts, row)];
      }),
    );
  }

  /** The batch as Arrow: the pipeline's columns in their order, then is_consistent. */
  toRecordBatch(): RecordBatch {
    const children: Data[] = this.names.map((_, index) => {
      const texts = this.texts[index];
      return texts === undefined ? numberData(this.numbers[index]!, this.rows) : textData(texts, this.rows);
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

function numberData({ values, valid }: NumberColumn, rows: number): Data<Int32> {
  return arrow.makeData({
    type: new arrow.Int32(),
    length: rows,
    nullCount: countZeros(valid, rows),
    nullBitmap: packBits(valid, rows),
    data: values.subarray(0, rows),
  });
}

function textData({ codes, length, dictionary }: TextColumn, rows: number): Data<Dictionary<Utf8, Int32>> {
  const valid = validityOf(codes, rows);
  return arrow.makeData({
    type: new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()),
    length: rows,
    nullCount: countZeros(valid, rows),
    nullBitmap: packBits(valid, rows),
    data: codes.subarray(0, rows),
    dictionary: new arrow.Vector([
      arrow.makeData({
        type: new arrow.Utf8(),
        length,
        nullCount: 0,
        valueOffsets: dictionary.starts,
        data: dictionary.bytes,
      }),
    ]),
  });
}

/** 1 where a row has a text. */
function validityOf(codes: Int32Array, rows: number): Uint8Array {
  const valid = new Uint8Array(rows);
  for (let row = 0; row < rows; row += 1) valid[row] = codes[row]! < 0 ? 0 : 1;
  return valid;
}

/** Null where the row has none. */
function textAt(texts: TextColumn, row: number): string | null {
  const code = texts.codes[row]!;
  return code < 0 ? null : texts.text(code);
}

/** One bit per row, least significant first, as Arrow and DuckDB both have it. */
function packBits(flags: Uint8Array, rows: number): Uint8Array {
  // Arrow wants whole 8-byte words.
  const bits = new Uint8Array(Math.ceil(rows / 64) * 8);
  for (let row = 0; row < rows; row += 1) if (flags[row] === 1) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}

function countZeros(flags: Uint8Array, rows: number): number {
  let zeros = 0;
  for (let row = 0; row < rows; row += 1) if (flags[row] === 0) zeros += 1;
  return zeros;
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
      message: `${check.whole} is ${actual}, but ${check.parts.join(' + ')} is ${sum}`,
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
