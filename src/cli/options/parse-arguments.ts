/** Parses the arguments of a command with yargs. */

import yargs from 'yargs';
import type { Command, CommandEntry, Options, Values } from './option.ts';
import { checkForms, toYargs } from './option-values.ts';
import { explainArguments } from './explain-mistake.ts';
import { allOptions } from './all-options.ts';

interface ParsedArguments {
  /** The help to print; empty if the command is to run. */
  readonly output: string;
  readonly options: Values<Options>;
  readonly positionals: readonly string[];
}

/** Ends the parsing of valid arguments. Otherwise yargs renders the help too, which takes 25 ms. */
const hasParsed = new Error('The arguments are parsed.');

interface Requested {
  /** The arguments after the name of the command. */
  readonly args: readonly string[];
  readonly entry: CommandEntry;
  readonly command: Command;
  /** Options from the environment and the config file. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The width of the help. */
  readonly width: number;
}

/** @throws `usage` if yargs can't parse the arguments, or an option has an invalid value. */
export async function parseArguments({ args, entry, command, given, width }: Requested): Promise<ParsedArguments> {
  const { positionals = {}, examples = [], notes, common } = command;
  const options: Options = { ...command.options, config: allOptions.config };
  const showsAll = args.includes('--help-all');
  let refusal: unknown;
  const refuse = (error: unknown): void => void (refusal = error);
  let parsed: Omit<ParsedArguments, 'output'> = { options: {}, positionals: [] };
  const parser = yargs([])
    .scriptName(`rekap ${entry.name}`)
    .parserConfiguration({ 'dot-notation': false, 'camel-case-expansion': false, 'parse-positional-numbers': false })
    .strict()
    .alias('help', 'h')
    .version(false)
    .wrap(width)
    .exitProcess(false)
    .updateStrings({ 'Not enough arguments following: %s': '--%s requires a value.' })
    .fail((message, error) => {
      throw refusal ?? explainArguments(message ?? error.message, args, entry, command);
    })
    .config(given)
    .command(
      `$0${entry.usage.slice(entry.name.length)}`,
      entry.describe,
      (own) => {
        for (const [name, describe] of Object.entries(positionals)) own.positional(name, { describe, type: 'string' });
        for (const [name, option] of Object.entries(options)) {
          const hidden = !showsAll && common !== undefined && !common.includes(name);
          own.option(name, { ...toYargs(name, option, refuse), hidden });
        }
        if (common !== undefined) own.option('help-all', { type: 'boolean', describe: 'Show all options' });
        if (notes !== undefined) own.epilogue(notes(width));
        return own.example(examples.map(([line, what]): [string, string] => [line, what]));
      },
      ({ _: rest, $0: _program, ...values }) => {
        const named = Object.keys(positionals).flatMap((name) => (values[name] as string | undefined) ?? []);
        parsed = { options: withDefaults(options, values), positionals: [...named, ...rest.map(String)] };
        throw hasParsed;
      },
    );
  checkForms(args, options, entry.name);
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

function withDefaults(options: Options, values: Readonly<Record<string, unknown>>): Values<Options> {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, default: usual }]) => [
      name,
      values[name] ?? (type === 'boolean' ? false : usual),
    ]),
  ) as Values<Options>;
}
