/** Quotes names and texts for Spark's SQL, in which a backslash is an escape. */

export function sparkText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
}

export function sparkName(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``;
}

/** Returns Spark's name of a type of DuckDB. */
export function sparkType(type: string): string {
  if (type === 'VARCHAR') return 'STRING';
  if (type === 'INTEGER') return 'INT';
  return type === 'TIMESTAMP' ? 'TIMESTAMP_NTZ' : type;
}
