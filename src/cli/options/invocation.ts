/** What is known of the command line at hand, for whatever prints or refuses something; each begins anew. */

import type { CommandEntry } from './option.ts';

interface Invocation {
  /** Every command, for the one that shows the settings of another. */
  commands: readonly CommandEntry[];
  /** The command, with its own one where it has some; null where none is named. */
  command: string | null;
  /** What the options say of the warehouse; null where they say nothing, or are not read yet. */
  warehouse: string | null;
  /** As what each option was given, by its name. */
  origins: Readonly<Record<string, string>>;
  /** The words that would name the config file that is given, and its profile. */
  configWords: readonly string[];
  /** Whether JSON is asked for; undefined until the options are read. */
  wantsJson: boolean | undefined;
  /** The run that is under way, or was the last; null where none has begun. */
  run: string | null;
  /** Whether stderr is a log, where each line begins with its time. */
  isLog: boolean;
  /** Whether it has been said why the command failed. */
  hasToldFailure: boolean;
  /** Whether a JSON document has been printed: no other may follow, not even of a failure. */
  hasPrintedJson: boolean;
}

const fresh: Omit<Invocation, 'commands'> = {
  command: null,
  warehouse: null,
  origins: {},
  configWords: [],
  wantsJson: undefined,
  run: null,
  isLog: false,
  hasToldFailure: false,
  hasPrintedJson: false,
};

export const invocation: Invocation = { ...fresh, commands: [] };

export function beginInvocation(command: string | null, commands: readonly CommandEntry[] = []): void {
  Object.assign(invocation, { ...fresh, command, commands });
}

/** An option as whoever gave it knows it: --keep, or the variable or the place in a file that stands for it. */
export function nameOption(name: string): string {
  return invocation.origins[name] ?? `--${name}`;
}
