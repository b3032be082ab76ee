/**
 * Reads the envelope `{count, data}` straight in the answer's bytes: where each record lies and where each declared
 * field's value lies. Parsing into objects costs three times as much and rounds numbers; here nothing is copied or converted.
 * The whole text is checked to be JSON on the way.
 */

import { CLOSE_BRACE, COLON, JsonText, OPEN_BRACE, OPEN_BRACKET, QUOTE, ScanError } from './json-text.ts';
import { FieldOrder, RecordScanner } from './record-scanner.ts';
import type { AnyPipeline } from '../../pipeline.ts';
import { FieldKind, type Page, type PageRequest, type RecordIndex } from '../../stages.ts';

/** What an answer holds. */
export interface ScannedAnswer {
  /** The envelope's own `count`. */
  readonly count: number;
  readonly records: RecordIndex;
  /** Names of some fields that records hold and the pipeline does not declare. */
  readonly unknownFields: ReadonlySet<string>;
}

/**
 * Makes a scanner for records with these fields. One scanner serves many answers, one after another, and learns their order of
 * fields. It throws ScanError where an answer is no envelope.
 */
export function createScanner(fields: readonly string[]): (bytes: Buffer) => ScannedAnswer {
  const order = new FieldOrder(fields);
  /** Records to make room for: as many as the answer before held. */
  let capacity = 128;
  return (bytes) => {
    const text = new JsonText(bytes);
    const scanner = new RecordScanner(order, text, capacity);
    const count = passEnvelope(text, scanner);
    const records = scanner.index.finish();
    capacity = Math.max(16, records.length);
    return { count, records, unknownFields: scanner.unknownFields };
  };
}

/** What an envelope was seen to hold. */
interface Envelope {
  count: number | null;
  data: 'an empty list' | 'an object of something else' | 'an odd record' | 'other' | null;
}

/** Passes the whole text and gives its `count`. */
function passEnvelope(text: JsonText, scanner: RecordScanner): number {
  const seen: Envelope = { count: null, data: null };
  text.skipSpace();
  if (text.bytes[text.at] !== OPEN_BRACE)
    throw new ScanError(`it is ${describeStart(text)}, not a JSON object`, text.at);
  text.passMembers(OPEN_BRACE, (nameStart, nameEnd) => {
    const name = JSON.parse(text.text(nameStart - 1, nameEnd + 1)) as string;
    if (name !== 'count' && name !== 'data') {
      text.passValue(1);
      return;
    }
    if (seen[name] !== null) throw new ScanError(`it has "${name}" twice`, nameStart);
    if (name === 'count') seen.count = passCount(text);
    else seen.data = passData(text, scanner);
  });
  text.skipSpace();
  if (text.at !== text.bytes.length)
    throw new ScanError(`there is more text after the JSON object, at byte ${text.at}`, text.at);
  if (seen.count === null) throw new ScanError('"count" is missing', 0);
  if (seen.data === 'an object of something else' || (seen.data === 'an odd record' && seen.count !== 1)) {
    if (seen.count > 0) throw new ScanError('its "data" is an object without any known field', 0);
    // What stands there beside a count of 0, such as a message, is no record.
    scanner.index.length = 0;
  }
  // An empty list past the end beside a count is a total, which proves nothing; no list at all contradicts it.
  if (scanner.index.length === 0 && seen.count > 0 && seen.data !== 'an empty list')
    throw new ScanError(`its "count" is ${seen.count}, but its "data" has no records`, 0);
  return seen.count;
}

function passCount(text: JsonText): number {
  const start = text.at;
  const kind = text.passValue(1);
  const isText = kind === FieldKind.text || kind === FieldKind.escaped;
  const said: unknown = isText || kind === FieldKind.number ? JSON.parse(text.text(start, text.at)) : null;
  // Every other value of the service is a text; a service that writes its count so too means the same.
  const value = typeof said === 'string' && /^\d+$/.test(said) ? Number(said) : said;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ScanError('its "count" is not a whole number', start);
  return value;
}

/** Passes the value of `data`: one record, an array, a map of records, or null. */
function passData(text: JsonText, scanner: RecordScanner): Envelope['data'] {
  const open = text.bytes[text.at];
  if (open === OPEN_BRACKET) {
    text.passMembers(OPEN_BRACKET, () => scanner.passItem());
    return scanner.index.length === 0 ? 'an empty list' : 'other';
  }
  if (open === OPEN_BRACE) {
    const first = firstOf(text);
    // An object whose first member is an object holds records; a record's own fields are texts.
    if (first === OPEN_BRACE || first === CLOSE_BRACE) text.passMembers(OPEN_BRACE, () => scanner.passItem());
    else {
      scanner.passRecord();
      // Beside a count of 1 it is a record all the same, with other fields; but a list in it is a list at another place.
      if (scanner.index.fieldKind.every((kind) => kind === FieldKind.missing))
        return first === OPEN_BRACKET ? 'an object of something else' : 'an odd record';
    }
  } else if (text.passValue(1) !== FieldKind.null) {
    throw new ScanError('"data" is neither a record nor a list of records', text.at);
  }
  return 'other';
}

/** Looks ahead: the byte that begins the first member's value in the object that is here, or its closing brace. */
function firstOf(text: JsonText): number | undefined {
  const { bytes, at } = text;
  try {
    text.at += 1;
    text.skipSpace();
    if (bytes[text.at] !== QUOTE) return bytes[text.at];
    text.passString();
    text.skipSpace();
    if (bytes[text.at] !== COLON) return undefined;
    text.at += 1;
    text.skipSpace();
    return bytes[text.at];
  } finally {
    text.at = at;
  }
}

function describeStart({ bytes, at }: JsonText): string {
  if (at >= bytes.length) return 'empty';
  if (bytes[at] === 0x3c) return 'HTML or XML';
  return bytes[at] === OPEN_BRACKET ? 'an array' : 'other text';
}

export type ScanPage = (pipeline: AnyPipeline, request: PageRequest, url: string, bytes: Buffer) => Page;

/** @param warnOnce Takes a message; a second one on the same topic is dropped. */
export function createPageScanner(warnOnce: (topic: string, message: string) => void): ScanPage {
  const scanners = new Map<string, (bytes: Buffer) => ScannedAnswer>();
  return (pipeline, request, url, bytes) => {
    const { table } = pipeline;
    let scanner = scanners.get(table);
    if (scanner === undefined) {
      scanner = createScanner(Object.values(pipeline.columns).map((column) => column.field));
      scanners.set(table, scanner);
    }
    const { count, records, unknownFields } = scanner(bytes);
    if (count !== records.length) {
      warnOnce(
        `count ${table}`,
        `${table}: the "count" of the source is not the number of records in the response (${count} for ${records.length} records, ${url}). rekap counts the records itself.`,
      );
    }
    if (unknownFields.size > 0) {
      const names = [...unknownFields].map((name) => JSON.stringify(name.slice(0, 80))).join(', ');
      warnOnce(
        `fields ${table}`,
        `${table}: the source sends unknown fields: ${names}. They are kept in the stored responses only.`,
      );
    }
    return { request, url, bytes, count, records };
  };
}
