/**
 * Reads a response straight in its bytes: where each record lies and where each declared field's value lies. Parsing into objects costs three
 * times as much and rounds numbers; here nothing is copied or converted. The whole text is checked to be JSON on the way.
 */

import { CLOSE_BRACE, COLON, JsonText, NEWLINE, OPEN_BRACE, OPEN_BRACKET, QUOTE, ScanError } from './json-text.ts';
import { FieldOrder, RecordScanner } from './record-scanner.ts';
import type { AnyPipeline } from '../../project/declaration.ts';
import { pointerPath } from '../../project/field-path.ts';
import { FieldKind, type Page, type PageRequest, type RecordIndex } from '../../stages.ts';

/** What an answer holds. */
export interface ScannedAnswer {
  /** The number of records that the response reports; null where none is declared. */
  readonly count: number | null;
  /** The URL or cursor of the next page, as the response has it; null where there is none. */
  readonly next: string | null;
  readonly records: RecordIndex;
  /** Names of some fields that records hold and the pipeline does not declare. */
  readonly unknownFields: ReadonlySet<string>;
}

/** Where a response has what is read of it, as JSON pointers. */
export interface DocumentShape {
  readonly format: 'json' | 'ndjson';
  readonly records: string;
  readonly reportedCount?: string;
  readonly next?: string;
}

/** The shape that a pipeline declares. */
export function shapeOf({ format, records, reportedCount, paging }: AnyPipeline): DocumentShape {
  const next =
    paging.by !== 'next' ? undefined : 'url' in paging ? paging.url : 'cursor' in paging ? paging.cursor : undefined;
  return {
    format,
    records,
    ...(reportedCount !== undefined && { reportedCount }),
    ...(next !== undefined && { next }),
  };
}

/**
 * Makes a scanner for records with these fields. One scanner serves many answers, one after another, and learns their order of
 * fields. It throws ScanError where an answer does not have the shape.
 */
export function createScanner(fields: readonly string[], shape: DocumentShape): (bytes: Buffer) => ScannedAnswer {
  const order = new FieldOrder(fields);
  const tree = treeOf(shape);
  /** Records to make room for: as many as the answer before held. */
  let capacity = 128;
  return (bytes) => {
    const text = new JsonText(bytes);
    const scanner = new RecordScanner(order, text, capacity);
    const seen = shape.format === 'ndjson' ? passLines(text, scanner) : passDocument(text, scanner, tree, shape);
    const records = scanner.index.finish();
    capacity = Math.max(16, records.length);
    return { ...seen, records, unknownFields: scanner.unknownFields };
  };
}

type Role = 'records' | 'reportedCount' | 'next';

/** The members of a document that lead to what is read, level by level. */
interface Tree {
  role: Role | null;
  readonly members: Map<string, Tree>;
}

function treeOf(shape: DocumentShape): Tree {
  const root: Tree = { role: null, members: new Map() };
  for (const role of ['records', 'reportedCount', 'next'] as const) {
    if (shape[role] === undefined) continue;
    let node = root;
    for (const name of pointerPath(shape[role])) {
      const inner = node.members.get(name) ?? { role: null, members: new Map<string, Tree>() };
      node.members.set(name, inner);
      node = inner;
    }
    node.role = role;
  }
  return root;
}

/** A place in a document, in a message. */
function nameOf(pointer: string): string {
  return pointer === '' ? 'the response' : `"${pointer.slice(1)}"`;
}

/** What a document was seen to hold. */
interface Seen {
  reportedCount: number | null;
  next: string | null;
  records: 'an empty list' | 'an object of something else' | 'an odd record' | 'other' | null;
}

/** Passes the whole text and gives what it says beside the records. */
function passDocument(
  text: JsonText,
  scanner: RecordScanner,
  tree: Tree,
  shape: DocumentShape,
): Pick<ScannedAnswer, 'count' | 'next'> {
  const seen: Seen = { reportedCount: null, next: null, records: null };
  text.skipSpace();
  if (tree.role === null && text.bytes[text.at] !== OPEN_BRACE)
    throw new ScanError(`it is ${describeStart(text)}, not a JSON object`, text.at);
  passNode(text, scanner, { node: tree, shape, seen, met: new Set(), depth: 1 });
  text.skipSpace();
  if (text.at !== text.bytes.length)
    throw new ScanError(
      `there is more text after the JSON ${tree.role === null ? 'object' : 'value'}, at byte ${text.at}`,
      text.at,
    );
  const { reportedCount: count, next } = seen;
  const { records, reportedCount } = shape;
  if (reportedCount !== undefined && count === null) throw new ScanError(`${nameOf(reportedCount)} is missing`, 0);
  if (seen.records === 'an object of something else' || (seen.records === 'an odd record' && count !== 1)) {
    if (count === null || count > 0)
      throw new ScanError(`its ${nameOf(records)} is an object without any known field`, 0);
    // What stands there beside a count of 0, such as a message, is no record.
    scanner.index.length = 0;
  }
  if (count === null && seen.records === null) throw new ScanError(`${nameOf(records)} is missing`, 0);
  // An empty list past the end beside a count is a total, which proves nothing; no list at all contradicts it.
  if (scanner.index.length === 0 && count !== null && count > 0 && seen.records !== 'an empty list')
    throw new ScanError(`its ${nameOf(reportedCount!)} is ${count}, but its ${nameOf(records)} has no records`, 0);
  return { count, next };
}

