/** Reads a command and its options from the arguments, the environment, the config file and defaults. */

import type { Command, CommandEntry, CommandLine, Options, Values } from './option.ts';
import { parseArguments } from './parse-arguments.ts';
import { readSettings } from './settings.ts';
import type { RekapError } from '../../errors.ts';

export interface ReadCommand {
  readonly command: Command;
  readonly options: Values<Options>;
  readonly positionals: readonly string[];
  readonly failure: RekapError | null;
  readonly foundConfig: string | null;
}

/** Returns a command to run, or text to print, such as help. */
export async function readCommand(
  args: readonly string[],
  line: CommandLine,
): Promise<ReadCommand | { readonly output: string; readonly command: null }> {
  const entry = findCommand(args, line.commands);
  const needed = args[0] === '--get-yargs-completions' ? line.commands : entry === undefined ? [] : [entry];
  const loaded = new Map(await Promise.all(needed.map(async (each) => [each, await each.load()] as const)));
  const { output, options: given, positionals } = await parseArguments(args, line, loaded);
  const command = entry === undefined ? undefined : loaded.get(entry);
  if (output !== '' || command === undefined) return { output, command: null };
  const { values, ...found } = await readSettings(command, given);
  return { command, options: values as Values<Options>, positionals, ...found };
}

export function findCommand(args: readonly string[], commands: readonly CommandEntry[]): CommandEntry | undefined {
  return commands.findLast(({ name }) => name.split(' ').every((part, at) => args[at] === part));
}
