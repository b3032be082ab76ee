/** Reads durations of declarations in ISO 8601, such as P7D or PT1H30M. Months and years have no fixed length, so they aren't valid. */

const units = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1000 } as const;

/** Returns milliseconds; null if the text isn't a duration, or is zero. */
export function readDuration(text: string): number | null {
  const [, W, D, H, M, S] =
    /^P(?!$)(?:(\d+)W)?(?:(\d+)D)?(?:T(?!$)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text) ?? [];
  const total = Object.entries({ W, D, H, M, S }).reduce(
    (sum, [unit, count = '0']) => sum + Number(count) * units[unit as keyof typeof units],
    0,
  );
  return total > 0 && total <= 3650 * units.D ? total : null;
}

/** Returns the duration of a checked declaration in milliseconds. */
export function durationOf(text: string): number {
  return readDuration(text)!;
}
