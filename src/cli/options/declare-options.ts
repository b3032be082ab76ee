/** Declares a command's options: the command line beats the environment, the environment the config file, the file the default. */

import { distance } from 'fastest-levenshtein';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Argv, InferredOptionTypes, Options } from 'yargs';
import { Parser } from 'yargs/helpers';
import { checkGiven, checkWords } from './check-given.ts';
import { closestName } from './closest-name.ts';
import { invocation } from './invocation.ts';
import { optionNames } from './options.ts';
import { RekapError, systemReason } from '../../errors.ts';
import { JsonText, ScanError } from '../../extract/scan/json-text.ts';

type Declared = Readonly<Record<string, Options>>;

/** --out.x is no option, rather than a part of one. */
export const parserConfiguration = { 'dot-notation': false } as const;

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';

/** What a config file may hold for an option of each type. */
const kinds: Readonly<Record<string, { readonly is: (value: unknown) => boolean; readonly called: string }>> = {
  boolean: { is: (value) => typeof value === 'boolean', called: 'true or false' },
  number: { is: (value) => isNumber(value) || isText(value), called: 'a number' },
  string: { is: isText, called: 'a text' },
  array: { is: (value) => [value].flat().every((one) => isText(one) || isNumber(one)), called: 'a list of texts' },
};

/** What one place says of the options. */
type Values = Readonly<Record<string, unknown>>;

/** What there is to say of a command's options besides the options themselves. */
export interface Remarks {
  /** Names of options of which at most one may be given. */
  readonly exclusive?: readonly string[];
  /** Command lines for its help, and what each is for. */
  readonly examples?: readonly [string, string][];
}

const configOption = {
  config: { type: 'string', describe: 'JSON file with options, such as { "base-url": "https://…" }' },
} as const satisfies Declared;

/** Whether a failure is to be printed as JSON too: asked for in words, or in whatever else fills the options. */
export function asksForJson(words: readonly string[]): boolean {
  return words.includes('--json') || (invocation.wantsJson ?? isTrue(process.env[environmentName('json')]));
}

/**
 * Declares a command's options, filled from the environment and the config file where the command line leaves them open.
 * Of options that exclude each other, one that is given in a stronger place puts aside the others of the weaker ones.
 */
export function declareOptions<Given, Own extends Record<string, Options>>(
  argv: Argv<Given>,
  options: Own,
  { exclusive = [], examples = [] }: Remarks = {},
): Argv<Given & InferredOptionTypes<Own>> {
  const declared = { ...options, ...configOption };
  const { given: commandLine, isLookedAt } = readCommandLine(declared);
  const isPrinter = 'json' in options;
  // Known before the rest is read, for what is wrong there is to be told as JSON too.
  invocation.wantsJson = isPrinter && (commandLine['json'] ?? isTrue(process.env[environmentName('json')])) === true;
  if (!isLookedAt) {
    checkGiven(commandLine, declared);
    checkWords(process.argv.slice(2), declared);
    checkEnvironment();
  }
  const environment = readEnvironment(declared);
  const file = readConfigFile(commandLine['config'] ?? environment['config'], declared);
  const filled = fill([commandLine, environment, file], exclusive);
  const { json, warehouse } = filled;
  const origins = {
    ...Object.fromEntries(Object.keys(file).map((name) => [name, `"${name}" in the config file`])),
    ...Object.fromEntries(Object.keys(environment).map((name) => [name, environmentName(name)])),
    ...Object.fromEntries(Object.keys(commandLine).map((name) => [name, `--${name}`])),
  };
  Object.assign(invocation, {
    wantsJson: isPrinter && json === true,
    warehouse: typeof warehouse === 'string' ? warehouse : null,
    origins,
  });
  const left = Object.fromEntries(Object.entries(filled).filter(([name]) => !Object.hasOwn(commandLine, name)));
  // For a command that is carried out, yargs makes the text of its help all the same, and takes its time for all that stands there.
  const shown = isLookedAt ? argv.options(withoutReading(declared)).example(examples) : argv.options(hidden(declared));
  return shown.config(left) as unknown as Argv<Given & InferredOptionTypes<Own>>;
}

/** For help: values that were not checked are not read either. */
function withoutReading(declared: Declared): Record<string, Options> {
  return Object.fromEntries(Object.entries(declared).map(([name, { coerce: _coerce, ...rest }]) => [name, rest]));
}

/** Options that the help does not show. */
function hidden(declared: Declared): Record<string, Options> {
  return Object.fromEntries(Object.entries(declared).map(([name, option]) => [name, { ...option, hidden: true }]));
}

/** What the places say together, the strongest first. */
function fill(places: readonly Values[], exclusive: readonly string[]): Values {
  let filled: Values = {};
  for (const weaker of places) {
    const stronger = filled;
    const isPutAside = (name: string): boolean =>
      exclusive.includes(name) && exclusive.some((other) => other !== name && isGiven(stronger[other]));
    filled = {
      ...Object.fromEntries(Object.entries(weaker).filter(([name]) => !isPutAside(name))),
      ...stronger,
    };
  }
  return filled;
}

/** --no-sample names an option, but does not give it. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== false;
}

interface CommandLine {
  /** The options that it holds: yes or no, a list, or a text; a text that comes twice is a list too. */
  readonly given: Values;
  /** It asks for help or for completion, and is not carried out: it may be wrong, or not be finished yet. */
  readonly isLookedAt: boolean;
}

