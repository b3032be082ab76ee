/** Reads fields of a record from the bytes of a page, with exact digits and texts. */

import { NullReason } from '../project/reserved.ts';
import { FieldKind, type Page } from '../stages.ts';

export const maxCount = 2_147_483_647;

/** Returns the name of a reason, which is also the name of its check. */
export function nullReasonName(code: number): keyof typeof NullReason {
  for (const [name, value] of Object.entries(NullReason)) if (value === code) return name as keyof typeof NullReason;
  throw new RangeError(`${code} is not a code of NullReason`);
}

/** Returns why a field without a string or a number is null; `malformed` for other types. */
export function nullReasonOf(fieldKind: number | undefined): number {
  if (fieldKind === FieldKind.missing) return NullReason.missing;
  if (fieldKind === FieldKind.null) return NullReason.null;
  return NullReason.malformed;
}

/** Parses decimal digits; `malformed` for other bytes, and for numbers above `maxCount`. */
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

/** Reads a field as a whole number from 0 to `maxCount`, or returns a code of `NullReason`. Accepts strings and JSON numbers. */
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
    default:
      return nullReasonOf(records.fieldKind[slot]);
  }
}

/** Reads a field as text; null if it is missing, null, or not a string. */
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

/** Reads the text of a number from a string or a JSON number, or returns a code of `NullReason`. */
export function readNumberText(page: Page, row: number, column: number): string | number {
  const slot = row * page.records.width + column;
  return page.records.fieldKind[slot] === FieldKind.number
    ? page.bytes.toString('latin1', page.records.fieldStart[slot], page.records.fieldEnd[slot])
    : readStringText(page, row, column);
}

/** Reads a string, or returns a code of `NullReason` if it is empty or not a string. */
export function readStringText(page: Page, row: number, column: number): string | number {
  const text = readText(page, row, column);
  if (text !== null) return text === '' ? NullReason.empty : text;
  return nullReasonOf(page.records.fieldKind[row * page.records.width + column]);
}

/** Reads a field as the source wrote it: the content of a string, or JSON; null if it is missing or null. */
export function readRaw(page: Page, row: number, column: number): string | null {
  const { fieldKind, fieldStart, fieldEnd, width } = page.records;
  const slot = row * width + column;
  if (fieldKind[slot] === FieldKind.missing || fieldKind[slot] === FieldKind.null) return null;
  return readText(page, row, column) ?? page.bytes.toString('utf8', fieldStart[slot], fieldEnd[slot]);
}

/** Returns the unescaped bytes of a string, because servers escape differently; null for any field without escapes, whose bytes are in the page. */
export function unescapedBytes({ records, bytes }: Page, slot: number): Buffer | null {
  if (records.fieldKind[slot] !== FieldKind.escaped) return null;
  return Buffer.from(decodeString(bytes, records.fieldStart[slot]!, records.fieldEnd[slot]!));
}

export function kindOfValue({ records }: Page, slot: number): number {
  const kind = records.fieldKind[slot]!;
  return kind === FieldKind.escaped ? FieldKind.text : kind;
}

function decodeString(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
}
