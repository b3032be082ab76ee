/** Completes words in a shell, through the script that `rekap completion` prints. */

import yargs from 'yargs';
import { type CommandEntry, findCommand } from './option.ts';

/** Returns the script, or the words that complete a command line. */
export async function completeWords(args: readonly string[], commands: readonly CommandEntry[]): Promise<string> {
  const words = await listWords(args.slice(2), commands);
  let output = '';
  await yargs([])
    .scriptName('rekap')
    .exitProcess(false)
    .completion('completion', 'Print a completion script', () => words)
    .parseAsync([...args], {}, (_error, _argv, text) => {
      output = text;
    });
  return output.trim();
}

async function listWords(given: readonly string[], commands: readonly CommandEntry[]): Promise<string[]> {
  if (given.at(-1)?.startsWith('-')) {
    const { options = {} } = (await findCommand(given, commands)?.load()) ?? {};
    return Object.keys(options).map((name) => `--${name}`);
  }
  const before = given.slice(0, -1);
  const names = commands.map(({ name }) => name.split(' '));
  const matching = names.filter((name) => before.every((word, at) => name[at] === word));
  return [...new Set(matching.flatMap((name) => name[before.length] ?? []))];
}
