/**
 * Reads the options of a command: takes its words, the environment and the config file, gives a value of the declared type for each.
 * The command line beats the environment, the environment the config file, the file the default.
 */

import { normalize } from 'node:path';
import parseWords from 'yargs-parser';
import { invocation, nameOption } from './invocation.ts';
import { closestName, didYouMean, variableOf } from './names.ts';
import type { Command, CommandEntry, Option, Options, Values } from './option.ts';
import { findConfig, workingConfig } from './find-config.ts';
import { configOption } from './shared.ts';
import { isBucketUrl, readBucketUrl } from '../../bucket/address.ts';
import { RekapError } from '../../errors.ts';
import { hideCredentials } from '../../runtime/text.ts';

/** What one place gives, by the name of the option. */
type Given = Readonly<Record<string, unknown>>;

export interface ReadCommand {
  readonly options: Values<Options>;
  /** The words behind the command's name. */
  readonly words: readonly string[];
  /** The config file that gives some of the options although the user did not name it; null if there is none. */
  readonly foundConfig: string | null;
}

/**
 * @param allOptions Every option of every command, loaded where they are needed.
 * @throws `usage` for an option that the command does not have, and for a value that it cannot have.
 */
export async function readOptions(
  entry: CommandEntry,
  command: Command,
  given: readonly string[],
  allOptions: () => Promise<Options>,
): Promise<ReadCommand> {
  const declared: Options = { ...command.options, ...configOption };
  const typed = given.map((word) => longForm(word, declared));
  // No other option has one letter, and a secret may stand behind it.
  const short = typed.find((word) => /^-[a-z]/i.test(word));
  if (short !== undefined) throw explainUnknown('-', short.slice(1).split('=')[0]!, declared, entry.name);
  const { words, ...commandLine } = parse(typed, declared);
  const { json = isTrue(process.env['REKAP_JSON']) } = commandLine.given;
  // Known before the rest is read: what is wrong there is printed as JSON too.
  invocation.wantsJson = 'json' in declared && json === true;
  checkGiven(commandLine.given, declared, typed, entry.name);
  checkWords(words, entry, command);
  await checkEnvironment(allOptions);
  const environment = readEnvironment(declared);
  const known: Given = { ...environment, ...commandLine.given };
  const named = [['--config', known['config']] as const, ['--profile', known['profile']] as const];
  invocation.configWords = named.flatMap(([name, value]) => (typeof value === 'string' ? [name, value] : []));
  const { places, failure, isFound } = await findConfig(known, declared, {
    ignoresFound: command.ignoresConfig === true,
    allOptions,
  });
  const nameVariable = (name: string): string => (environment[name] === undefined ? keyVariable : variableOf(name));
  const filled = fill(
    [[commandLine.given, (name) => `--${name}`], [environment, nameVariable], ...places],
    command.exclusive ?? [],
  );
  invocation.wantsJson = 'json' in declared && filled['json'] === true;
  /** Options that the found file gives; the next command finds it too, so advice need not repeat them. */
  const found = new Set(isFound ? places.flatMap(([own, nameOf]) => Object.keys(own).map(nameOf)) : []);
  const isFromFound = (name: string): boolean => found.has(invocation.origins[name] ?? '');
  if (typeof filled['warehouse'] === 'string' && !isFromFound('warehouse')) invocation.warehouse = filled['warehouse'];
  const options = Object.entries(declared).map(
    ([name, option]) => [name, convert(name, option, filled[name])] as const,
  );
  const values = Object.fromEntries(options) as Values<Options>;
  if (failure !== null) {
    await command.cannotBegin?.(values, failure);
    throw failure;
  }
  return { options: values, words, foundConfig: Object.keys(filled).some(isFromFound) ? workingConfig : null };
}

/** --file for -f, and --file=x for -f=x, where the command has such an option. */
function longForm(word: string, declared: Options): string {
  const [, letter, rest] = /^-([a-z])(=.*)?$/is.exec(word) ?? [];
  const name = Object.keys(declared).find((each) => letter !== undefined && declared[each]!.short === letter);
  return name === undefined ? word : `--${name}${rest ?? ''}`;
}