/** Where a scan is, and what it has met. */
interface Visit {
  readonly node: Tree;
  readonly shape: DocumentShape;
  readonly seen: Seen;
  readonly met: Set<Role>;
  readonly depth: number;
}

function passNode(text: JsonText, scanner: RecordScanner, visit: Visit): void {
  const { node, shape, seen, met, depth } = visit;
  const { role, members } = node;
  if (role !== null) {
    if (met.has(role)) throw new ScanError(`it has ${nameOf(shape[role]!)} twice`, text.at);
    met.add(role);
    if (role === 'records') seen.records = passRecords(text, scanner, nameOf(shape.records));
    else if (role === 'reportedCount') seen.reportedCount = passCount(text, nameOf(shape.reportedCount!));
    else seen.next = passNext(text, nameOf(shape.next!));
    return;
  }
  if (members.size === 0 || text.bytes[text.at] !== OPEN_BRACE) {
    text.passValue(depth);
    return;
  }
  text.passMembers(OPEN_BRACE, (nameStart, nameEnd) => {
    const inner = members.get(JSON.parse(text.text(nameStart - 1, nameEnd + 1)) as string);
    if (inner === undefined) text.passValue(depth);
    else passNode(text, scanner, { ...visit, node: inner, depth: depth + 1 });
  });
}

function passCount(text: JsonText, name: string): number {
  const start = text.at;
  const kind = text.passValue(1);
  const isText = kind === FieldKind.text || kind === FieldKind.escaped;
  const said: unknown = isText || kind === FieldKind.number ? JSON.parse(text.text(start, text.at)) : null;
  // A service that writes all values as texts may write its count so too.
  const value = typeof said === 'string' && /^\d+$/.test(said) ? Number(said) : said;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw new ScanError(`its ${name} is not a whole number`, start);
  return value;
}

/** Passes a URL or a cursor; null, false and an empty text say that there is no further page. */
function passNext(text: JsonText, name: string): string | null {
  const start = text.at;
  const kind = text.passValue(1);
  const written = text.text(start, text.at);
  if (kind === FieldKind.null || written === 'false' || written === '""') return null;
  if (kind === FieldKind.number) return written;
  if (kind === FieldKind.text || kind === FieldKind.escaped) return JSON.parse(written) as string;
  throw new ScanError(`its ${name} is neither text nor a number`, start);
}

/** Passes the records: one record, an array, a map of records, or null. */
function passRecords(text: JsonText, scanner: RecordScanner, name: string): Seen['records'] {
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
    throw new ScanError(`${name} is neither a record nor a list of records`, text.at);
  }
  return 'other';
}

/** Passes NDJSON: one record per line. Whether the last line must end with a newline is not for the bytes alone to say. */
function passLines(text: JsonText, scanner: RecordScanner): Pick<ScannedAnswer, 'count' | 'next'> {
  for (;;) {
    text.skipSpace();
    const { at, bytes } = text;
    if (at >= bytes.length) return { count: null, next: null };
    const before = bytes.subarray(0, at).lastIndexOf(NEWLINE);
    if (scanner.index.length > 0 && before < scanner.index.lastEnd)
      throw new ScanError(`there are two values on one line, at byte ${at}`, at);
    scanner.passItem();
  }
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
      scanner = createScanner(
        Object.values(pipeline.columns).map((column) => column.field),
        shapeOf(pipeline),
      );
      scanners.set(table, scanner);
    }
    const { count: reported, next, records, unknownFields } = scanner(bytes);
    const count = reported ?? records.length;
    // A larger number may count all matching records: the proof compares it with every pass.
    if (count < records.length) {
      warnOnce(
        `count ${table}`,
        `${table}: ${nameOf(pipeline.reportedCount!)} of the source is less than the number of records in the response (${count} for ${records.length} records, ${url}). rekap counts the records itself.`,
      );
    }
    if (unknownFields.size > 0) {
      const names = [...unknownFields].map((name) => JSON.stringify(name.slice(0, 80))).join(', ');
      warnOnce(
        `fields ${table}`,
        `${table}: the source sends unknown fields: ${names}. They are kept in the stored responses only.`,
      );
    }
    return { request, url, bytes, count, next, records };
  };
}
