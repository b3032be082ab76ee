/** Puts names and texts into SQL, so that they stay names and texts. */

/** A name as an SQL identifier. NUL, which no SQL can hold, is refused. */
export function quoteIdentifier(name: string): string {
  if (name.includes('\0')) throw new RangeError('an SQL identifier cannot hold a NUL character');
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as an SQL literal. NUL, which no SQL literal can hold, is refused. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new RangeError('an SQL literal cannot hold a NUL character');
  return `'${text.replaceAll("'", "''")}'`;
}

/** `"a", "b"` for a list of column names. */
export function columnList(names: readonly string[]): string {
  return names.map(quoteIdentifier).join(', ');
}
