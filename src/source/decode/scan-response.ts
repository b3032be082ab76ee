/**
 * Scans a response for the positions of records and fields in its bytes, and checks that all of it is JSON. Parsing into objects would take
 * three times as long and round numbers.
 */

import { CLOSE_BRACE, COLON, JsonText, NEWLINE, OPEN_BRACE, OPEN_BRACKET, QUOTE, ScanError } from './json-text.ts';
import { FieldOrder, RecordScanner } from './record-scanner.ts';
import { escapePointer } from '../../project/field-path.ts';
import { type DocumentShape, nameOf, type Role, type Tree, treeOf } from './document-shape.ts';
import { passCount, passFlag, passLinks, passNext } from './envelope-values.ts';
import { type EnvelopeValue, FieldKind, type Page } from '../../stages.ts';

export type ScannedResponse = Pick<Page, 'count' | 'next' | 'hasMore' | 'envelope' | 'records' | 'unknownFields'> & {
  readonly names: readonly Named[];
};

/**
 * Creates a scanner for records with these fields. It scans many responses one after another, and learns their order of
 * fields. It throws ScanError if a response doesn't have the shape.
 */
export function createScanner(
  fields: readonly (string | null)[],
  shape: DocumentShape,
): (bytes: Buffer) => ScannedResponse {
  const order = new FieldOrder(fields);
  const tree = treeOf(shape);
  let capacity = 128;
  return (bytes) => {
    const text = new JsonText(bytes);
    const scanner = new RecordScanner(order, text, capacity);
    const names: Named[] = [];
    const seen =
      shape.format === 'ndjson' ? passLines(text, scanner) : passDocument(text, scanner, tree, { shape, names });
    const records = scanner.index.finish();
    capacity = Math.max(16, records.length);
    return { ...seen, records, names, unknownFields: scanner.unknownFields };
  };
}

/** The parts of a response beside its records. */
type Envelope = Pick<Page, 'count' | 'next' | 'hasMore' | 'envelope'>;

interface Seen {
  count: Page['count'];
  next: Page['next'];
  hasMore: Page['hasMore'];
  readonly envelope: Map<string, EnvelopeValue>;
  records: 'a list' | 'an empty list' | 'an object of something else' | 'an odd record' | 'other' | null;
}

/** A record in an object of records, and the bounds of its name. */
interface Named {
  readonly row: number;
  readonly start: number;
  readonly end: number;
}

interface Document {
  readonly shape: DocumentShape;
  readonly names: Named[];
}

function passDocument(text: JsonText, scanner: RecordScanner, tree: Tree, { shape, names }: Document): Envelope {
  const seen: Seen = { count: null, next: undefined, hasMore: null, envelope: new Map(), records: null };
  text.skipSpace();
  const root = text.bytes[text.at];
  const isIndexed = root === OPEN_BRACKET && [...tree.members.keys()].some((name) => /^\d+$/.test(name));
  if (tree.role === null && root !== OPEN_BRACE && !isIndexed)
    throw new ScanError(`it is ${describeStart(text)}, not a JSON object`, text.at);
  passNode(text, scanner, { node: tree, pointer: '', shape, names, seen, found: new Set(), depth: 1 });
  text.skipSpace();
  if (text.at !== text.bytes.length)
    throw new ScanError(
      `there is more text after the JSON ${tree.role === null && !isIndexed ? 'object' : 'value'}, at byte ${text.at}`,
      text.at,
    );
  const { count, next, hasMore, envelope } = seen;
  const { records, reportedCount } = shape;
  // Some services count only on the first page. An empty list without its count may be an error.
  // Behind the end, some services leave out the list and its count, or have an empty text in their place.
  const isBlank = reportedCount !== undefined && envelope.get(records.slice(0, records.lastIndexOf('/'))) === '';
  const isEnd = seen.records === null && (hasMore === false || isBlank);
  if (reportedCount !== undefined && count === null && seen.records !== 'a list' && !isEnd)
    throw new ScanError(`${nameOf(reportedCount)} is missing`, 0);
  if (seen.records === 'an object of something else' || (seen.records === 'an odd record' && count !== 1)) {
    if (count === null || count > 0)
      throw new ScanError(
        `${records === '' ? 'it' : `its ${nameOf(records)}`} is an object without any known field`,
        0,
      );
    // An object with a count of 0, such as a message, isn't a record.
    scanner.index.length = 0;
  }
  if (count === null && seen.records === null && !isEnd) throw new ScanError(`${nameOf(records)} is missing`, 0);
  // With an empty list past the end, the count is a total. Without any list, the count contradicts the response.
  if (scanner.index.length === 0 && count !== null && count > 0 && seen.records !== 'an empty list')
    throw new ScanError(`its ${nameOf(reportedCount!)} is ${count}, but its ${nameOf(records)} has no records`, 0);
  return { count, next, hasMore, envelope };
}

