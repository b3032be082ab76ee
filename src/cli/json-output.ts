/** What is known of the JSON that one command line prints; each begins anew. */

interface JsonOutput {
  /** Whether it is asked for; null until a command has declared its options. */
  wanted: boolean | null;
  /** Whether a document has been printed: no other may follow, not even of a failure. */
  printed: boolean;
}

const fresh: JsonOutput = { wanted: null, printed: false };

export const jsonOutput: JsonOutput = { ...fresh };

export function resetJsonOutput(): void {
  Object.assign(jsonOutput, fresh);
}
