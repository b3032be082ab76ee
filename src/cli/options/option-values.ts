/** Reads the value of an option. Refuses some that yargs accepts: invalid numbers, repeated values and empty values. */

import { usageError } from './usage-error.ts';
import { normalize } from 'node:path';
import type { Options as YargsOption } from 'yargs';
import { nameOption } from './invocation.ts';
import type { Option, Options } from './option.ts';
import { isBucketUrl, readBucketUrl } from '../../share/address.ts';

/**
 * Declares an option without its default, so that yargs returns only what is given.
 *
 * @param refuse Gets the error for an invalid value, because yargs keeps only its message.
 */
export function toYargs(name: string, option: Option, refuse: (error: unknown) => void): YargsOption {
  const { type, describe, default: usual, defaultDescription = usual?.toString(), choices, range, nargs } = option;
  const coerce = (value: unknown): unknown => {
    try {
      return readValue(name, option, value);
    } catch (error) {
      refuse(error);
      throw error;
    }
  };
  return {
    type,
    describe: range === undefined ? describe : `${describe}, ${range[0]} to ${range[1]}`,
    ...(type === 'array' && { string: true }),
    ...(type !== 'boolean' && { requiresArg: true, coerce }),
    ...(defaultDescription !== undefined && { defaultDescription }),
    ...(choices !== undefined && { choices }),
    ...(nargs !== undefined && { nargs }),
  };
}

/** Reads a value from the command line, a variable or a config file. @throws `usage` if it is invalid. */
export function readValue(name: string, { type, range, choices, path, nargs }: Option, value: unknown): unknown {
  if (value === undefined || type === 'boolean') return value;
  if (type === 'array') {
    const texts = [value].flat().map(String);
    return requireSome(name, nargs === undefined ? texts.flatMap(split) : texts);
  }
  if (Array.isArray(value))
    throw usageError(
      `You gave ${nameOption(name)} ${value.length === 2 ? 'twice' : `${value.length} times`}.`,
      'Give it only once.',
    );
  if (type === 'number') {
    const [min, max] = range ?? [0, Number.MAX_SAFE_INTEGER];
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max) return number;
    throw usageError(
      `${nameOption(name)} must be a whole number from ${min} to ${max}.`,
      'Correct the value, or remove the option.',
    );
  }
  const [text] = requireSome(name, [`${value as string | number}`]) as [string];
  if (choices !== undefined && !choices.includes(text))
    throw usageError(
      `${nameOption(name)} has the invalid value ${JSON.stringify(text)}.`,
      `Use one of ${choices.join(', ')}.`,
    );
  return path === undefined ? text : readPath(name, path, text);
}

function split(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

function requireSome(name: string, values: readonly string[]): readonly string[] {
  if (values.some((value) => value.trim() !== '')) return values;
  throw usageError(`${nameOption(name)} requires a value.`, 'Correct the value, or remove the option.');
}

function readPath(name: string, path: Required<Option>['path'], text: string): string {
  if (!isBucketUrl(text)) return normalize(text);
  const { url } = readBucketUrl(text);
  if (path === 'folder or bucket') return url;
  throw usageError(
    `${nameOption(name)} is a bucket, but this command requires a folder.`,
    `First copy the bucket to a folder: rekap pull ${url} --warehouse FOLDER`,
  );
}

/** Refuses `--json=maybe`, `--keep=` and `--no-keep`, which yargs reads as false, 0 and 0. */
export function checkForms(args: readonly string[], options: Options, command: string): void {
  for (const arg of args) {
    const [, negation = '', name = '', value] = /^--(no-)?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const type = Object.hasOwn(options, name) ? options[name]!.type : undefined;
    if (type === 'boolean' && value !== undefined && value !== 'true' && value !== 'false')
      throw usageError(`--${name} does not take the value ${JSON.stringify(value)}.`, `Use --${name} or --no-${name}.`);
    if (type === undefined || type === 'boolean') continue;
    if (negation !== '') throw usageError(`Unknown option --no-${name}.`, `--${name} takes a value.`);
    if (value === '') throw usageError(`--${name} requires a value.`, `For its values, run "rekap ${command} --help".`);
  }
}
