/** Every way in which the service can be told to misbehave: its name, what its value means, and what it does. */

import { RekapError } from '../../errors.ts';
import type { Clock } from '../../context.ts';
import { maxNumber } from '../limits.ts';

/** One way to misbehave. */
export interface Fault {
  readonly name: string;
  /** What the value says: how often, from 0 (never) to 1 (always), or how many records. */
  readonly value: 'rate' | 'records';
  /** The value where only the name is given. */
  readonly default: number;
  /**
   * What is wrong: 'source' changes the records for good, 'time' delays the answer, 'records' puts other records into it,
   * 'answer' spoils or replaces it. One answer has at most one fault of the last kind: the first that is drawn, in this order.
   */
  readonly spoils: 'source' | 'time' | 'records' | 'answer';
  /** Whether a careful client gets the right records in the end, by trying again. */
  readonly passes: boolean;
  readonly sentence: string;
}

/** All faults, in the order in which they are drawn and shown. */
export const faultList = [
  {
    name: 'drift',
    value: 'rate',
    default: 0.02,
    spoils: 'source',
    passes: false,
    sentence: 'the source changes for good: a count grows, a record goes or a new one comes',
  },
  {
    name: 'slow',
    value: 'rate',
    default: 0.02,
    spoils: 'time',
    passes: true,
    sentence: 'the answer comes two seconds late',
  },
  {
    name: 'foreign',
    value: 'rate',
    default: 0.02,
    spoils: 'records',
    passes: false,
    sentence: 'the filter by district is ignored',
  },
  {
    name: 'hide',
    value: 'rate',
    default: 0.1,
    spoils: 'records',
    passes: false,
    sentence: 'this share of the districts is missing from the list without a filter',
  },
  {
    name: 'shuffle',
    value: 'rate',
    default: 0.02,
    spoils: 'records',
    passes: false,
    sentence: 'the records are paged in another order for this one answer',
  },
  {
    name: 'restart',
    value: 'rate',
    default: 0.02,
    spoils: 'records',
    passes: false,
    sentence: 'offset is ignored: the first page is given again',
  },
  {
    name: 'repeat',
    value: 'rate',
    default: 0.02,
    spoils: 'records',
    passes: false,
    sentence: 'the page before the one that was asked for is given again',
  },
  {
    name: 'clamp',
    value: 'records',
    default: 50,
    spoils: 'records',
    passes: false,
    sentence: 'an answer holds at most so many records, whatever limit asks for',
  },
  {
    name: 'short',
    value: 'rate',
    default: 0.02,
    spoils: 'records',
    passes: false,
    sentence: 'the answer holds fewer records than limit asks for, although more follow',
  },
  {
    name: 'total',
    value: 'rate',
    default: 1,
    spoils: 'records',
    passes: false,
    sentence: 'count is the number of all matching records, not of those in the answer',
  },
  {
    name: 'drop',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the connection is reset without an answer',
  },
  {
    name: '429',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'too many requests, with Retry-After in seconds or as a date',
  },
  {
    name: '503',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the service is not available',
  },
  {
    name: '500',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the service fails',
  },
  {
    name: 'html',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: false,
    sentence: 'an HTML page with status 200, as from a proxy in front of the service',
  },
  {
    name: 'stall',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the answer begins and then stops, until the client gives up',
  },
  {
    name: 'truncate',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the connection closes before the length that was promised',
  },
  {
    name: 'cut',
    value: 'rate',
    default: 0.02,
    spoils: 'answer',
    passes: true,
    sentence: 'the JSON ends in its midst, although the HTTP answer is whole',
  },
] as const satisfies readonly Fault[];

export type FaultName = (typeof faultList)[number]['name'];

/** Which faults are on, each with its value. */
export type FaultValues = Readonly<Partial<Record<FaultName, number>>>;

/** What a service is told that shall misbehave. */
export interface FaultSettings {
  readonly values: FaultValues;
  /** Everything that is left to chance follows from it: the same seed and the same requests give the same answers. */
  readonly seed: number;
  readonly clock: Clock;
  /** Told of every fault that an answer was given, for counting them. */
  readonly onFault?: ((name: FaultName) => void) | undefined;
}

/** Names that stand for several faults, each at its default. */
export const presets: Readonly<Record<string, { readonly sentence: string; readonly faults: readonly FaultName[] }>> = {
  transient: {
    sentence: 'faults that pass: a careful client brings every record home',
    faults: faultList.filter(({ passes }) => passes).map(({ name }) => name),
  },
  hostile: {
    sentence: 'all faults: a careful client brings the right records home, or none',
    faults: faultList.map(({ name }) => name),
  },
};

/**
 * The value itself where a fault can have it.
 *
 * @param written The value as the user wrote it, for the message.
 * @throws `usage` naming the fault and what its value may be.
 */
export function checkFaultValue(fault: Fault, value: number, written = String(value)): number {
  const isRight =
    fault.value === 'rate' ? value >= 0 && value <= 1 : Number.isInteger(value) && value >= 1 && value <= maxNumber;
  if (isRight) return value;
  throw new RekapError(
    'usage',
    `The fault ${fault.name} cannot have the value ${JSON.stringify(written)}.`,
    fault.value === 'rate'
      ? 'Give a rate from 0 (never) to 1 (always), such as 0.05.'
      : `Give a number of records from 1 to ${maxNumber}.`,
  );
}

/**
 * Checks the settings before the service starts.
 *
 * @throws `usage` where a value or the seed is out of range.
 */
export function checkFaults({ values, seed }: FaultSettings): void {
  for (const fault of faultList) {
    const value = values[fault.name];
    if (value !== undefined) checkFaultValue(fault, value);
  }
  if (!Number.isInteger(seed) || seed < 0 || seed > maxNumber)
    throw new RekapError('usage', `The seed of the faults is ${seed}.`, `Give a whole number from 0 to ${maxNumber}.`);
}
