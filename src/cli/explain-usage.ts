/** Says what is wrong with a command line: yargs' complaint in words of ours, with the nearest name that exists. */

import { distance } from 'fastest-levenshtein';
import { commandNames } from './commands.ts';
import { closestName } from './options/closest-name.ts';
import { optionNames } from './options/options.ts';
import { RekapError } from '../errors.ts';

const quoted = 'The SQL goes into quotes, as one word: rekap query "FROM turnout_national".';

/**
 * What is wrong with a command line that yargs refuses. What nobody knows is told before what is missing, for it may have been meant
 * as just that.
 *
 * @param message What yargs says, or what an option's own reading does.
 * @param words The command line.
 */
export function explainUsage(message: string, words: readonly string[]): RekapError {
  const flag = findUnknownFlag(words);
  if (flag !== null) return explainFlag(flag);
  const choice = /Argument: (\S+), Given: (.+?), Choices: (.+)/.exec(message);
  if (choice !== null)
    return new RekapError('usage', `--${choice[1]} cannot be ${choice[2]}.`, `It is one of ${choice[3]}.`);
  const command = firstWord(words);
  if (command !== undefined && !commandNames.includes(command)) return explainCommand(command);
  const helpful = `"rekap ${command ?? '<command>'} --help" shows what it takes.`;
  const meant = /^Did you mean (.+)\?$/.exec(message)?.[1];
  if (meant !== undefined) {
    // yargs names what was meant, but not what was typed.
    const typed = words.find((word) => word !== command && word !== meant && distance(word, meant) <= 3);
    const said = [command, typed].filter((word) => word !== undefined).join(' ');
    return new RekapError('usage', `There is no command ${JSON.stringify(said)}.`, `Did you mean ${meant}?`);
  }
  if (message.startsWith('Not enough non-option arguments')) {
    return command === 'query'
      ? new RekapError('usage', 'There is no SQL to ask.', quoted)
      : new RekapError('usage', 'Which snapshot to go back to is not said.', '"rekap snapshots list" shows their ids.');
  }
  const unknown = /^Unknown (?:arguments?|commands?): (.+)$/s.exec(message)?.[1];
  if (unknown === undefined) {
    const sentence = message
      .replace(/\s*\n\s*/g, ' ')
      .trim()
      .replace(/([^.?])$/, '$1.');
    return new RekapError('usage', sentence, '"rekap --help" and "rekap <command> --help" show what there is.');
  }
  const superfluous = words.find((word) => word === unknown || unknown.startsWith(`${word}, `));
  if (superfluous === undefined)
    return new RekapError('usage', `This command has no option --${unknown.split(', ')[0]}.`, helpful);
  if (command === 'snapshots' && words[words.indexOf(command) + 1] === superfluous)
    return new RekapError('usage', `There is no command ${JSON.stringify(`snapshots ${superfluous}`)}.`, helpful);
  return new RekapError(
    'usage',
    `${JSON.stringify(superfluous)} is one word too many.`,
    command === 'query' ? quoted : helpful,
  );
}

/** The word that stands where a command should; what follows an option may be its value. */
function firstWord(words: readonly string[]): string | undefined {
  const isFlag = (word: string | undefined): boolean => word?.startsWith('-') === true;
  return words.find((word, at) => !isFlag(word) && (!isFlag(words[at - 1]) || words[at - 1]!.includes('=')));
}

function explainCommand(typed: string): RekapError {
  const closest = closestName(typed, commandNames);
  return new RekapError(
    'usage',
    `There is no command ${JSON.stringify(typed)}.`,
    closest === undefined ? '"rekap --help" lists the commands.' : `Did you mean ${closest}?`,
  );
}

/** An option as it is typed, without its value. */
export interface Flag {
  readonly dashes: string;
  readonly name: string;
}

/** The first word that is an option, but none of any command; null where there is none. */
export function findUnknownFlag(words: readonly string[]): Flag | null {
  const end = words.indexOf('--');
  const flags = (end === -1 ? words : words.slice(0, end)).map(readFlag);
  return flags.find((flag) => flag !== null && !isKnown(flag)) ?? null;
}

/** A word with a blank in it is none: SQL may begin with a comment. */
function readFlag(word: string): Flag | null {
  const [, dashes, name] = /^(--?)([a-z][^\s=]*)(?:=.*)?$/is.exec(word) ?? [];
  return dashes === undefined || name === undefined ? null : { dashes, name };
}

function isKnown({ dashes, name }: Flag): boolean {
  if (dashes === '-' || name.length === 1) return /^[hv]+$/.test(name);
  const inWords = kebab(name);
  return optionNames.has(inWords) || optionNames.has(inWords.replace(/^no-/, ''));
}

/** base-url for baseUrl, as yargs has it. */
function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Says that there is no such option, and which one may have been meant. */
export function explainFlag({ dashes, name }: Flag): RekapError {
  const [, isOfSource, isOfService] =
    /^(?:x-?)?(?:api-?)?(?:(key)|(keys))$/.exec(kebab(name).replaceAll('_', '-')) ?? [];
  if (isOfSource !== undefined || isOfService !== undefined) {
    const [what, variable, file] =
      isOfSource === undefined
        ? ['The accepted keys come', 'REKAP_API_KEYS', '--api-keys-file']
        : ['The key comes', 'REKAP_API_KEY', '--api-key-file'];
    return new RekapError(
      'usage',
      `There is no option ${dashes}${name}: other users of this machine could read what it holds.`,
      `${what} from ${variable} or from a file named by ${file}.`,
    );
  }
  const closest = closestName(kebab(name), [...optionNames]);
  return new RekapError(
    'usage',
    // Behind one letter a value may stand without a blank.
    `There is no option ${dashes}${dashes === '-' ? name.charAt(0) : name}.`,
    closest === undefined ? '"rekap <command> --help" shows what there is.' : `Did you mean --${closest}?`,
  );
}
