/** Parses the arguments of a command line with yargs. */

import yargs, { type Argv } from 'yargs';
import type { Command, CommandEntry, CommandLine, Option, Options } from './option.ts';
import { checkForms, toYargs } from './option-values.ts';
import { didYouMean } from '../../runtime/closest-name.ts';
import { allOptions } from './all-options.ts';
import { RekapError } from '../../errors.ts';
import { hideCredentials } from '../../runtime/text.ts';
import { readVersion } from '../../runtime/version.ts';

export interface ParsedArguments {
  /** Help, version or completions to print; empty if there is a command to run. */
  readonly output: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

/**
 * @param loaded The command that the arguments name, or all commands for completions.
 * @throws `usage` if yargs can't parse the arguments, or an option has an invalid value.
 */
export async function parseArguments(
  args: readonly string[],
  { commands, overview }: CommandLine,
  loaded: ReadonlyMap<CommandEntry, Command>,
): Promise<ParsedArguments> {
  const width = helpWidth();
  const [entry, command] = [...loaded].find(() => loaded.size === 1) ?? [];
  // Others matter only for completions, and for the nearest name of an unknown command.
  const near = commands.filter(({ name }) => name.split(' ')[0] === args[0]);
  const listed = near.length > 0 ? near : commands;
  const groups = new Set(listed.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0]!] : [])));
  let refusal: unknown;
  const refuse = (error: unknown): void => void (refusal = error);
  let parsed: Omit<ParsedArguments, 'output'> = { options: {}, positionals: [] };
  const add = (parser: Argv, each: CommandEntry): void => {
    const name = each.name.split(' ').at(-1)!;
    const known = loaded.get(each);
    parser.command(
      [name, ...each.usage.slice(each.name.length).trim().split(' ')].join(' ').trim(),
      each.describe,
      (own) => {
        if (!each.name.includes(' ')) addGroup(own, each.name);
        return known === undefined ? own : declareAll(own, known, { width, refuse, showsAll });
      },
      ({ _: rest, $0: _program, ...options }) => {
        const names = Object.keys(known?.positionals ?? {});
        const named = names.flatMap((one) => (options[one] === undefined ? [] : [options[one] as string]));
        parsed = { options, positionals: [...named, ...rest.slice(each.name.split(' ').length).map(String)] };
        // Otherwise yargs renders the help of the command, which takes 25 ms.
        throw hasParsed;
      },
    );
  };
  const showsAll = args.includes('--help-all');
  const addGroup = (parser: Argv, group: string): void => {
    for (const each of listed) if (each.name.startsWith(`${group} `)) add(parser, each);
  };
  const parser = yargs([])
    .scriptName('rekap')
    .usage(`$0 <command> [options]\n\n${overview.purpose}`)
    .parserConfiguration({ 'dot-notation': false, 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .strict()
    .recommendCommands()
    .demandCommand(1)
    .alias('help', 'h')
    .version(readVersion())
    .alias('version', 'v')
    .completion('completion', 'Print a completion script for your shell, bash or zsh')
    .wrap(width)
    .exitProcess(false)
    .updateStrings({ 'Not enough arguments following: %s': '--%s requires a value.' })
    .fail((message, error) => {
      throw (
        refusal ?? explain(message ?? error.message, args, entry, command?.options ?? {}, groups.has(args[0] ?? ''))
      );
    });
  for (const each of listed) if (!each.name.includes(' ')) add(parser, each);
  for (const group of groups)
    if (!listed.some(({ name }) => name === group))
      parser.command(group, '', (own) => addGroup(own.version(false).demandCommand(1), group));
  if (entry !== undefined && command !== undefined)
    checkForms(args, { ...command.options, config: allOptions.config }, entry.name);
  let output = '';
  try {
    await parser.parseAsync([...args], {}, (_error, _argv, text) => {
      output = text;
    });
  } catch (error) {
    if (error !== hasParsed) throw error;
  }
  return { output, ...parsed };
}

export function helpWidth(): number {
  return Math.min(process.stdout.columns ?? (Number(process.env['COLUMNS']) || 80), 100);
}

/** Ends the parsing of a command that is valid. */
const hasParsed = new Error('The arguments are parsed.');

interface DeclaredFor {
  readonly width: number;
  readonly showsAll: boolean;
  readonly refuse: (error: unknown) => void;
}

function declareAll(parser: Argv, command: Command, { width, showsAll, refuse }: DeclaredFor): Argv {
  const { positionals = {}, options, examples = [], notes, common } = command;
  for (const [name, describe] of Object.entries(positionals)) parser.positional(name, { describe, type: 'string' });
  for (const [name, option] of Object.entries<Option>({ ...options, config: allOptions.config })) {
    parser.option(name, {
      ...toYargs(name, option, refuse),
      hidden: !showsAll && common !== undefined && !common.includes(name),
    });
  }
  if (common !== undefined) parser.option('help-all', { type: 'boolean', describe: 'Show all options' });
  if (notes !== undefined) parser.epilogue(notes(width));
  return parser.version(false).example(examples.map(([line, what]): [string, string] => [line, what]));
}

function explain(
  message: string,
  args: readonly string[],
  entry: CommandEntry | undefined,
  options: Options,
  isGroup: boolean,
): RekapError {
  const secret = args.find((arg) => /^--?(?:x-)?(?:api[-_]?)?keys?(?:=|$)/i.test(arg))?.split('=')[0];
  if (secret !== undefined)
    return usage(
      `Unknown option ${secret}. rekap does not take API keys as options, because other users of this machine could read them.`,
      /s$/i.test(secret)
        ? 'Set REKAP_API_KEYS, or add --api-keys-file FILE.'
        : 'Set REKAP_API_KEY, or add --api-key-file FILE.',
    );
  if (entry === undefined) {
    // Don't print it, because it may be a key.
    if (args[0]!.startsWith('-'))
      return usage('The command is missing.', 'Put the command first, such as rekap sync --sample.');
    const name = args.slice(0, isGroup ? 2 : 1).join(' ');
    const advice = message.startsWith('Did you mean')
      ? message
      : `For the list of commands, run "rekap ${isGroup ? `${args[0]} ` : ''}--help".`;
    return usage(`Unknown command ${JSON.stringify(name)}.`, advice);
  }
  const help = `For its usage, run "rekap ${entry.name} --help".`;
  if (message.startsWith('Not enough non-option'))
    return usage(`"rekap ${entry.name}" requires ${entry.usage.slice(entry.name.length + 1)}.`, help);
  // yargs renames __proto__.
  const unknown = /^Unknown arguments?: ([^,]+)/.exec(message)?.[1]?.replace('___proto___', '__proto__');
  if (unknown === undefined) return usage(hideCredentials(message), help);
  if (args.includes(unknown)) {
    const advice = `Put arguments with spaces in quotes. ${help}`;
    return usage(`Unexpected argument ${JSON.stringify(hideCredentials(unknown))}.`, advice);
  }
  // The rest after a single dash may be a secret.
  if (!args.some((arg) => /^--(?:no-)?([^=]+)/.exec(arg)?.[1] === unknown))
    return usage(`Unknown option -${unknown.slice(0, 1)} for "rekap ${entry.name}".`, help);
  const typed = unknown.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
  const advice = didYouMean(typed, [...Object.keys(options), 'help'], help, (one) => `--${one}`);
  return usage(`Unknown option --${unknown} for "rekap ${entry.name}".`, advice);
}

function usage(message: string, next: string): RekapError {
  return new RekapError('usage', message, next);
}
