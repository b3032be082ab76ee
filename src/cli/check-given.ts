/** Refuses options that a command line gives twice, without a value, or with a "no" that they do not know. */

import type { Options } from 'yargs';
import { UsageError } from '../errors.ts';

/** Lists may come again and again, and of yes and no the last word counts; every other option has one value. */
export function checkGiven(
  commandLine: Readonly<Record<string, unknown>>,
  declared: Readonly<Record<string, Options>>,
): void {
  for (const [name, { type }] of Object.entries(declared)) {
    const value = commandLine[name];
    if (value === undefined || type === 'boolean') continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.includes(false)) throw new UsageError(`There is no option --no-${name}.`, `--${name} takes a value.`);
    if (type !== 'array' && values.length > 1) {
      const times = values.length === 2 ? 'twice' : `${values.length} times`;
      throw new UsageError(`--${name} is given ${times}.`, 'Give it once.');
    }
    if (values.every((one) => one === ''))
      throw new UsageError(`--${name} needs a value.`, '"rekap <command> --help" shows what it may be.');
  }
}