/** Bounds of the values outside the records that a page keeps. */
const maxEnvelopeValues = 100;
const maxEnvelopeDepth = 6;
const maxEnvelopeBytes = 2000;

interface Visit extends Document {
  /** Undefined for a member that leads to no declared place. */
  readonly node: Tree | undefined;
  readonly pointer: string;
  readonly seen: Seen;
  readonly found: Set<Role>;
  readonly depth: number;
}

function passNode(text: JsonText, scanner: RecordScanner, visit: Visit): void {
  const { node, pointer, depth, seen } = visit;
  if (node !== undefined && node.role !== null) return passRole(text, scanner, node.role, visit);
  const { bytes, at: start } = text;
  const open = bytes[start];
  const mayHold = depth <= 2 || (depth <= maxEnvelopeDepth && seen.envelope.size < maxEnvelopeValues);
  if ((open === OPEN_BRACE || open === OPEN_BRACKET) && (node !== undefined || mayHold)) {
    text.passNamed(open, (name) =>
      passNode(text, scanner, {
        ...visit,
        node: node?.members.get(name),
        pointer: `${pointer}/${escapePointer(name)}`,
        depth: depth + 1,
      }),
    );
    return;
  }
  text.passValue(depth);
  if (mayHold && open !== OPEN_BRACE && open !== OPEN_BRACKET && text.at - start <= maxEnvelopeBytes)
    seen.envelope.set(pointer, JSON.parse(text.text(start, text.at)) as EnvelopeValue);
}

function passRole(text: JsonText, scanner: RecordScanner, role: Role, { shape, names, seen, found }: Visit): void {
  if (found.has(role)) throw new ScanError(`it has ${nameOf(shape[role]!)} twice`, text.at);
  found.add(role);
  const name = nameOf(shape[role]!);
  switch (role) {
    case 'records':
      seen.records = passRecords(text, scanner, name, names);
      return;
    case 'reportedCount':
      seen.count = passCount(text, name);
      return;
    case 'next':
      seen.next = shape.relation === undefined ? passNext(text, name) : passLinks(text, name, shape.relation);
      return;
    case 'hasMore':
      seen.hasMore = passFlag(text, name);
  }
}

function passRecords(text: JsonText, scanner: RecordScanner, name: string, names: Named[]): Seen['records'] {
  const open = text.bytes[text.at];
  if (open === OPEN_BRACKET) {
    text.passMembers(OPEN_BRACKET, () => scanner.passItem());
    return scanner.index.length === 0 ? 'an empty list' : 'a list';
  }
  if (open === OPEN_BRACE) {
    const first = firstOf(text);
    // If the first member is an object, this is a map of records. The fields of a record are texts.
    if (first === OPEN_BRACE || first === CLOSE_BRACE) {
      text.passMembers(OPEN_BRACE, (start, end) => {
        names.push({ row: scanner.index.length, start, end });
        scanner.passItem();
      });
      // Instead of a list, some services return an object with an error.
      if (name === nameOf('') && isWithoutFields(scanner)) return 'an object of something else';
    } else {
      scanner.passRecord();
      // With a count of 1 it is still a record, with other fields. But an array in it is a list at another place.
      if (isWithoutFields(scanner)) return first === OPEN_BRACKET ? 'an object of something else' : 'an odd record';
    }
  } else {
    const start = text.at;
    const kind = text.passValue(1);
    // Some services write null or an empty text instead of an empty list.
    if (kind !== FieldKind.null && text.text(start, text.at) !== '""')
      throw new ScanError(`${name} is neither a record nor a list of records`, text.at);
  }
  return 'other';
}

function isWithoutFields({ index }: RecordScanner): boolean {
  const { fieldKind, length, width } = index;
  return length > 0 && fieldKind.subarray(0, length * width).every((kind) => kind === FieldKind.missing);
}

/** Passes NDJSON: one record per line. A missing last newline is accepted here. */
function passLines(text: JsonText, scanner: RecordScanner): Envelope {
  for (;;) {
    text.skipSpace();
    const { at, bytes } = text;
    if (at >= bytes.length) return { count: null, next: undefined, hasMore: null, envelope: new Map() };
    const before = bytes.subarray(0, at).lastIndexOf(NEWLINE);
    if (scanner.index.length > 0 && before < scanner.index.lastEnd)
      throw new ScanError(`there are two values on one line, at byte ${at}`, at);
    scanner.passItem();
  }
}

/** Returns the first byte of the first member's value in the object here, or the closing brace, without moving. */
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
