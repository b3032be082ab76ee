/** What a command declares: its options with their types and bounds, its examples, and what it does. */

/** An option as the help shows it and as every place that may give it is checked. */
export type Option = OptionFacts &
  (
    | { readonly type: 'boolean'; readonly takes?: never }
    | {
        /**
         * A `list` may be given several times, and each time several values, with blanks or commas between them; of `texts`, each time one
         * value as it is.
         */
        readonly type: 'number' | 'text' | 'folder' | 'list' | 'texts';
        /** The value in the help, such as FILE. */
        readonly takes: string;
      }
  );

interface OptionFacts {
  /** One letter that stands for it: -f. */
  readonly short?: string;
  readonly describe: string;
  /** Where it stands in for a missing value; a boolean is false without one. */
  readonly default?: number | string;
  /** Describes the default that no value can express. */
  readonly defaultText?: string;
  /** The least and the most that a whole number may be. */
  readonly range?: readonly [least: number, most: number];
  readonly choices?: readonly string[];
  /** Whether a folder may be the address of a bucket; the command then gets the folder of a copy. */
  readonly orBucket?: boolean;
}

export type Options = Readonly<Record<string, Option>>;

interface ValueOf {
  boolean: boolean;
  number: number;
  text: string;
  folder: string;
  list: readonly string[];
  texts: readonly string[];
}

type Value<Own extends Option> = Own extends { choices: readonly (infer Choice)[] } ? Choice : ValueOf[Own['type']];

/** The values of options, by name: always there for a boolean and where there is a default. */
export type Values<Own extends Options> = {
  readonly [Name in keyof Own]: Own[Name] extends { type: 'boolean' } | { default: number | string }
    ? Value<Own[Name]>
    : Value<Own[Name]> | undefined;
};

export interface Declaration<Own extends Options> {
  /** What each word behind the command's name is, by its name. */
  readonly words?: Readonly<Record<string, string>>;
  readonly options: Own;
  /** Options of which one place may give one at most. */
  readonly exclusive?: readonly (keyof Own & string)[];
  /** Whether rekap.json in the working directory is not read. */
  readonly ignoresConfig?: boolean;
  /** Command lines for the help, and what each is for. */
  readonly examples?: readonly (readonly [line: string, what: string])[];
  /** What else the help says, in lines of so many columns. */
  readonly notes?: (width: number) => string;
  /**
   * Gives the exit code where it is not 0.
   *
   * @param words As many as were given.
   */
  run(args: Values<Own>, words: readonly string[]): Promise<number | void>;
  /** Called instead if the config file cannot be used, with the options that are known without it. The error is thrown afterwards. */
  cannotBegin?(args: Values<Own>, error: unknown): Promise<void>;
}

/** A command whose own types are of no concern to who calls it. */
export type Command = Declaration<Options>;

export function declareCommand<const Own extends Options>(declaration: Declaration<Own>): Command {
  // Whoever runs it fills its options as they are declared.
  return declaration as unknown as Command;
}

/** A command as it is listed; its own file is loaded only when it is needed. */
export interface CommandEntry {
  /** One word, or the group and the word in it. */
  readonly name: string;
  /** The name, and the words that follow it: `<needed>` or `[optional]`. */
  readonly usage: string;
  readonly describe: string;
  load(): Promise<Command>;
}
