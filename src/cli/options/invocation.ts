/** The state of the running command line, for code that prints or refuses something. */

import type { CommandLine } from './option.ts';

interface Invocation {
  /** All commands, for the one that shows the settings of another. */
  commandLine: CommandLine | null;
  /** The name of the command; null if the arguments name none. */
  command: string | null;
  /** The warehouse that the user chose; null for the default one. */
  warehouse: string | null;
  /** Where each option comes from, such as "--keep" or "REKAP_KEEP". */
  origins: Readonly<Record<string, string>>;
  /** True if the output is JSON. */
  wantsJson: boolean;
  /** The last run; null if none has begun. */
  run: string | null;
  /** True if stderr is a log, in which each line begins with its time. */
  isLog: boolean;
  /** True after the failure of the command was printed. */
  hasReportedFailure: boolean;
  /** True after a JSON document was printed: stdout gets only one. */
  hasPrintedJson: boolean;
}

const fresh: Omit<Invocation, 'commandLine'> = {
  command: null,
  warehouse: null,
  origins: {},
  wantsJson: false,
  run: null,
  isLog: false,
  hasReportedFailure: false,
  hasPrintedJson: false,
};

export const invocation: Invocation = { ...fresh, commandLine: null };

export function beginInvocation(command: string | null, commandLine: CommandLine | null = null): void {
  Object.assign(invocation, { ...fresh, command, commandLine });
}

/** Returns an option's name where the user set it: "--keep", "REKAP_KEEP", or its place in the config file. */
export function nameOption(name: string): string {
  return invocation.origins[name] ?? `--${name}`;
}
