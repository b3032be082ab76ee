/** Every way in which the service can be told to misbehave: its name, what it does, and what its value means. */

import { RekapError } from '../../errors.ts';
import type { Clock } from '../../runtime/context.ts';
import { checkRange, maxNumber } from '../limits.ts';

/**
 * All faults, in the order in which they are drawn and shown: name, what is wrong, default, sentence. 'source' changes the
 * records for good, 'time' delays the answer, 'records' puts other records into it, 'answer' spoils or replaces it. One
 * answer has at most one fault of the last kind: the first that is drawn.
 */
const faults = [
  ['drift', 'source', 0.02, 'the source changes permanently: a count grows, a record disappears or a new one appears'],
  ['slow', 'time', 0.02, 'the response is two seconds late'],
  ['foreign', 'records', 0.02, 'the filter by partition is ignored'],
  ['hide', 'records', 0.1, 'this share of the partitions is missing in the full listing'],
  ['shuffle', 'records', 0.02, 'the records of this response are in a different order'],
  ['restart', 'records', 0.02, 'offset is ignored: the response is the first page'],
  ['repeat', 'records', 0.02, 'the response is the previous page instead of the requested one'],
  ['clamp', 'records', 50, 'a response has at most this many records, even if limit is larger'],
  ['short', 'records', 0.02, 'the response has fewer records than limit, although there are more'],
  ['total', 'records', 1, 'count is the number of all matching records, not of those in the response'],
  ['drop', 'answer', 0.02, 'the connection is reset without a response'],
  ['429', 'answer', 0.02, 'too many requests, with Retry-After in seconds or as a date'],
  ['503', 'answer', 0.02, 'the service is unavailable'],
  ['500', 'answer', 0.02, 'the service fails with an internal error'],
  ['html', 'answer', 0.02, 'an HTML page with status 200, as from a proxy in front of the service'],
  ['stall', 'answer', 0.02, 'the response starts and then stalls until the client gives up'],
  ['truncate', 'answer', 0.02, 'the connection closes before the number of bytes in Content-Length'],
  ['cut', 'answer', 0.02, 'the JSON ends early, although the HTTP response is complete'],
] as const;

export type FaultName = (typeof faults)[number][0];
export type AnswerFault = Extract<(typeof faults)[number], readonly [string, 'answer', ...unknown[]]>[0];

/** The faults after which a careful client gets the right records by trying again. */
const transient: readonly FaultName[] = ['slow', 'drop', '429', '503', '500', 'stall', 'truncate', 'cut'];

/** `value` says what the value counts: how often, from 0 (never) to 1 (always), or how many records. */
export const faultList = faults.map(([name, spoils, usual, sentence]) => ({
  name,
  spoils,
  default: usual,
  sentence,
  value: name === 'clamp' ? ('records' as const) : ('rate' as const),
  passes: transient.includes(name),
}));

/** Which faults are on, each with its value. */
export type FaultValues = Readonly<Partial<Record<FaultName, number>>>;

/** How a service shall misbehave. */
export interface FaultSettings {
  readonly values: FaultValues;
  /** All chance follows from it: the same seed and the same requests give the same answers. */
  readonly seed: number;
  readonly clock: Clock;
  /** Told of every fault that an answer met, for counting them. */
  readonly onFault?: ((name: FaultName) => void) | undefined;
}

/** Names that stand for several faults, each at its default. */
export const presets: Readonly<Record<string, { readonly sentence: string; readonly faults: readonly FaultName[] }>> = {
  transient: { sentence: 'temporary faults: a careful client gets every record', faults: transient },
  hostile: {
    sentence: 'all faults: a careful client gets the correct records, or none',
    faults: faultList.map(({ name }) => name),
  },
};

/**
 * Gives the value back where the fault can have it.
 *
 * @param written The value as the user wrote it, for the message.
 * @throws `usage` naming the fault and what its value may be.
 */
export function checkFaultValue(
  { name, value: unit }: (typeof faultList)[number],
  value: number,
  written = String(value),
): number {
  const isRight =
    unit === 'rate' ? value >= 0 && value <= 1 : Number.isInteger(value) && value >= 1 && value <= maxNumber;
  if (isRight) return value;
  throw new RekapError(
    'usage',
    `${JSON.stringify(written)} is not a valid value of the fault ${name}.`,
    unit === 'rate'
      ? 'Use a rate from 0 (never) to 1 (always), such as 0.05.'
      : `Use a number of records from 1 to ${maxNumber}.`,
  );
}

/** @throws `usage` where a value or the seed is out of range. */
export function checkFaults({ values, seed }: FaultSettings): void {
  for (const fault of faultList) checkFaultValue(fault, values[fault.name] ?? fault.default);
  checkRange('The seed of the faults', seed, 0, maxNumber);
}
