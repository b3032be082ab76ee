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

export interface Declaration<Own extends Options> {
  readonly positionals?: Readonly<Record<string, string>>;
  readonly options: Own;
  readonly exclusive?: readonly (keyof Own & string)[];
  /** Options that --help shows; --help-all shows the others too. By default all. */
  readonly common?: readonly string[];
  /** True if the command doesn't read rekap.json in the working directory. */
  readonly ignoresConfig?: boolean;
  readonly examples?: readonly (readonly [line: string, description: string])[];
  readonly notes?: (width: number) => string;
  /** Returns the exit code if it isn't 0. */
  run(args: Values<Own>, positionals: readonly string[]): Promise<number | void>;
  /** Runs if the config file can't be used, with the options from elsewhere. The error is thrown afterwards. */
  cannotBegin?(args: Values<Own>, error: unknown): Promise<void>;
}

export type Command = Declaration<Options>;

/** Returns the environment variable of an option. */
export function variableOf(option: string): string {
  return `REKAP_${option.replaceAll('-', '_').toUpperCase()}`;
}

export function declareCommand<const Own extends Options>(declaration: Declaration<Own>): Command {
  // The parser gives each option the type that it declares.
  return declaration as unknown as Command;
}

export interface CommandEntry {
  readonly name: string;
  /** The name and its positional arguments: `<required>` or `[optional]`. */
  readonly usage: string;
  readonly describe: string;
  load(): Promise<Command>;
}

export interface CommandLine {
  readonly commands: readonly CommandEntry[];
  /** Titles of the groups of commands, in the order of the overview. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  readonly overview: {
    readonly purpose: string;
    readonly examples: Command['examples'];
    readonly notes: string;
    /** Descriptions of names in `groups` that aren't commands. */
    readonly others: Readonly<Record<string, string>>;
  };
}
