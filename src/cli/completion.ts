/** rekap completion: the script that completes commands and options, and what that script asks for. yargs makes both. */

import yargs from 'yargs';
import { type Command, type CommandEntry, declareCommand, type Option } from './options/option.ts';

export function declareCompletion(commands: readonly CommandEntry[]): Command {
  return declareCommand({
    options: {},
    examples: [
      ['rekap completion >> ~/.bashrc', 'in bash, from the next shell on'],
      ['rekap completion >> ~/.zshrc', 'in zsh'],
      ['source <(rekap completion)', 'in this shell only'],
    ],
    run: () => complete(['completion'], commands),
  });
}

/** @param words `completion`, or what the script asks: --get-yargs-completions and the words that are there so far. */
export async function complete(words: readonly string[], commands: readonly CommandEntry[]): Promise<void> {
  const parser = yargs([...words])
    .scriptName('rekap')
    .completion('completion')
    .version(false)
    .exitProcess(false);
  const types = {
    boolean: 'boolean',
    list: 'array',
    texts: 'string',
    number: 'number',
    text: 'string',
    folder: 'string',
  } as const;
  const toYargs = ({ type, describe, choices = [] }: Option) => ({
    describe,
    type: types[type],
    ...(choices.length > 0 ? { choices } : {}),
  });
  const loaded = await Promise.all(commands.map(async (entry) => ({ ...entry, ...(await entry.load()) })));
  for (const first of new Set(loaded.map(({ name }) => name.split(' ')[0]!)))
    parser.command(first, '', (argv) => {
      for (const { name, usage, describe, options } of loaded) {
        const declared = Object.fromEntries(Object.entries(options).map(([option, own]) => [option, toYargs(own)]));
        if (name === first) argv.options(declared);
        else if (name.startsWith(`${first} `)) argv.command(usage.slice(first.length + 1), describe, declared);
      }
    });
  await parser.parseAsync();
}
