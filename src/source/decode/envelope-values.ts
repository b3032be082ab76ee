/** Reads the values beside the records: the count, the next page and the flag. Each function passes the value in the text. */

import { FieldKind } from '../../stages.ts';
import { type JsonText, ScanError } from './json-text.ts';

export function passCount(text: JsonText, name: string): number {
  const start = text.at;
  const kind = text.passValue(1);
  const isText = kind === FieldKind.text || kind === FieldKind.escaped;
  const parsed: unknown = isText || kind === FieldKind.number ? JSON.parse(text.text(start, text.at)) : null;
  // A service that writes all values as texts may do so with its count.
  const value = typeof parsed === 'string' && /^\d+$/.test(parsed) ? Number(parsed) : parsed;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ScanError(`its ${name} is not a whole number`, start);
  return value;
}

/** Returns null for the values that services write on the last page: null, false, an empty text, and 0. */
export function passNext(text: JsonText, name: string): string | null {
  const start = text.at;
  const kind = text.passValue(1);
  const written = text.text(start, text.at);
  if (kind === FieldKind.null || ['false', '""', '0', '"0"'].includes(written)) return null;
  if (kind === FieldKind.number) return written;
  if (kind === FieldKind.text || kind === FieldKind.escaped) return JSON.parse(written) as string;
  throw new ScanError(`its ${name} is neither text nor a number`, start);
}

interface LinkObject {
  readonly rel?: unknown;
  readonly href?: unknown;
  readonly url?: unknown;
}

/** Returns the address of the link with this relation in a list of links. Returns undefined if the list has no such link. */
export function passLinks(text: JsonText, name: string, relation: string): string | null | undefined {
  const start = text.at;
  text.passValue(1);
  const parsed = JSON.parse(text.text(start, text.at)) as unknown;
  if (parsed === null) return undefined;
  if (!Array.isArray(parsed)) throw new ScanError(`its ${name} is not a list of links`, start);
  const link = parsed.find((one: LinkObject | null) => one?.rel === relation) as LinkObject | undefined;
  if (link === undefined) return undefined;
  const address = link.href ?? link.url;
  if (typeof address === 'string' && address !== '') return address;
  throw new ScanError(`the link with rel="${relation}" in its ${name} has no address`, start);
}

/** Returns null for null, which says nothing. */
export function passFlag(text: JsonText, name: string): boolean | null {
  const start = text.at;
  text.passValue(1);
  const written = text.text(start, text.at);
  if (written === 'null') return null;
  if (/^"?(?:true|1)"?$/i.test(written)) return true;
  if (/^"?(?:false|0)"?$/i.test(written)) return false;
  throw new ScanError(`its ${name} is neither true nor false`, start);
}
