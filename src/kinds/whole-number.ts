/** Reads whole numbers, stored in 32 bits if their bounds fit, and otherwise in 64 bits. */

import { LongColumn, SmallColumn, type Units } from './column.ts';
import type { Kind, Phrase } from './kind.ts';
import * as arrow from '../runtime/arrow.ts';
import { readDecimal } from './decimal.ts';
import { maxCount, readInteger, readNumberText } from './read-field.ts';
import { NullReason } from '../project/reserved.ts';
import { formatNumber } from '../runtime/text.ts';
import { withoutGroups } from './separators.ts';
import type { Separator } from '../project/declaration.ts';
import { FieldKind, type Page } from '../stages.ts';

const least64 = -(2n ** 63n);
const most64 = 2n ** 63n - 1n;

interface WholeNumber {
  /** Lower bound, inclusive; undefined for the minimum of 64 bits. */
  readonly min?: number;
  /** Upper bound, inclusive. */
  readonly max?: number;
  /** Separates groups of three digits. */
  readonly group?: Separator;
}

export function countKind(group: Separator | undefined): Kind {
  return wholeNumberKind({ min: 0, max: maxCount, ...(group !== undefined && { group }) });
}

/** A JSON number may have a point or an exponent, such as 12.0 or 1e3, if it is whole. In a text, the point could separate groups. */
export function wholeNumberKind({ min, max, group }: WholeNumber): Kind {
  const [least, most] = [min === undefined ? least64 : BigInt(min), max === undefined ? most64 : BigInt(max)];
  const isSmall = least >= -BigInt(maxCount) - 1n && most <= BigInt(maxCount);
  const isUnsigned = least >= 0n;
  const sqlType = isSmall ? 'INTEGER' : 'BIGINT';
  const read = (page: Page, record: number, column: number): bigint | number => {
    const written = readNumberText(page, record, column);
    if (typeof written === 'number') return written;
    const isNumber = page.records.fieldKind[record * page.records.width + column] === FieldKind.number;
    const text = isNumber || group === undefined ? written : (withoutGroups(written, group) ?? '');
    if (!isNumber && !/^-?[0-9]{1,40}$/.test(text)) return NullReason.malformed;
    const value = readDecimal(text, 0);
    return typeof value === 'number' || value < least || value > most ? NullReason.malformed : value;
  };
  return {
    sqlType,
    stagedType: sqlType,
    malformed(raw): Phrase {
      // The first digits decide, and a number may have any length.
      const number = /^-?[0-9]+$/.test(raw ?? '') ? BigInt(raw!.slice(0, 38)) : null;
      if (number !== null && number < least)
        return {
          en: `is less than ${formatNumber(least)}, the minimum of the column`,
          id: `kurang dari ${formatNumber(least)}, nilai minimum kolom`,
        };
      if (number !== null && number > most)
        return {
          en: `is more than ${formatNumber(most)}, the maximum of the column`,
          id: `lebih dari ${formatNumber(most)}, nilai maksimum kolom`,
        };
      return { en: 'is not a whole number', id: 'bukan bilangan bulat' };
    },
    unusable: `is not a whole number in digits, or is not between ${least} and ${most}`,
    bounds: [least, most],
    schema: { type: 'string', pattern: isUnsigned ? '^[0-9]+$' : '^-?[0-9]+$' },
    newColumn(rows) {
      if (!isSmall)
        return new LongColumn(
          {
            read,
            print: (units) => units,
            toData: (data, validity) => arrow.makeData({ ...validity, type: new arrow.Int64(), data }),
          },
          rows,
        );
      const small: Units<Int32Array> = {
        read,
        print: Number,
        toData: (data, validity) => arrow.makeData({ ...validity, type: new arrow.Int32(), data }),
      };
      return isUnsigned && group === undefined
        ? new CountColumn(small, Number(least), Number(most), rows)
        : new SmallColumn(small, rows);
    },
  };
}

/** Reads digits without a bigint, as most columns of most sources are counts. */
class CountColumn extends SmallColumn {
  private readonly min: number;
  private readonly max: number;

  constructor(units: Units<Int32Array>, min: number, max: number, rows?: number) {
    super(units, rows);
    this.min = min;
    this.max = max;
  }

  override fill(page: Page, record: number, column: number, row: number): number {
    let value = readInteger(page, record, column);
    // It may be a number such as 12.0.
    if (value === NullReason.malformed) return super.fill(page, record, column, row);
    if (value >= 0 && (value < this.min || value > this.max)) value = NullReason.malformed;
    this.valid[row] = value < 0 ? 0 : 1;
    this.values[row] = value < 0 ? 0 : value;
    return value < 0 ? value : 0;
  }
}
