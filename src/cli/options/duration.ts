/** Reads and formats durations, such as 26h, 90m and 7d. */

import { nameOption } from './invocation.ts';
import { RekapError } from '../../errors.ts';

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds. @throws `usage` if the text isn't a duration. */
export function readDuration(text: string, option: string): number {
  const [, number, unit] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim()) ?? [];
  if (number !== undefined && Number(number) > 0) return Number(number) * units[unit!]!;
  throw new RekapError(
    'usage',
    `${nameOption(option)} ${JSON.stringify(text)} is not a valid duration.`,
    'Use a number followed by s, m, h or d, such as 26h.',
  );
}
