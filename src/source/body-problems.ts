/** Describes bodies that rekap can't read as records: what is wrong, and what to do. */

import type { AnyPipeline } from '../project/declaration.ts';
import type { ScanError } from './decode/json-text.ts';

export interface BodyProblem {
  /** Continues "The response of URL". */
  readonly what: string;
  readonly next: string;
}

/** Returns why a body that begins like JSON can't be read. Only a web page suggests a wrong address. */
export function describeBody(body: Buffer, error: ScanError, format: AnyPipeline['format']): BodyProblem {
  const invalid = findInvalidByte(body);
  if (invalid !== null)
    return {
      what: `is not UTF-8 text: byte ${invalid} is 0x${body.toString('hex', invalid, invalid + 1)}.`,
      next: 'Ask the operator of the service to send UTF-8, or to name the charset in the header Content-Type.',
    };
  if (/ more than \d+ records/.test(error.message))
    return {
      what: `is too large: ${error.message}.`,
      next: 'Request fewer records at a time with a smaller --page-size, or declare the paging of the list.',
    };
  if (format === 'csv' || format === 'rows')
    return { what: `is not a table: ${error.message}.`, next: 'Check "format" and "delimiter" in the declaration.' };
  if (format === 'ndjson' || !isJson(body))
    return {
      what: `is not valid ${format === 'json' ? 'JSON' : 'NDJSON'}: ${error.message}. It continues with: ${excerpt(body.subarray(error.offset))}`,
      next: 'Ask the operator of the service to send valid JSON. It has no values such as NaN or Infinity.',
    };
  return {
    what: `does not have the declared shape: ${error.message}. It starts with: ${excerpt(body)}`,
    next: 'Correct `records` and `reportedCount` of the pipeline. To see where a response has its records, run "rekap probe" with its URL.',
  };
}

/** Returns the position of the first byte that isn't UTF-8; null if there is none. */
function findInvalidByte(body: Buffer): number | null {
  const text = body.toString('utf8');
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) {
    const byte = Buffer.byteLength(text.slice(0, at));
    // The replacement character itself is valid.
    if (body.toString('hex', byte, byte + 3) !== 'efbfbd') return byte;
  }
  return null;
}

function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
    return true;
  } catch {
    return false;
  }
}

export function beginsAsJson(body: Buffer): boolean {
  return /^(?:\xef\xbb\xbf)?\s*[[{]/.test(body.toString('latin1', 0, 1000));
}

/** Returns the printable start of a body. */
export function excerpt(body: Buffer): string {
  const start = body.toString('utf8', 0, 400);
  // A text in another encoding has few bytes that are not UTF-8.
  const isBinary = start.includes('\0') || start.split('\ufffd').length > start.length / 10 + 2;
  if (isBinary) return `(${body.length} bytes of binary data)`;
  const text = start
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  return text === '' ? '(an empty body)' : text.slice(0, 240);
}
