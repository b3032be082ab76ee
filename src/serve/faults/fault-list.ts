/** Lists the faults of the test service, with names, effects and values. */

import { RekapError } from '../../errors.ts';
import type { Clock } from '../../runtime/context.ts';
import { checkRange, maxNumber } from '../limits.ts';

/**
 * In the order of drawing and display: name, kind, default, description.
 * 'source' changes the records permanently, 'time' delays the response, 'records' returns other records, 'response' damages or replaces it.
 * A response has at most one fault of kind 'response': the first that is drawn.
 */
const faults = [
  ['drift', 'source', 0.02, 'the source changes permanently: a count grows, a record disappears or a new one appears'],
  ['slow', 'time', 0.02, 'the response is two seconds late'],
  ['foreign', 'records', 0.02, 'the filter by partition is ignored'],
  ['hide', 'records', 0.1, 'some partitions are missing in the full listing'],
  ['shuffle', 'records', 0.02, 'the records of this response are in a different order'],
  ['restart', 'records', 0.02, 'offset is ignored: the response is the first page'],
  ['repeat', 'records', 0.02, 'the response is the previous page instead of the requested one'],
  ['clamp', 'records', 50, 'a page has a maximum number of records, even if limit is larger'],
  ['short', 'records', 0.02, 'the response has fewer records than limit, although there are more'],
  ['total', 'records', 1, 'count is the number of all matching records, not of those in the response'],
  ['drop', 'response', 0.02, 'the connection is reset without a response'],
  ['429', 'response', 0.02, 'too many requests, with Retry-After in seconds or as a date'],
  ['503', 'response', 0.02, 'the service is unavailable'],
  ['500', 'response', 0.02, 'the service fails with an internal error'],
  ['html', 'response', 0.02, 'an HTML page with status 200, as from a proxy in front of the service'],
  ['stall', 'response', 0.02, 'the response starts and then stalls until the client gives up'],
  ['truncate', 'response', 0.02, 'the connection closes before the number of bytes in Content-Length'],
  ['cut', 'response', 0.02, 'the JSON ends early, although the HTTP response is complete'],
] as const;

/** Name of a fault. `faultList` describes each. */
export type FaultName = (typeof faults)[number][0];
export type ResponseFault = Extract<(typeof faults)[number], readonly [string, 'response', ...unknown[]]>[0];

/** Faults that a careful client overcomes with retries. */
const transient: readonly FaultName[] = ['slow', 'drop', '429', '503', '500', 'stall', 'truncate', 'cut'];

/** `value` is the unit of the value: a rate from 0 (never) to 1 (always), or a number of records. */
export const faultList = faults.map(([name, affects, defaultValue, sentence]) => ({
  name,
  affects,
  default: defaultValue,
  sentence,
  value: name === 'clamp' ? ('records' as const) : ('rate' as const),
}));

/** A rate from 0 (never) to 1 (always) for each fault, or for `clamp` a number of records. */
export type FaultValues = Readonly<Partial<Record<FaultName, number>>>;

/** Faults of a service. */
export interface FaultSettings {
  readonly values: FaultValues;
  /** The same seed and requests produce the same responses. */
  readonly seed: number;
  readonly clock: Clock;
  readonly onFault?: ((name: FaultName) => void) | undefined;
}

export const presets: Readonly<Record<string, { readonly sentence: string; readonly faults: readonly FaultName[] }>> = {
  transient: { sentence: 'temporary faults: a careful client gets every record', faults: transient },
  hostile: {
    sentence: 'all faults: a careful client gets the correct records, or none',
    faults: faultList.map(({ name }) => name),
  },
};

/** Returns the faults of a preset with their default values. */
export function presetValues(name: 'transient' | 'hostile'): FaultValues {
  const own = presets[name]!.faults;
  return Object.fromEntries(
    faultList.flatMap((fault) => (own.includes(fault.name) ? [[fault.name, fault.default]] : [])),
  );
}

/**
 * Returns `value` if it is valid.
 * @param written The value as the user wrote it.
 * @throws `usage` naming the fault and its valid values.
 */
export function checkFaultValue(
  { name, value: unit }: (typeof faultList)[number],
  value: number,
  written = String(value),
): number {
  const isValid =
    unit === 'rate' ? value >= 0 && value <= 1 : Number.isInteger(value) && value >= 1 && value <= maxNumber;
  if (isValid) return value;
  const next =
    unit === 'rate'
      ? 'Use a rate from 0 (never) to 1 (always), such as 0.05.'
      : `Use a number of records from 1 to ${maxNumber}.`;
  throw new RekapError('usage', `${JSON.stringify(written)} is not a valid value of the fault ${name}.`, next);
}

export function checkFaults({ values, seed }: FaultSettings): void {
  for (const fault of faultList) checkFaultValue(fault, values[fault.name] ?? fault.default);
  checkRange('The seed of the faults', seed, 0, maxNumber);
}