/** Options as texts, lists of texts and booleans; a text that comes twice is a list too. */
function parse(typed: readonly string[], declared: Options): { given: Given; words: readonly string[] } {
  // SQL may begin with a comment.
  const isText = (word: string): boolean => /^-+\s/.test(word);
  const ofType = (...types: Option['type'][]) =>
    Object.keys(declared).filter((name) => types.includes(declared[name]!.type));
  const { _: words, ...given } = parseWords(
    typed.filter((word) => !isText(word)),
    {
      boolean: ofType('boolean'),
      array: ofType('list'),
      string: [...ofType('text', 'texts', 'folder', 'number', 'list'), '_'],
      configuration: { 'dot-notation': false, 'camel-case-expansion': false },
    },
  );
  return { given, words: [...words.map(String), ...typed.filter(isText)] };
}

/** Refuses what the parser passes over: options that the command does not have, values twice or not at all, neither yes nor no. */
function checkGiven(given: Given, declared: Options, typed: readonly string[], command: string): void {
  for (const [name, value] of Object.entries(given)) {
    const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (option === undefined) throw explainUnknown('--', name, declared, command);
    if (option.type === 'boolean') {
      const inline = typed.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
      if (inline !== undefined && inline !== 'true' && inline !== 'false')
        throw usage(`--${name} does not take the value ${JSON.stringify(inline)}.`, `Use --${name} or --no-${name}.`);
      continue;
    }
    if (value === false) throw usage(`Unknown option --no-${name}.`, `--${name} takes a value.`);
    if (option.type !== 'list' && option.type !== 'texts' && Array.isArray(value))
      throw usage(
        `You gave --${name} ${value.length === 2 ? 'twice' : `${value.length} times`}.`,
        'Give it only once.',
      );
    if (splitList([value].flat().map(String)).length === 0)
      throw usage(`--${name} requires a value.`, `For its values, run "rekap ${command} --help".`);
  }
}

function explainUnknown(dashes: '-' | '--', name: string, declared: Options, command: string): RekapError {
  const [secret, plural] = /^(?:x-)?(?:api-?)?key(s?)$/i.exec(name.replaceAll('_', '-')) ?? [];
  if (secret !== undefined)
    return usage(
      `Unknown option ${dashes}${name}. rekap does not take API keys as options, because other users of this machine could read them.`,
      plural === ''
        ? 'Set REKAP_API_KEY, or add --api-key-file FILE.'
        : 'Set REKAP_API_KEYS, or add --api-keys-file FILE.',
    );
  const typed = name.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
  const advice = `For the list of options, run "rekap ${command} --help".`;
  return usage(
    `Unknown option ${dashes}${dashes === '-' ? name.charAt(0) : name} for "rekap ${command}".`,
    didYouMean(typed, [...Object.keys(declared), 'help'], advice, (one) => `--${one}`),
  );
}

function checkWords(words: readonly string[], { name, usage: form }: CommandEntry, { examples = [] }: Command): void {
  const expected = form.split(' ').slice(name.split(' ').length);
  const missing = expected[words.length];
  const [example] = examples;
  if (missing?.startsWith('<'))
    throw usage(
      `"rekap ${name}" requires ${missing}.`,
      example === undefined ? `For details, run "rekap ${name} --help".` : `For example: ${example[0]}`,
    );
  const superfluous = words[expected.length];
  if (superfluous !== undefined)
    throw usage(
      `Unexpected argument ${JSON.stringify(hideCredentials(superfluous))}.`,
      example?.[0].includes('"') !== true
        ? `For its usage, run "rekap ${name} --help".`
        : `Put arguments with spaces in quotes, such as ${example[0]}`,
    );
}

const keyVariable = 'REKAP_API_KEY';

/** Variables that are no options of a command. */
const otherVariables = [
  keyVariable,
  'REKAP_API_KEYS',
  'REKAP_DEBUG',
  'REKAP_FAULT_SEEDS',
  // What a command of --on-publish and its like is given; it may call rekap.
  'REKAP_EVENT',
  'REKAP_RUN',
  'REKAP_REASON',
  'REKAP_EXIT_CODE',
];

