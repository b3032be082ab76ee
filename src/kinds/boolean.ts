/** Reads true and false, as JSON literals or texts. */

import { batchRows, type Column, type Kind, packBits, validityOf } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { nullReasonOf, readRaw } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import type { FingerprintHash } from './fingerprints.ts';
import type { Page } from '../stages.ts';

export const booleanKind: Kind = {
  sqlType: 'BOOLEAN',
  stagedType: 'BOOLEAN',
  malformed: () => ({ en: 'is neither true nor false', id: 'bukan true maupun false' }),
  unusable: 'is neither true nor false',
  schema: { type: 'string', enum: ['true', 'false'] },
  newColumn: (rows) => new BooleanColumn(rows),
};

class BooleanColumn implements Column {
  readonly valid: Uint8Array;
  private readonly values: Uint8Array;

  constructor(rows = batchRows) {
    this.valid = new Uint8Array(rows);
    this.values = new Uint8Array(rows);
  }

  fill(page: Page, record: number, column: number, row: number): number {
    const raw = readRaw(page, record, column);
    const isKnown = raw === 'true' || raw === 'false';
    this.valid[row] = isKnown ? 1 : 0;
    this.values[row] = raw === 'true' ? 1 : 0;
    if (isKnown) return 0;
    if (raw === '') return NullReason.empty;
    return raw === null
      ? nullReasonOf(page.records.fieldKind[record * page.records.width + column])
      : NullReason.malformed;
  }

  mix(row: number, into: FingerprintHash): void {
    into.addNumber(this.values[row]!);
  }

  value(row: number): boolean | null {
    return this.valid[row] === 1 ? this.values[row] === 1 : null;
  }

  toData(rows: number) {
    return arrow.makeData({
      ...validityOf(this.valid, rows),
      type: new arrow.Bool(),
      data: packBits(this.values, rows),
    });
  }
}
