/** rekap completion: the script that completes commands and options, and what that script asks for. yargs makes both. */

import yargs from 'yargs';
import { type Command, type CommandEntry, declareCommand, type Option } from './options/option.ts';
import { RekapError } from '../errors.ts';

export function declareCompletion(commands: readonly CommandEntry[]): Command {
  return declareCommand({
    words: { shell: `${shells.join(' or ')} [default: your login shell]` },
    options: {},
    examples: [
      ['rekap completion bash >> ~/.bashrc', 'in bash, for new shells'],
      ['rekap completion zsh >> ~/.zshrc', 'in zsh, for new shells'],
      ['source <(rekap completion)', 'in the current shell only'],
    ],
    async run(_, [shell]) {
      if (shell !== undefined && !shells.includes(shell))
        throw new RekapError(
          'usage',
          `Completion does not support the shell ${JSON.stringify(shell)}.`,
          `Choose ${shells.join(' or ')}.`,
        );
      await complete(['completion'], commands, shell);
    },
  });
}

const shells = ['bash', 'zsh'];

/**
 * Prints the script, or the completions that the script requests.
 *
 * @param words `completion`, or --get-yargs-completions and the arguments so far.
 * @param shell The shell that the script is for; yargs reads it from the environment.
 */
export async function complete(
  words: readonly string[],
  commands: readonly CommandEntry[],
  shell?: string,
): Promise<void> {
  if (shell !== undefined) Object.assign(process.env, { SHELL: shell, ZSH_NAME: '' });
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
