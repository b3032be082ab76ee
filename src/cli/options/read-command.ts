/** Reads a command and its options from all places: arguments, environment, config file and defaults. */

import type { Command, CommandEntry, CommandLine, Options, Values } from './option.ts';
import { parseArguments } from './parse-arguments.ts';
import { readSettings } from './settings.ts';
import type { RekapError } from '../../errors.ts';

export interface ReadCommand {
  /** Help, the version or completions to print; empty if the command is to run. */
  readonly output: string;
  readonly command: Command;
  readonly options: Values<Options>;
  readonly positionals: readonly string[];
  /** Why the config file can't be used; null if it can. */
  readonly failure: RekapError | null;
  /** The config file that sets some options although the user didn't name it; null if there is none. */
  readonly foundConfig: string | null;
}

/** Returns the command that the arguments name; null if they name none, and there is only output. */
export async function readCommand(
  words: readonly string[],
  line: CommandLine,
): Promise<ReadCommand | { readonly output: string; readonly command: null }> {
  const entry = findCommand(words, line.commands);
  const needed = words[0] === '--get-yargs-completions' ? line.commands : entry === undefined ? [] : [entry];
  const loaded = new Map(await Promise.all(needed.map(async (each) => [each, await each.load()] as const)));
  const { output, options: given } = await parseArguments(words, line, loaded, { hasDefaults: false });
  const command = entry === undefined ? undefined : loaded.get(entry);
  if (output !== '' || command === undefined) return { output, command: null };
  const { values, ...found } = await readSettings(command, given, () => loadOptions(line.commands));
  const { options, positionals } = await parseArguments(words, line, loaded, { settings: values });
  const switches = Object.entries(command.options).filter(([, { type }]) => type === 'boolean');
  const off = Object.fromEntries(switches.map(([name]) => [name, false]));
  return { output, command, options: { ...off, ...options } as Values<Options>, positionals, ...found };
}

/** Returns the command that the first arguments name. */
export function findCommand(words: readonly string[], commands: readonly CommandEntry[]): CommandEntry | undefined {
  return commands.find(({ name }) => name.split(' ').every((part, at) => words[at] === part));
}

/** Loads the options of every command. */
export async function loadOptions(commands: readonly CommandEntry[]): Promise<Options> {
  const loaded = await Promise.all(commands.map(({ load }) => load()));
  return Object.assign({}, ...loaded.map(({ options }) => options)) as Options;
}
