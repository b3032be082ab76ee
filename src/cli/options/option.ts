/** Declares commands and their options. */

export interface Option {
  readonly type: 'boolean' | 'number' | 'string' | 'array';
  readonly describe: string;
  /** A boolean is false by default. */
  readonly default?: number | string;
  readonly defaultDescription?: string;
  readonly choices?: readonly string[];
  readonly range?: readonly [min: number, max: number];
  /** 1 if each occurrence of an array has one value; other arrays are split at blanks and commas. */
  readonly nargs?: 1;
  /** For a bucket, the command gets the folder of a local copy. */
  readonly path?: 'folder' | 'folder or bucket';
}

export type Options = Readonly<Record<string, Option>>;

interface ValueOf {
  boolean: boolean;
  number: number;
  string: string;
  array: readonly string[];
}

type Value<Own extends Option> = Own extends { choices: readonly (infer Choice)[] } ? Choice : ValueOf[Own['type']];

/** The values of options by name: always defined for a boolean and for an option with a default. */
export type Values<Own extends Options> = {
  readonly [Name in keyof Own]: Own[Name] extends { type: 'boolean' } | { default: number | string }
    ? Value<Own[Name]>
    : Value<Own[Name]> | undefined;
};

interface Declaration<Own extends Options, Result> {
  readonly positionals?: Readonly<Record<string, string>>;
  readonly options: Own;
  readonly exclusive?: readonly (keyof Own & string)[];
  /** Options that --help shows; --help-all shows the others too. By default all. */
  readonly common?: readonly string[];
  /** True if the command doesn't read rekap.json in the working directory. */
  readonly ignoresConfig?: boolean;
  readonly examples?: readonly (readonly [line: string, description: string])[];
  readonly notes?: (width: number) => string;
  /** Returns the result to print. A command without `print` prints by itself, and returns the exit code if it isn't 0. */
  run(args: Values<Own>, positionals: readonly string[]): Promise<Result>;
  /** Returns what --json prints, if it isn't the result. */
  toJson?(result: Result): unknown;
  /** Returns the text that is printed without --json. */
  print?(result: Result, args: Values<Own>): string | Promise<string>;
  /** Runs after the result was printed. Returns the exit code if it isn't 0, or throws. */
  finish?(result: Result): number | void | Promise<void>;
  /** Runs if the config file can't be used, with the options from elsewhere. The error is thrown afterwards. */
  cannotBegin?(args: Values<Own>, error: unknown): Promise<void>;
}

export type Command = Declaration<Options, unknown>;

/** Returns the environment variable of an option. */
export function variableOf(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}

export function declareCommand<const Own extends Options, Result>(declaration: Declaration<Own, Result>): Command {
  // The parser gives each option the type that it declares.
  return declaration as unknown as Command;
}

export interface CommandEntry {
  readonly group: string;
  readonly name: string;
  /** The name and its positional arguments: `<required>` or `[optional]`. */
  readonly usage: string;
  readonly describe: string;
  load(): Promise<Command>;
}

/** Returns the command that the arguments begin with. */
export function findCommand(args: readonly string[], commands: readonly CommandEntry[]): CommandEntry | undefined {
  return commands.findLast(({ name }) => name.split(' ').every((part, at) => args[at] === part));
}
