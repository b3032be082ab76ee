/** Reads floating-point numbers of 64 bits. For exact digits, use decimals. */

import { batchRows, type Column, validityOf } from './column.ts';
import type { FingerprintHash } from './fingerprints.ts';
import { describeMalformed, type Kind } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readNumberText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { Page } from '../stages.ts';

export const doubleKind: Kind = {
  sqlType: 'DOUBLE',
  stagedType: 'DOUBLE',
  ...describeMalformed('is not a number', 'bukan bilangan'),
  schema: { type: 'number' },
  newColumn: (rows) => new DoubleColumn(rows),
};

class DoubleColumn implements Column {
  readonly valid: Uint8Array;
  private readonly values: Float64Array;
  private readonly words: Int32Array;

  constructor(rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.values = new Float64Array(rows);
    this.words = new Int32Array(this.values.buffer);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const text = readNumberText(page, record, column);
    const isNumber = typeof text === 'string' && /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/.test(text);
    // -0 is 0, so that both have one fingerprint.
    const value = isNumber ? Number(text) + 0 : Number.NaN;
    const isValid = Number.isFinite(value);
    this.valid[row] = isValid ? 1 : 0;
    this.values[row] = isValid ? value : 0;
    if (isValid) return 0;
    return typeof text === 'number' ? text : NullReason.malformed;
  }

  mix(row: number, into: FingerprintHash): void {
    into.addNumber(this.words[2 * row]!);
    into.addNumber(this.words[2 * row + 1]!);
  }

  value(row: number): string | null {
    if (this.valid[row] !== 1) return null;
    const value = this.values[row]!;
    return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value);
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Float64(),
      data: this.values.subarray(0, rows),
    });
  }
}
