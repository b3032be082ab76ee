/** Parses and writes JSON with integers of 64 bits, such as the snapshot IDs of Iceberg, which JSON.parse would round. */

const mark = '\u0000';

/** Returns the value of a JSON text, with integers of 16 digits or more as bigint. Throws SyntaxError as JSON.parse does. */
export function parseExactly(text: string): unknown {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|[-\d.eE+]+/g, (token) =>
    /^-?\d{16,}$/.test(token) ? `"\\u0000${token}"` : token,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(1)) : value,
  );
}

/** Writes a value as JSON, with bigints as numbers. */
export function writeExactly(value: unknown): string {
  const marked = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? `${mark}${inner}` : inner,
  );
  return marked.replaceAll(/"\\u0000(-?\d+)"/g, '$1');
}
