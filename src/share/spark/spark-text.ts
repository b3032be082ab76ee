/** Quotes names and texts for Spark's SQL, in which a backslash is an escape. spark-sql skips each line that begins with `--`, even in a text. */

const escapes: Readonly<Record<string, string>> = {
  '\\': String.raw`\\`,
  "'": String.raw`\'`,
  '\n': String.raw`\n`,
  '\r': String.raw`\r`,
  // \0 would read on if digits follow.
  '\0': String.raw`\u0000`,
};

export function sparkText(text: string): string {
  return `'${text.replaceAll(/[\\'\n\r\0]/g, (character) => escapes[character]!)}'`;
}

export function sparkName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Names the view of all records of a dataset, each with whether it is a row, a duplicate or in quarantine. */
export const judgedName = (table: string): string => sparkName(`_${table}_judged`);

/** Names the view of the rows of a dataset. */
export const rowsName = (table: string): string => sparkName(`_${table}_rows`);

/** Returns the items of a SELECT that has these columns. */
export function sparkItems(
  columns: readonly { readonly name: string; readonly type: string }[],
  valueOf: (name: string) => string,
): string {
  return columns
    .map(({ name, type }) => `CAST(${valueOf(name)} AS ${sparkType(type)}) AS ${sparkName(name)}`)
    .join(', ');
}

/** Returns Spark's name of a type of DuckDB. */
export function sparkType(type: string): string {
  if (type === 'VARCHAR') return 'STRING';
  if (type === 'INTEGER') return 'INT';
  return type === 'TIMESTAMP' ? 'TIMESTAMP_NTZ' : type;
}
