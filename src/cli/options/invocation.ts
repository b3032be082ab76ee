/** What is known of the command line at hand, for whatever prints or refuses something; each begins anew. */

interface Invocation {
  /** The command, with its own one where it has some; null where none is named. */
  command: string | null;
  /** What the options say of the warehouse; null where they say nothing, or are not read yet. */
  warehouse: string | null;
  /** As what each option was given, by its name. */
  origins: Readonly<Record<string, string>>;
  /** Whether JSON is asked for; undefined until the options are read. */
  wantsJson: boolean | undefined;
  /** Whether a JSON document has been printed: no other may follow, not even of a failure. */
  hasPrintedJson: boolean;
}

const fresh: Invocation = { command: null, warehouse: null, origins: {}, wantsJson: undefined, hasPrintedJson: false };

export const invocation: Invocation = { ...fresh };

export function beginInvocation(command: string | null): void {
  Object.assign(invocation, { ...fresh, command });
}

/** An option as whoever gave it knows it: --keep, or the variable or the place in a file that stands for it. */
export function nameOption(name: string): string {
  return invocation.origins[name] ?? `--${name}`;
}
