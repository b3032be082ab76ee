/** Reads single fields of a record where they lie in a page's bytes: exact digits and texts. */

import { NullReason } from '../project/reserved.ts';
import { FieldKind, type Page } from '../stages.ts';

/** The largest count that a table holds: INTEGER is signed 32-bit. */
export const maxCount = 2_147_483_647;

/** Returns the name of a reason, which is also the name of its check. */
export function nullReasonName(code: number): keyof typeof NullReason {
  for (const [name, known] of Object.entries(NullReason)) if (known === code) return name as keyof typeof NullReason;
  throw new RangeError(`${code} says of no field why it gives no value`);
}

/** The decimal digits in bytes `start` to `end` as a number; -4 (malformed) for anything but 0-9 and above `maxCount`. */
export function readDigits(bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) return NullReason.malformed;
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = bytes[at]! - 0x30;
    if (digit < 0 || digit > 9) return NullReason.malformed;
    value = value * 10 + digit;
    if (value > maxCount) return NullReason.malformed;
  }
  return value;
}

/** A record's field as a whole number from 0 to 2,147,483,647, or one of `NullReason`. A JSON number is read by its digits too. */
export function readInteger(page: Page, row: number, column: number): number {
  const { records, bytes } = page;
  const slot = row * records.width + column;
  const start = records.fieldStart[slot]!;
  const end = records.fieldEnd[slot]!;
  switch (records.fieldKind[slot]) {
    case FieldKind.text:
      return start === end ? NullReason.empty : readDigits(bytes, start, end);
    case FieldKind.number:
      return readDigits(bytes, start, end);
    case FieldKind.escaped: {
      const decoded = Buffer.from(decodeString(bytes, start, end));
      return readDigits(decoded, 0, decoded.length);
    }
    case FieldKind.missing:
      return NullReason.missing;
    case FieldKind.null:
      return NullReason.null;
    default:
      return NullReason.malformed;
  }
}

/** A record's field as text: null where it is missing, null, or no string. */
export function readText(page: Page, row: number, column: number): string | null {
  const { records, bytes } = page;
  const slot = row * records.width + column;
  const start = records.fieldStart[slot]!;
  const end = records.fieldEnd[slot]!;
  switch (records.fieldKind[slot]) {
    case FieldKind.text:
      return bytes.toString('utf8', start, end);
    case FieldKind.escaped:
      return decodeString(bytes, start, end);
    default:
      return null;
  }
}

/** A record's field as the text of a number: what a string holds, or the digits of a JSON number; else the code of `NullReason`. */
export function readNumberText(page: Page, row: number, column: number): string | number {
  const slot = row * page.records.width + column;
  return page.records.fieldKind[slot] === FieldKind.number
    ? page.bytes.toString('latin1', page.records.fieldStart[slot], page.records.fieldEnd[slot])
    : readStringText(page, row, column);
}

/** What a string holds; the code of `NullReason` where it is empty, or the field holds none. */
export function readStringText(page: Page, row: number, column: number): string | number {
  const text = readText(page, row, column);
  if (text !== null) return text === '' ? NullReason.empty : text;
  switch (page.records.fieldKind[row * page.records.width + column]) {
    case FieldKind.missing:
      return NullReason.missing;
    case FieldKind.null:
      return NullReason.null;
    default:
      return NullReason.malformed;
  }
}

/** A record's field as the source wrote it: a string's content, any other value's JSON; null where it is missing or null. */
export function readRaw(page: Page, row: number, column: number): string | null {
  const kind = page.records.fieldKind[row * page.records.width + column];
  if (kind === FieldKind.missing || kind === FieldKind.null) return null;
  const text = readText(page, row, column);
  if (text !== null) return text;
  const slot = row * page.records.width + column;
  return page.bytes.toString('utf8', page.records.fieldStart[slot], page.records.fieldEnd[slot]);
}

/**
 * The bytes of a string that holds escapes, as they would stand there without; null of any other field, whose bytes stand in the page.
 * One server escapes what another one does not, and means the same. What has no other form than its escapes, such as half a surrogate
 * pair, is left as it is.
 */
export function unescapedBytes({ records, bytes }: Page, slot: number): Buffer | null {
  if (records.fieldKind[slot] !== FieldKind.escaped) return null;
  const text = parseString(bytes, records.fieldStart[slot]!, records.fieldEnd[slot]!);
  return text.isWellFormed() ? Buffer.from(text) : null;
}

/** The kind of a field's value: a string is one, with escapes or without. */
export function kindOfValue({ records }: Page, slot: number): number {
  const kind = records.fieldKind[slot]!;
  return kind === FieldKind.escaped ? FieldKind.text : kind;
}

function decodeString(bytes: Buffer, start: number, end: number): string {
  // A lone surrogate such as \ud800 has no UTF-8 form; it becomes the replacement character, as it would in any file.
  return parseString(bytes, start, end).toWellFormed();
}

function parseString(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
}
