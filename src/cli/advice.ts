/** Commands that messages name, as whoever reads them has to type them: with the warehouse that this command line names. */

let asTold = '';

/** Notes what the command line says of the warehouse; what stands in the environment or a file counts for the next command too. */
export function noteWarehouse(words: readonly string[]): void {
  const at = words.findLastIndex((word) => word === '--warehouse' || word.startsWith('--warehouse='));
  const value =
    at < 0 ? undefined : words[at] === '--warehouse' ? words[at + 1] : words[at]!.slice('--warehouse='.length);
  asTold = value === undefined ? '' : ` --warehouse ${quoteForShell(value)}`;
}

/** The text with every command that goes over a warehouse completed. */
export function complete(text: string): string {
  return text.replaceAll(/"(rekap (?:sync|replay|query|connect|diff|snapshots)\b[^"]*)"/g, (whole, command: string) =>
    /--(warehouse|help)/.test(command) ? whole : `"${command}${asTold}"`,
  );
}

function quoteForShell(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
