/** Reads options from the environment and the config file, and records where each option comes from. */

import { usageError } from './usage-error.ts';
import { Parser } from 'yargs/helpers';
import { type FoundConfig, readConfigFile, workingConfig } from './config-file.ts';
import { nameOption, invocation } from './invocation.ts';
import { closestName } from '../../runtime/closest-name.ts';
import { type Command, type Options, variableOf } from './option.ts';
import { allOptions, otherVariables } from './all-options.ts';

type Given = FoundConfig['given'];

const keyVariable = 'REKAP_API_KEY';

/**
 * Reads the options of a command from the environment and the config file. The command line takes precedence over the environment, and the environment over the
 * config file, also among options that exclude each other.
 *
 * @throws `usage` if a variable is invalid or mistyped, or options exclude each other.
 */
export async function readSettings(
  { options, exclusive = [], ignoresConfig = false }: Command,
  args: readonly string[],
): Promise<FoundConfig> {
  const declared: Options = { ...options, config: allOptions.config };
  checkEnvironment();
  const line: Given = Parser([...args], {
    string: Object.keys(declared).filter((name) => declared[name]!.type !== 'boolean'),
    configuration: { 'dot-notation': false, 'camel-case-expansion': false },
  });
  const environment = readEnvironment(declared);
  const named = [line['config'], environment['config']].find((path) => typeof path === 'string' && path !== '');
  const file = await readConfigFile(named as string | undefined, ignoresConfig);
  const fileName = named === undefined ? workingConfig : 'the config file';
  const places: readonly (readonly [Given, (name: string) => string])[] = [
    [line, (name) => `--${name}`],
    [environment, (name) => (environment[name] === undefined ? keyVariable : variableOf(name))],
    [file.given, (name) => `"${name}" in ${fileName}`],
  ];
  const merged: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  const isSet = (name: string): boolean => merged[name] !== undefined && merged[name] !== false;
  for (const [given, nameOf] of places) {
    const decided = exclusive.filter(isSet);
    for (const name of Object.keys(given).filter((one) => Object.hasOwn(declared, one))) {
      const isExcluded = exclusive.includes(name) && decided.length > 0 && !decided.includes(name);
      if (Object.hasOwn(merged, name) || isExcluded) continue;
      merged[name] = given[name];
      origins[name] = nameOf(name);
    }
  }
  invocation.origins = origins;
  const both = exclusive.filter(isSet);
  if (both.length > 1)
    throw usageError(`You cannot combine ${both.map(nameOption).join(' and ')}.`, 'Use only one of them.');
  const rest = Object.entries(merged).filter(([name, value]) => !Object.hasOwn(line, name) && value !== undefined);
  return { given: Object.fromEntries(rest), failure: file.failure };
}

/** Returns whether an option comes from a config file that the user didn't name. */
export function isFromWorkingConfig(name: string): boolean {
  return invocation.origins[name] === `"${name}" in ${workingConfig}`;
}

/**
 * Refuses mistyped variables, because ignoring one could make a cron job less strict than intended.
 * Other unknown names are allowed: they may belong to another program. (`.env('REKAP')` of yargs would refuse them.)
 */
function checkEnvironment(): void {
  const known = [...otherVariables, ...Object.keys(allOptions).map(variableOf)];
  const bare = (name: string): string => name.replaceAll('_', '');
  for (const name of Object.keys(process.env).filter((one) => /^REKAP_/i.test(one) && !known.includes(one))) {
    const typed = name.toUpperCase();
    const meant =
      known.find((one) => bare(one) === bare(typed)) ??
      // Allow two typos only in long names.
      closestName(typed, known, typed.length >= 'REKAP_'.length + 8 ? 2 : 1);
    if (meant !== undefined)
      throw usageError(`Unknown environment variable ${name}.`, `Did you mean ${meant}? If not, rename the variable.`);
  }
}

/** Reads the variables of options. Empty ones are ignored. REKAP_API_KEY overrides the key file of a config file. */
function readEnvironment(declared: Options): Given {
  const given = Object.entries(declared).flatMap(([name, { type }]) => {
    const text = process.env[variableOf(name)] ?? '';
    if (text === '') return [];
    if (type !== 'boolean') return [[name, text]];
    if (/^(true|false|1|0)$/.test(text)) return [[name, text === 'true' || text === '1']];
    const message = `${variableOf(name)} has the invalid value ${JSON.stringify(text)}.`;
    throw usageError(message, 'Set it to true or false.');
  });
  const hasKey = 'api-key-file' in declared && (process.env[keyVariable] ?? '') !== '';
  return { ...(hasKey ? { 'api-key-file': undefined } : {}), ...Object.fromEntries(given) };
}
