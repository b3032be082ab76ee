/** Quotes names and texts for Spark's SQL, in which a backslash is an escape. */

export function sparkText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

export function sparkName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

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
