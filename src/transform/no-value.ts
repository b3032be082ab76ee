/** Why a field gives no value: missing, null, empty and malformed are told apart, in a check's name and in words. */

import { maxCount, NoCount } from '../fields.ts';

/** The name under which a violation records the code of `NoCount`. */
export function noValueCheck(code: number): string {
  switch (code) {
    case NoCount.missing:
      return 'missing';
    case NoCount.null:
      return 'null';
    case NoCount.empty:
      return 'empty';
    default:
      return 'malformed';
  }
}

/** What is wrong, as the rest of a sentence that begins with the field's name. */
export function describeNoValue(code: number): string {
  switch (code) {
    case NoCount.missing:
      return 'is missing';
    case NoCount.null:
      return 'is null';
    case NoCount.empty:
      return 'is empty';
    default:
      return `is no whole number in digits up to ${maxCount}`;
  }
}

/** What is wrong with a malformed value of which this text stood in the record. Digits alone are malformed only where they are too many. */
export function describeMalformed(raw: string | null, isText: boolean): string {
  if (isText) return 'no text';
  return /^[0-9]+$/.test(raw ?? '')
    ? `more than the ${maxCount.toLocaleString('en')} that a column holds`
    : 'no whole number in digits';
}
