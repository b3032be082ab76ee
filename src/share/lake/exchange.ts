/** Talks to a catalog: sends requests that contain a token or a credential, and keeps the 64-bit integers of its JSON, such as snapshot IDs, which JSON.parse would round. */

/** A response of the catalog, or of the endpoint that returns tokens. */
export interface CatalogResponse {
  readonly status: number;
  readonly text: string;
}

/** Sends a request, and reads its response. Throws the cause of a failed connection. Follows no redirect, which could send a secret elsewhere. */
export async function exchange(url: string, request: RequestInit): Promise<CatalogResponse> {
  try {
    const response = await fetch(url, { ...request, redirect: 'error' });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
  }
}

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