/** A mistyped variable would be passed over, and a cron job be less strict than it was told to be. One that resembles none is somebody else's. */
async function checkEnvironment(allOptions: () => Promise<Options>): Promise<void> {
  const named = Object.keys(process.env).filter((name) => /^REKAP_/i.test(name) && !otherVariables.includes(name));
  if (named.length === 0) return;
  const known = [...otherVariables, ...Object.keys(await allOptions()).map(variableOf)];
  for (const name of named) {
    if (known.includes(name)) continue;
    // Two slips make another word of a short name.
    const typed = name.toUpperCase();
    const bare = (one: string): string => one.replaceAll('_', '');
    const meant =
      known.find((one) => bare(one) === bare(typed)) ??
      closestName(typed, known, typed.length >= 'REKAP_'.length + 8 ? 2 : 1);
    if (meant !== undefined)
      throw usage(`Unknown environment variable ${name}.`, `Did you mean ${meant}? If not, rename the variable.`);
  }
}

/** An empty variable is the same as a missing one. A key in the environment wins over a key file that the config file names. */
function readEnvironment(declared: Options): Given {
  const given = Object.entries(declared).flatMap(([name, { type }]) => {
    const text = process.env[variableOf(name)] ?? '';
    if (text === '') return [];
    if (type !== 'boolean') return [[name, text]];
    if (!/^(true|false|1|0)$/.test(text))
      throw usage(`${variableOf(name)} has the invalid value ${JSON.stringify(text)}.`, 'Set it to true or false.');
    return [[name, isTrue(text)]];
  });
  const hasKey = 'api-key-file' in declared && (process.env[keyVariable] ?? '') !== '';
  return { ...(hasKey ? { 'api-key-file': undefined } : {}), ...Object.fromEntries(given) };
}

function isTrue(text: string | undefined): boolean {
  return text === 'true' || text === '1';
}

/** What the places give together, the strongest first. Of options that exclude each other, the strongest place decides. */
function fill(places: readonly (readonly [Given, (name: string) => string])[], exclusive: readonly string[]): Given {
  const filled: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const [given, nameOf] of places) {
    // --no-sample names an option, but does not give it.
    const decided = exclusive.filter((name) => filled[name] !== undefined && filled[name] !== false);
    for (const [name, value] of Object.entries(given)) {
      const isPutAside = exclusive.includes(name) && decided.length > 0 && !decided.includes(name);
      if (Object.hasOwn(filled, name) || isPutAside) continue;
      filled[name] = value;
      origins[name] = nameOf(name);
    }
  }
  invocation.origins = origins;
  const both = exclusive.filter((name) => filled[name] !== undefined && filled[name] !== false);
  if (both.length > 1)
    throw usage(`You cannot combine ${both.map(nameOption).join(' and ')}.`, 'Use only one of them.');
  return filled;
}

/** The value of an option in its type; undefined where nothing gives one. */
function convert(name: string, { type, range, choices, orBucket, default: usual }: Option, value: unknown): unknown {
  const given = value ?? usual;
  if (type === 'boolean') return given === true;
  if (given === undefined) return undefined;
  const texts = [given].flat().map(String);
  if (type === 'list') return splitList(texts);
  if (type === 'texts') return texts;
  const text = texts.join();
  if (type === 'number') {
    const [least, most] = range ?? [0, Number.MAX_SAFE_INTEGER];
    if (/^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text);
    throw usage(
      `${nameOption(name)} must be a whole number from ${least} to ${most}.`,
      'Correct the value, or remove the option.',
    );
  }
  if (choices !== undefined && !choices.includes(text))
    throw usage(
      `${nameOption(name)} has the invalid value ${JSON.stringify(text)}.`,
      `Use one of ${choices.join(', ')}.`,
    );
  if (type === 'text') return text;
  if (text.trim() === '') throw usage(`${nameOption(name)} is empty.`, 'Set a path, such as data/warehouse.');
  if (!isBucketUrl(text)) return normalize(text);
  const { url } = readBucketUrl(text);
  if (orBucket === true) return url;
  throw usage(
    `${nameOption(name)} is a bucket, but this command requires a folder.`,
    `First copy the bucket to a folder: rekap pull ${url} --warehouse FOLDER`,
  );
}

function splitList(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(/[\s,]+/)).filter((part) => part !== '');
}

function usage(message: string, next: string): RekapError {
  return new RekapError('usage', message, next);
}
