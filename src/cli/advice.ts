/** Commands that messages name, as whoever reads them has to type them: with the warehouse that they go over. */

/** What the options say of the warehouse; null where they say nothing, or are not read yet. */
let told: string | null = null;

export function noteWarehouse(warehouse: unknown): void {
  told = typeof warehouse === 'string' ? warehouse : null;
}

/**
 * Advice with every command that goes over a warehouse completed.
 *
 * @param warehouse Null for the one that a command goes over without a word.
 */
export function complete(advice: string, warehouse = told): string {
  if (warehouse === null) return advice;
  const named = quoteForShell(warehouse);
  const option = named.startsWith('-') ? `--warehouse=${named}` : `--warehouse ${named}`;
  return advice.replaceAll(/"(rekap (?:sync|replay|query|connect|diff|snapshots)\b[^"]*)"/g, (whole, command: string) =>
    /--(warehouse|help)/.test(command) ? whole : `"${command} ${option}"`,
  );
}

function quoteForShell(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
