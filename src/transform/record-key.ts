/** Reads a record's key, or says why it has none that can be used. */

import { type AnyPipeline, placeOf } from '../pipeline.ts';
import { maxCount, NoCount, readInteger, readText } from '../records/fields.ts';
import { begin, type Fingerprint, mix, mixNumber } from '../records/fingerprints.ts';
import { FieldKind, type Page, type Place } from '../stages.ts';

export interface KeyReader {
  /** Why the record has no place in a table, or null where it has one. */
  complaint(page: Page, row: number): string | null;
  /**
   * Writes a fingerprint of the key as it is published: 07 is 7, and no escape counts. Only for records without a complaint. Of 10,000
   * keys two that differ have the same one with a probability of 3 in 10^12; the second would stand in quarantine.
   */
  fingerprint(page: Page, row: number, into: Fingerprint): void;
  /** The key column by column; only for records without a complaint. */
  place(page: Page, row: number): Place;
}

export function createKeyReader(pipeline: AnyPipeline): KeyReader {
  const columns = pipeline.key.map((name) => ({ name, index: placeOf(pipeline, name), ...pipeline.columns[name]! }));
  const value = (page: Page, row: number, { kind, index }: (typeof columns)[number]): number | string =>
    kind === 'integer' ? readInteger(page, row, index) : readText(page, row, index)!;

  return {
    complaint(page, row) {
      if (page.records.isObject[row] !== 1) return 'not an object';
      for (const { kind, field, index } of columns) {
        if (kind === 'integer') {
          const code = readInteger(page, row, index);
          if (code < 0) return `${field} ${describeNoValue(code)}`;
        } else {
          const problem = describeUnusableText(page, row, index);
          if (problem !== null) return `${field} ${problem}`;
        }
      }
      return null;
    },
    fingerprint(page, row, into) {
      begin(into);
      for (const { kind, index } of columns) {
        if (kind === 'integer') mixNumber(readInteger(page, row, index), into);
        else mixText(page, row, index, into);
      }
    },
    place(page, row) {
      return Object.fromEntries(columns.map((column) => [column.name, value(page, row, column)]));
    },
  };
}

/** A text's bytes are mixed as they stand there, unless it has another form in a table. */
function mixText(page: Page, row: number, column: number, into: Fingerprint): void {
  const { fieldKind, fieldStart, fieldEnd, width } = page.records;
  const slot = row * width + column;
  if (fieldKind[slot] === FieldKind.text) {
    mix(page.bytes, fieldStart[slot]!, fieldEnd[slot]!, into);
    return;
  }
  const text = Buffer.from(readText(page, row, column)!);
  mix(text, 0, text.length, into);
}

function describeUnusableText(page: Page, row: number, column: number): string | null {
  const slot = row * page.records.width + column;
  switch (page.records.fieldKind[slot]) {
    case FieldKind.text:
    case FieldKind.escaped:
      return page.records.fieldStart[slot] === page.records.fieldEnd[slot] ? 'is empty' : null;
    case FieldKind.missing:
      return 'is missing';
    case FieldKind.null:
      return 'is null';
    default:
      return 'is not text';
  }
}

/** In words, as the rest of a sentence that begins with the field's name. */
const words: Readonly<Record<keyof typeof NoCount, string>> = {
  missing: 'is missing',
  null: 'is null',
  empty: 'is empty',
  malformed: `is not a whole number in digits, or is more than ${maxCount}`,
};

/** The name under which a violation records the code of `NoCount`. */
export function noValueCheck(code: number): keyof typeof NoCount {
  for (const [name, known] of Object.entries(NoCount)) if (known === code) return name as keyof typeof NoCount;
  throw new RangeError(`${code} says of no field why it gives no value`);
}

/** What is wrong, as the rest of a sentence that begins with the field's name. */
function describeNoValue(code: number): string {
  return words[noValueCheck(code)];
}
