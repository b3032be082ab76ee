/** Finds an option that no command has, and says what may have been meant; its value, which may be a secret, is never repeated. */

import { RekapError } from '../../errors.ts';
import { closestName } from './closest-name.ts';
import { optionNames } from './options.ts';

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
