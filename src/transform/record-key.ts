/** Reads a record's key, or says why it has none that can be used. */

import { readInteger, readText } from '../fields.ts';
import { placeOf, type AnyPipeline } from '../pipeline.ts';
import { FieldKind, type Page, type Place } from '../stages.ts';
import { describeNoValue } from './no-value.ts';

export interface KeyReader {
  /** Why the record has no place in a table, or null where it has one. */
  complaint(page: Page, row: number): string | null;
  /** The key as one text; only for records without a complaint. */
  text(page: Page, row: number): string;
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
    text(page, row) {
      let text = '';
      for (const column of columns) {
        // Lengths keep neighbouring texts apart, whatever characters they hold.
        const part = value(page, row, column);
        text += typeof part === 'number' ? `${part} ` : `${part.length}:${part}`;
      }
      return text;
    },
    place(page, row) {
      return Object.fromEntries(columns.map((column) => [column.name, value(page, row, column)]));
    },
  };
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
      return 'is no text';
  }
}
