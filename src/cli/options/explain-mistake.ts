/** Explains mistakes on the command line: what is wrong, and what was probably meant. */

import { usageError } from './usage-error.ts';
import type { Command, CommandEntry } from './option.ts';
import { didYouMean } from '../../runtime/closest-name.ts';
import { RekapError } from '../../errors.ts';
import { hideCredentials } from '../../runtime/text.ts';

/** Refuses an API key. Returns null if the arguments contain none. */
function explainKey(args: readonly string[]): RekapError | null {
  const option = args.find((arg) => /^--?(?:x-)?(?:api[-_]?)?keys?(?:=|$)/i.test(arg))?.split('=')[0];
  if (option === undefined) return null;
  const isPlural = /s$/i.test(option);
  return usageError(
    `Unknown option ${option}. rekap does not take API keys as options, because other users of this machine could read them.`,
    isPlural ? 'Set REKAP_API_KEYS, or add --api-keys-file FILE.' : 'Set REKAP_API_KEY, or add --api-key-file FILE.',
  );
}

/** Explains arguments that don't begin with a command. */
export function explainCommand(args: readonly string[], commands: readonly CommandEntry[]): RekapError {
  const key = explainKey(args);
  if (key !== null) return key;
  // Don't print it, because it may be a key.
  if (args[0]!.startsWith('-'))
    return usageError('The command is missing.', 'Put the command first, such as rekap sync --sample.');
  const names = commands.map(({ name }) => name);
  const inGroup = names.filter((name) => name.startsWith(`${args[0]} `));
  const isGroup = inGroup.length > 0;
  const known = isGroup ? inGroup.map((name) => name.split(' ')[1]!) : names.map((name) => name.split(' ')[0]!);
  const help = `For the list of commands, run "rekap ${isGroup ? `${args[0]} ` : ''}--help".`;
  const name = args.slice(0, isGroup ? 2 : 1).join(' ');
  return usageError(
    `Unknown command ${JSON.stringify(name)}.`,
    didYouMean((isGroup ? args[1] : args[0]) ?? '', known, help),
  );
}

/** @param message The message of yargs. */
export function explainArguments(
  message: string,
  args: readonly string[],
  entry: CommandEntry,
  { options }: Command,
): RekapError {
  const key = explainKey(args);
  if (key !== null) return key;
  const help = `For its usage, run "rekap ${entry.name} --help".`;
  if (message.startsWith('Not enough non-option'))
    return usageError(`"rekap ${entry.name}" requires ${entry.usage.slice(entry.name.length + 1)}.`, help);
  // yargs renames __proto__.
  const unknown = /^Unknown arguments?: ([^,]+)/.exec(message)?.[1]?.replace('___proto___', '__proto__');
  if (unknown === undefined) return usageError(hideCredentials(message), help);
  if (args.includes(unknown)) {
    const advice = `Put arguments with spaces in quotes. ${help}`;
    return usageError(`Unexpected argument ${JSON.stringify(hideCredentials(unknown))}.`, advice);
  }
  // The rest after a single dash may be a secret.
  if (!args.some((arg) => /^--(?:no-)?([^=]+)/.exec(arg)?.[1] === unknown))
    return usageError(`Unknown option -${unknown.slice(0, 1)} for "rekap ${entry.name}".`, help);
  const typed = unknown.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
  const advice = didYouMean(typed, [...Object.keys(options), 'help'], help, (one) => `--${one}`);
  return usageError(`Unknown option --${unknown} for "rekap ${entry.name}".`, advice);
}
