/** Writes a record in a form that an engine can read without knowing JSON as rekap reads it. */

import { readText } from '../../kinds/read-field.ts';
import type { AnyPipeline } from '../../project/declaration.ts';
import { FieldKind, type Page } from '../../stages.ts';

/** The first character of a value in `fieldsOf`: how the source wrote it. A missing field isn't there. */
const written = { text: 't', number: 'n', other: 'j', null: 'z' } as const;

/** Returns the bytes of a record as text. */
export function recordText({ bytes, records }: Page, row: number): string {
  return bytes.toString('utf8', records.recordStart[row], records.recordEnd[row]);
}

/**
 * Returns the declared fields of a record by column, as JSON: the content of a string, or the text of any other value, after a character that
 * says which. Null if the record isn't an object. Escapes are resolved, so two records with the same content have the same text.
 */
export function fieldsOf(pipeline: AnyPipeline, page: Page, row: number): string | null {
  const { records, bytes } = page;
  if (records.isObject[row] !== 1) return null;
  const fields: Record<string, string> = {};
  for (const [index, column] of Object.keys(pipeline.columns).entries()) {
    const slot = row * records.width + index;
    const raw = (): string => bytes.toString('utf8', records.fieldStart[slot], records.fieldEnd[slot]);
    switch (records.fieldKind[slot]) {
      case FieldKind.missing:
        break;
      case FieldKind.null:
        fields[column] = written.null;
        break;
      case FieldKind.number:
        fields[column] = written.number + raw();
        break;
      case FieldKind.other:
        fields[column] = written.other + raw();
        break;
      default:
        fields[column] = written.text + readText(page, row, index)!;
    }
  }
  return JSON.stringify(fields);
}
