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
    .completion('completion', 'Print a completion script', (current: string, argv: unknown, done) => {
      const { _: words } = argv as { readonly _: readonly string[] };
      void listWords(current, words.slice(1), commands).then(done);
    })
    .parseAsync([...args], {}, (_error, _argv, text) => {
      output = text;
    });
  return output.trim();
}

async function listWords(current: string, given: readonly string[], commands: readonly CommandEntry[]) {
  if (current.startsWith('-')) {
    const { options = {} } = (await findCommand(given, commands)?.load()) ?? {};
    return Object.keys(options).map((name) => `--${name}`);
  }
  const before = given.filter((word) => word !== current);
  const names = commands.map(({ name }) => name.split(' '));
  const matching = names.filter((name) => before.every((word, at) => name[at] === word));
  return [...new Set(matching.flatMap((name) => name[before.length] ?? []))];
}
