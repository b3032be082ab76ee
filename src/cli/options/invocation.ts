/** The state of the current command, for code that prints messages. */

import type { CommandLine } from './option.ts';

interface Invocation {
  commandLine: CommandLine | null;
  command: string | null;
  warehouse: string | null;
  /** Where each option comes from, such as "--keep" or "REKAP_KEEP". */
  origins: Readonly<Record<string, string>>;
  printsJson: boolean;
  /** The ID of the last run; null if none began. */
  run: string | null;
  /** True if each line on stderr begins with its time. */
  isLog: boolean;
  hasReportedFailure: boolean;
  /** True after a JSON document was printed. Stdout gets only one. */
  hasPrintedJson: boolean;
}

const fresh: Omit<Invocation, 'commandLine'> = {
  command: null,
  warehouse: null,
  origins: {},
  printsJson: false,
  run: null,
  isLog: false,
  hasReportedFailure: false,
  hasPrintedJson: false,
};

export const invocation: Invocation = { ...fresh, commandLine: null };

export function beginInvocation(command: string | null, commandLine: CommandLine | null = null): void {
  Object.assign(invocation, { ...fresh, command, commandLine });
}

/** Returns an option's name as the user set it: "--keep", "REKAP_KEEP", or its place in the config file. */
export function nameOption(name: string): string {
  return invocation.origins[name] ?? `--${name}`;
}
