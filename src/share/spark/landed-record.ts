/** Writes a record in a form that an engine can read without knowing JSON as rekap reads it. */

import { readRaw } from '../../kinds/read-field.ts';
import type { AnyPipeline } from '../../project/declaration.ts';
import { FieldKind, type Page } from '../../stages.ts';

/** The first character of a value in `fieldsOf`, which says how the source wrote it; `t` for a string. A missing field isn't there. */
const letters: Readonly<Record<number, string>> = {
  [FieldKind.null]: 'z',
  [FieldKind.number]: 'n',
  [FieldKind.other]: 'j',
};

/** Returns the bytes of a record as text. */
export function recordText({ bytes, records }: Page, row: number): string {
  return bytes.toString('utf8', records.recordStart[row], records.recordEnd[row]);
}

/**
 * Returns the declared fields of a record by column, as JSON: the content of a string, or the text of any other value, after a character that
 * says which. Null if the record isn't an object. Escapes are resolved, so two records with the same content have the same text.
 */
export function fieldsOf(pipeline: AnyPipeline, page: Page, row: number): string | null {
  const { records } = page;
  if (records.isObject[row] !== 1) return null;
  const fields: Record<string, string> = {};
  for (const [index, column] of Object.keys(pipeline.columns).entries()) {
    const kind = records.fieldKind[row * records.width + index]!;
    if (kind !== FieldKind.missing) fields[column] = (letters[kind] ?? 't') + (readRaw(page, row, index) ?? '');
  }
  return JSON.stringify(fields);
}
