/** Why a field gives no value: missing, null, empty and malformed are told apart, in a check's name and in words. */

import { maxCount, NoCount } from '../records/fields.ts';
import { formatNumber } from '../runtime/numbers.ts';

/** In words, as the rest of a sentence that begins with the field's name. */
const words: Readonly<Record<keyof typeof NoCount, string>> = {
  missing: 'is missing',
  null: 'is null',
  empty: 'is empty',
  malformed: `is no whole number in digits up to ${maxCount}`,
};

/** The name under which a violation records the code of `NoCount`. */
export function noValueCheck(code: number): keyof typeof NoCount {
  for (const [name, known] of Object.entries(NoCount)) if (known === code) return name as keyof typeof NoCount;
  throw new RangeError(`${code} says of no field why it gives no value`);
}

/** What is wrong, as the rest of a sentence that begins with the field's name. */
export function describeNoValue(code: number): string {
  return words[noValueCheck(code)];
}

/** What is wrong with a malformed value of which this text stood in the record. Digits alone are malformed only where they are too many. */
export function describeMalformed(raw: string | null, isText: boolean): string {
  if (isText) return 'no text';
  return /^[0-9]+$/.test(raw ?? '')
    ? `more than the ${formatNumber(maxCount)} that a column holds`
    : 'no whole number in digits';
}
