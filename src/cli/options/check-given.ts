/** Refuses what a command line says of options and yargs would pass over: values twice or not at all, neither yes nor no, other spellings. */

import type { Options } from 'yargs';
import { RekapError } from '../../errors.ts';

/** Lists may come again and again, and of yes and no the last word counts; every other option has one value. */
export function checkGiven(
  commandLine: Readonly<Record<string, unknown>>,
  declared: Readonly<Record<string, Options>>,
): void {
  for (const [name, { type }] of Object.entries(declared)) {
    const value = commandLine[name];
    if (value === undefined || type === 'boolean') continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.includes(false))
      throw new RekapError('usage', `There is no option --no-${name}.`, `--${name} takes a value.`);
    if (type !== 'array' && values.length > 1) {
      const times = values.length === 2 ? 'twice' : `${values.length} times`;
      throw new RekapError('usage', `--${name} is given ${times}.`, 'Give it once.');
    }
    if (values.every((one) => one === ''))
      throw new RekapError('usage', `--${name} needs a value.`, '"rekap <command> --help" shows what it may be.');
  }
}

/**
 * Looks at the words themselves, for yargs passes over what they say in two ways: of an option that is there or not it takes any value
 * but "true" for a no, so that --dry-run=1 would publish; and it knows --DRY-RUN as the same name, but fills another one.
 */
export function checkWords(words: readonly string[], declared: Readonly<Record<string, Options>>): void {
  const end = words.indexOf('--');
  for (const word of end < 0 ? words : words.slice(0, end)) {
    const [, written = '', value] = /^--(?:no-)?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const name = Object.keys(declared).find((one) => bare(one) === bare(written));
    if (name === undefined) continue;
    if (written !== name && written !== inCamelCase(name))
      throw new RekapError('usage', `There is no option --${written}.`, `Did you mean --${name}?`);
    if (declared[name]!.type === 'boolean' && value !== undefined && value !== 'true' && value !== 'false')
      throw new RekapError('usage', `--${name} is ${JSON.stringify(value)}.`, `Write --${name}, or --no-${name}.`);
  }
}

/** What two spellings of a name have in common. */
function bare(name: string): string {
  return name.toLowerCase().replaceAll('-', '');
}

/** dryRun for dry-run, as yargs has it too. */
function inCamelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
