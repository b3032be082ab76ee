/** The state of the current command, for code that prints messages. */

interface Invocation {
  command: string | null;
  warehouse: string | null;
  /** The arguments after the name of the command. */
  args: readonly string[];
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

export const invocation = {} as Invocation;

export function beginInvocation(command: string | null, args: readonly string[] = []): void {
  const fresh: Invocation = {
    command,
    args,
    warehouse: null,
    origins: {},
    printsJson: false,
    run: null,
    isLog: false,
    hasReportedFailure: false,
    hasPrintedJson: false,
  };
  Object.assign(invocation, fresh);
}

beginInvocation(null);

/** Returns an option's name as the user set it: "--keep", "REKAP_KEEP", or its place in the config file. */
export function nameOption(name: string): string {
  return invocation.origins[name] ?? `--${name}`;
}
