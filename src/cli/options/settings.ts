/** Reads options from the environment and the config file. */

import { invocation, nameOption } from './invocation.ts';
import { closestName } from '../../runtime/closest-name.ts';
import { readValue } from './option-values.ts';
import { variableOf } from './option.ts';
import type { Command, Options } from './option.ts';
import { findConfig, workingConfig } from './find-config.ts';
import { allOptions, fileOptions, otherVariables } from './all-options.ts';
import { RekapError } from '../../errors.ts';

type Given = Readonly<Record<string, unknown>>;

export interface Settings {
  /** All options of the command, with their defaults. */
  readonly values: Given;
  /** Why the config file can't be used; null if it can. It is returned, because the other values say whom to notify. */
  readonly failure: RekapError | null;
  /** The config file in the working directory, if it sets an option to another value than its default. */
  readonly foundConfig: string | null;
}

/**
 * Reads the settings of a command, and records the origin of each option.
 * The command line takes precedence over the environment, and the environment over the config file.
 *
 * @throws `usage` if a variable is invalid or mistyped, or options exclude each other.
 */
export async function readSettings(
  { options, exclusive = [], ignoresConfig = false }: Command,
  given: Given,
): Promise<Settings> {
  const declared: Options = { ...options, config: allOptions.config };
  checkEnvironment();
  const environment = readEnvironment(declared);
  const file = await findConfig(given['config'] ?? environment['config'], declared, {
    ignoresFound: ignoresConfig,
    options: fileOptions,
  });
  const nameInFile = (name: string): string => `"${name}" in ${file.name}`;
  const nameVariable = (name: string): string => (environment[name] === undefined ? keyVariable : variableOf(name));
  const places = [
    [given, (name: string) => `--${name}`],
    [environment, nameVariable],
    [file.given, nameInFile],
  ] as const;
  const all = merge(places, exclusive);
  invocation.printsJson = 'json' in declared && all['json'] === true;
  const values = Object.fromEntries(
    Object.entries(declared).map(([name, option]) => {
      const value = name in given ? given[name] : readValue(name, option, all[name]);
      return [name, value ?? (option.type === 'boolean' ? false : option.default)];
    }),
  );
  // Advice omits options from the found file, because the next command finds it too.
  const isFromFound = (name: string): boolean => file.isFound && invocation.origins[name] === nameInFile(name);
  if (typeof all['warehouse'] === 'string' && !isFromFound('warehouse')) invocation.warehouse = all['warehouse'];
  return {
    values,
    failure: file.failure,
    foundConfig: Object.keys(all).some((name) => isFromFound(name) && values[name] !== declared[name]?.default)
      ? workingConfig
      : null,
  };
}

/** Merges options. Earlier places take precedence, also among options that exclude each other. */
function merge(places: readonly (readonly [Given, (name: string) => string])[], exclusive: readonly string[]): Given {
  const merged: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  const isSet = (name: string): boolean => merged[name] !== undefined && merged[name] !== false;
  for (const [given, nameOf] of places) {
    const decided = exclusive.filter(isSet);
    for (const [name, value] of Object.entries(given)) {
      const isExcluded = exclusive.includes(name) && decided.length > 0 && !decided.includes(name);
      if (Object.hasOwn(merged, name) || isExcluded) continue;
      merged[name] = value;
      origins[name] = nameOf(name);
    }
  }
  invocation.origins = origins;
  const both = exclusive.filter(isSet);
  if (both.length > 1)
    throw new RekapError('usage', `You cannot combine ${both.map(nameOption).join(' and ')}.`, 'Use only one of them.');
  return merged;
}

const keyVariable = 'REKAP_API_KEY';

/**
 * Refuses mistyped variables, because ignoring one could make a cron job less strict than intended.
 * Other unknown names are allowed: they may belong to another program. (`.env('REKAP')` of yargs would refuse them.)
 */
function checkEnvironment(): void {
  const named = Object.keys(process.env).filter((name) => /^REKAP_/i.test(name) && !otherVariables.includes(name));
  if (named.length === 0) return;
  const known = [...otherVariables, ...Object.keys(allOptions).map(variableOf)];
  const bare = (name: string): string => name.replaceAll('_', '');
  for (const name of named) {
    if (known.includes(name)) continue;
    const typed = name.toUpperCase();
    const meant =
      known.find((one) => bare(one) === bare(typed)) ??
      // Allow two typos only in long names.
      closestName(typed, known, typed.length >= 'REKAP_'.length + 8 ? 2 : 1);
    if (meant !== undefined)
      throw new RekapError(
        'usage',
        `Unknown environment variable ${name}.`,
        `Did you mean ${meant}? If not, rename the variable.`,
      );
  }
}

/** Reads the variables of options. Empty ones are ignored. REKAP_API_KEY overrides the key file of a config file. */
function readEnvironment(declared: Options): Given {
  const given = Object.entries(declared).flatMap(([name, { type }]) => {
    const text = process.env[variableOf(name)] ?? '';
    if (text === '') return [];
    if (type !== 'boolean') return [[name, text]];
    if (!/^(true|false|1|0)$/.test(text))
      throw new RekapError(
        'usage',
        `${variableOf(name)} has the invalid value ${JSON.stringify(text)}.`,
        'Set it to true or false.',
      );
    return [[name, text === 'true' || text === '1']];
  });
  const hasKey = 'api-key-file' in declared && (process.env[keyVariable] ?? '') !== '';
  return { ...(hasKey ? { 'api-key-file': undefined } : {}), ...Object.fromEntries(given) };
}