function readCommandLine(declared: Declared): CommandLine {
  const names = Object.keys(declared);
  const { _: words, ...given } = Parser(process.argv.slice(2), {
    // By this, --baseUrl is known as --base-url, as it is to yargs.
    alias: { ...Object.fromEntries(names.map((name) => [name, []])), help: ['h'] },
    boolean: [...names.filter((name) => declared[name]!.type === 'boolean'), 'help', 'get-yargs-completions'],
    array: names.filter((name) => declared[name]!.type === 'array'),
    string: names.filter((name) => declared[name]!.type !== 'boolean'),
    configuration: parserConfiguration,
  });
  return {
    given: Object.fromEntries(
      Object.entries(given).filter(([name, value]) => Object.hasOwn(declared, name) && value !== undefined),
    ),
    isLookedAt:
      given['help'] === true ||
      given['get-yargs-completions'] === true ||
      words[0] === 'help' ||
      words.at(-1) === 'help',
  };
}

/** REKAP_BASE_URL for base-url. */
function environmentName(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}

/** Variables that are no options of a command. */
const otherVariables = ['REKAP_API_KEY', 'REKAP_API_KEYS', 'REKAP_DEBUG', 'REKAP_FAULT_SEEDS'];

/** A mistyped variable would be passed over, and a cron job be less strict than it was told to be. One that resembles none is somebody else's. */
function checkEnvironment(): void {
  const known = [...otherVariables, ...[...optionNames].map(environmentName)];
  for (const name of Object.keys(process.env)) {
    if (!/^REKAP_/i.test(name) || known.includes(name)) continue;
    const meant = known.find((one) => isMistyped(name.toUpperCase(), one));
    if (meant !== undefined)
      throw new RekapError(
        'usage',
        `The environment holds ${name}, which is no option.`,
        `Did you mean ${meant}? Otherwise give the variable another name.`,
      );
  }
}

/** One letter is a slip, and two are in a long name; of a short one they make another word. */
function isMistyped(typed: string, known: string): boolean {
  const isLong = typed.length >= 'REKAP_'.length + 8;
  return typed.replaceAll('_', '') === known.replaceAll('_', '') || distance(typed, known) <= (isLong ? 2 : 1);
}

function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === '1';
}

/** An empty variable is as good as none. */
function readEnvironment(declared: Declared): Values {
  const filled: Record<string, unknown> = {};
  for (const [name, { type }] of Object.entries(declared)) {
    const text = process.env[environmentName(name)];
    if (text === undefined || text === '') continue;
    if (type === 'boolean') {
      if (!/^(true|false|1|0)$/.test(text))
        throw new RekapError(
          'usage',
          `${environmentName(name)} is ${JSON.stringify(text)}.`,
          'Set it to true or false.',
        );
      filled[name] = isTrue(text);
    } else filled[name] = type === 'array' ? text.split(',') : text;
  }
  return filled;
}

/** Where a text stops being JSON, as an editor counts; Node says so of some faults only. */
function placeOfFault(bytes: Buffer): string {
  try {
    const text = new JsonText(bytes);
    text.skipSpace();
    text.passValue(0);
    text.skipSpace();
    return text.fail('its end');
  } catch (error) {
    if (!(error instanceof ScanError)) throw error;
    const lines = bytes.toString('utf8', 0, error.offset).split('\n');
    return ` from line ${lines.length}, column ${lines.at(-1)!.length + 1} on`;
  }
}

/** The config file is named by --config or REKAP_CONFIG. It may hold options of other commands too, but no unknown ones. */
function readConfigFile(path: unknown, declared: Declared): Values {
  if (typeof path !== 'string' || path === '') return {};
  let bytes = Buffer.of();
  let parsed: unknown;
  try {
    bytes = readFileSync(resolve(path));
    // Some editors put a byte order mark in front.
    parsed = JSON.parse(bytes.toString().replace(/^\uFEFF/, ''));
  } catch (error) {
    const isRead = error instanceof SyntaxError;
    const why = isRead ? `is not JSON${placeOfFault(bytes)}` : `cannot be read: ${systemReason(error)}`;
    throw new RekapError('usage', `The config file ${path} ${why}.`, 'Correct it, or leave --config away.', {
      cause: error,
    });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new RekapError(
      'usage',
      `The config file ${path} is not a JSON object.`,
      'Write options as { "base-url": "https://…" }.',
    );
  const filled: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(parsed)) {
    if (/key/i.test(name) && name !== 'api-key-file' && name !== 'api-keys-file')
      throw new RekapError(
        'usage',
        `The config file ${path} holds "${name}": keys do not belong there.`,
        'Set REKAP_API_KEY, or name a file with "api-key-file".',
      );
    if (name === 'config')
      throw new RekapError(
        'usage',
        `The config file ${path} holds "config".`,
        'Leave it out: one file names no other.',
      );
    if (Object.hasOwn(declared, name)) {
      const type = declared[name]!.type ?? 'string';
      const { is, called } = kinds[type]!;
      if (!is(value))
        throw new RekapError(
          'usage',
          `"${name}" in the config file ${path} is not ${called}.`,
          'Correct it, or leave it out.',
        );
      filled[name] = type === 'array' ? [value].flat().map(String) : value;
    } else if (!optionNames.has(name)) {
      const closest = closestName(name, [...optionNames]);
      throw new RekapError(
        'usage',
        `The config file ${path} holds "${name}", which is no option.`,
        closest === undefined ? '"rekap <command> --help" shows what there is.' : `Did you mean "${closest}"?`,
      );
    }
  }
  return filled;
}
