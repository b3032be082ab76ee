/** Reads texts as UTF-8. */

import { batchRows, type Column, validityOf } from './column.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { nullReasonOf, readText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import { FieldKind, type Page } from '../stages.ts';

/** @param isAny If true, numbers, true and false are texts too, as they were written. */
export function textKind(isAny: boolean): Kind {
  return isAny ? { ...plainTexts, newColumn: (rows) => new TextColumn(rows, isScalar) } : plainTexts;
}

/** Keeps any value as JSON, as it was written. */
export const jsonKind: Kind = {
  sqlType: 'VARCHAR',
  stagedType: 'VARCHAR',
  ...describeMalformed('is not valid JSON', 'bukan JSON yang sah'),
  schema: {},
  newColumn: (rows) => new TextColumn(rows, () => true, true),
};

const plainTexts: Kind = {
  sqlType: 'VARCHAR',
  stagedType: 'VARCHAR',
  ...describeMalformed('is not valid text', 'bukan teks yang sah'),
  schema: { type: 'string' },
  newColumn: (rows) => new TextColumn(rows),
};

/** Copies bytes, because decoding and encoding a name costs more than everything else in a row. */
export class TextColumn implements Column {
  readonly valid: Uint8Array;
  /** Start of each text, followed by the start of the next one. */
  readonly starts: Int32Array;
  bytes: Uint8Array;
  private readonly takes: (page: Page, slot: number) => boolean;
  private readonly keepsQuotes: boolean;

  /** @param takes Whether to take a value that isn't a string, as it was written. */
  constructor(rows = batchRows, takes: TextColumn['takes'] = () => false, keepsQuotes = false) {
    this.takes = takes;
    this.keepsQuotes = keepsQuotes;
    this.valid = new Uint8Array(rows);
    this.starts = new Int32Array(rows + 1);
    this.bytes = new Uint8Array(4 * rows);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const { fieldKind, fieldStart, fieldEnd, width } = page.records;
    const slot = record * width + column;
    const kind = fieldKind[slot];
    const [start, end] = [fieldStart[slot]!, fieldEnd[slot]!];
    const isString = kind === FieldKind.text || kind === FieldKind.escaped;
    if (isString && this.keepsQuotes && start < end) return this.set(row, page.bytes, start - 1, end + 1);
    if ((kind === FieldKind.number || kind === FieldKind.other) && this.takes(page, slot))
      return this.set(row, page.bytes, start, end);
    if (kind === FieldKind.text) return this.set(row, page.bytes, start, end);
    if (kind !== FieldKind.escaped) return this.skip(row, nullReasonOf(kind));
    const text = Buffer.from(readText(page, record, column)!);
    return this.set(row, text, 0, text.length);
  }

  private set(row: number, bytes: Uint8Array, start: number, end: number): number {
    if (start === end) return this.skip(row, NullReason.empty);
    const own = this.starts[row]!;
    const size = own + end - start;
    if (size > this.bytes.length) {
      const larger = new Uint8Array(size * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    // For short names, a loop is faster than creating a view.
    for (let at = start; at < end; at += 1) this.bytes[own + at - start] = bytes[at]!;
    this.starts[row + 1] = size;
    this.valid[row] = 1;
    return 0;
  }

  private skip(row: number, code: number): number {
    this.starts[row + 1] = this.starts[row]!;
    this.valid[row] = 0;
    return code;
  }

  mix(row: number, into: FingerprintHash): void {
    into.add(FieldKind.text, this.bytes, this.starts[row]!, this.starts[row + 1]!);
  }

  value(row: number): string | null {
    return this.valid[row] === 1
      ? Buffer.from(this.bytes.buffer as ArrayBuffer).toString('utf8', this.starts[row], this.starts[row + 1])
      : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Utf8(),
      valueOffsets: this.starts.subarray(0, rows + 1),
      data: this.bytes.subarray(0, this.starts[rows]),
    });
  }
}

/** Returns whether a value that isn't a string is a number, true or false, and occurs once. */
function isScalar({ records, bytes }: Page, slot: number): boolean {
  const { fieldKind, fieldStart, fieldEnd } = records;
  return (
    fieldKind[slot] === FieldKind.number ||
    /^(true|false)$/.test(bytes.toString('latin1', fieldStart[slot], fieldEnd[slot]))
  );
}
