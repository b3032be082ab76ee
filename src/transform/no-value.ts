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
