/** Commands that messages name, as whoever reads them has to type them: with the warehouse that they go over. */

import { invocation } from '../options/invocation.ts';

/**
 * Advice with every command that goes over a warehouse completed, and the command at hand in the place of any.
 *
 * @param warehouse Null for the one that a command goes over without a word.
 */
export function complete(advice: string, warehouse = invocation.warehouse): string {
  const specific = advice.replaceAll('rekap <command>', `rekap ${invocation.command ?? '<command>'}`);
  if (warehouse === null) return specific;
  const named = quoteForShell(warehouse);
  const option = named.startsWith('-') ? `--warehouse=${named}` : `--warehouse ${named}`;
  return specific.replaceAll(
    /"(rekap (?:sync|replay|query|connect|diff|snapshots)\b[^"]*)"/g,
    (whole, command: string) => (/--(warehouse|help)/.test(command) ? whole : `"${command} ${option}"`),
  );
}

function quoteForShell(word: string): string {
  return /^[\w./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
