/** Completes words in a shell, through the script that `rekap completion` prints. */

import yargs from 'yargs';
import { findCommand } from './option.ts';
import type { CommandEntry } from './option.ts';

/** Returns the script, or the words that complete a command line. */
export async function completeWords(args: readonly string[], commands: readonly CommandEntry[]): Promise<string> {
  let output = '';
  await yargs([])
    .scriptName('rekap')
    .exitProcess(false)
    .completion('completion', 'Print a completion script', async (current: string, { _: words }: { _: string[] }) => {
      const given = words.slice(1);
      const entry = findCommand(given, commands);
      if (current.startsWith('-')) return Object.keys((await entry?.load())?.options ?? {}).map((name) => `--${name}`);
      const before = given.filter((word) => word !== current);
      const matching = commands
        .map(({ name }) => name.split(' '))
        .filter((name) => before.every((word, at) => name[at] === word));
      return [...new Set(matching.flatMap((name) => name[before.length] ?? []))];
    })
    .parseAsync([...args], {}, (_error, _argv, text) => {
      output = text;
    });
  return output.trim();
}
