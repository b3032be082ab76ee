/** Refuses options that a command line gives twice, without a value, with a "no" that they do not know, or as neither yes nor no. */

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

/**
 * Of an option that is there or not, yargs takes any value but "true" for a no: --dry-run=1 would publish. Only the words themselves
 * show that.
 */
export function checkYesOrNo(words: readonly string[], declared: Readonly<Record<string, Options>>): void {
  const end = words.indexOf('--');
  for (const word of end < 0 ? words : words.slice(0, end)) {
    const [, written = '', value = ''] = /^--([^=]+)=(.*)$/s.exec(word) ?? [];
    const name = written.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`);
    if (declared[name]?.type !== 'boolean' || value === 'true' || value === 'false') continue;
    throw new UsageError(`--${name} is ${JSON.stringify(value)}.`, `Write --${name}, or --no-${name}.`);
  }
}
