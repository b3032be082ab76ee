/** Finds the records of a response, and the value of each declared field, as positions in its bytes. */

import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  type JsonText,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ScanError,
} from './json-text.ts';
import { RecordIndexBuilder } from './record-index-builder.ts';
import { fieldPath } from '../../project/field-path.ts';
import { FieldKind } from '../../stages.ts';

const maxUnknownFields = 20;
/** More than a response of 64 MB can have. A list of tiny values must not allocate many times its size. */
const maxRecords = 200_000;

const openName = Buffer.from('"');
const closeName = Buffer.from('":"');

/** A member of a record: the column with its value, and the members of its object that lead to other columns. */
interface Member {
  column?: number;
  readonly members: Map<string, Member>;
}

/** The declared fields, and the order in which they came last: most records have the same order. */
export class FieldOrder {
  readonly width: number;
  readonly members: ReadonlyMap<string, Member>;
  readonly memberAt: readonly Member[];
  /** Names as in JSON, because a name may contain a quote or a backslash. */
  readonly names: readonly Buffer[];
  /** Start of a member with a string value, without spaces: quote, name, quote, colon, quote. */
  readonly memberStarts: readonly BytePattern[];
  /** The column last seen at each position of a record. Columns of inner objects have no position. */
  readonly columnAt: number[];

  /** @param fields Null for a column that doesn't come from a field of the record. */
  constructor(fields: readonly (string | null)[]) {
    this.width = fields.length;
    const paths = fields.map((field, column) => (field === null ? ['\u0000', String(column)] : fieldPath(field)));
    this.members = membersOf(paths);
    this.memberAt = paths.map(([name]) => this.members.get(name!)!);
    this.names = paths.map((path) => Buffer.from(JSON.stringify(path.at(-1)).slice(1, -1)));
    this.memberStarts = this.names.map((name) => new BytePattern(Buffer.concat([openName, name, closeName])));
    this.columnAt = paths.flatMap((path, column) => (path.length === 1 ? [column] : []));
  }
}

function membersOf(paths: readonly (readonly string[])[]): Map<string, Member> {
  const root: Member = { members: new Map() };
  for (const [column, path] of paths.entries()) {
    let place = root;
    for (const name of path) {
      const inner = place.members.get(name) ?? { members: new Map<string, Member>() };
      place.members.set(name, inner);
      place = inner;
    }
    place.column = column;
  }
  return root.members;
}

export class RecordScanner {
  readonly index: RecordIndexBuilder;
  readonly unknownFields = new Set<string>();
  private readonly order: FieldOrder;
  private readonly text: JsonText;

  constructor(order: FieldOrder, text: JsonText, capacity: number) {
    this.order = order;
    this.text = text;
    this.index = new RecordIndexBuilder(order.width, capacity);
  }

  passItem(): void {
    const { text, index } = this;
    if (index.length === maxRecords) throw new ScanError(`it has more than ${maxRecords} records`, text.at);
    if (text.bytes[text.at] === OPEN_BRACE) this.passRecord();
    else {
      const row = index.open(text.at);
      text.passValue(2);
      index.close(row, text.at, false);
    }
  }

  passRecord(): void {
    const { text, index } = this;
    const { bytes } = text;
    const row = index.open(text.at);
    text.at += 1;
    text.skipSpace();
    if (bytes[text.at] === CLOSE_BRACE) text.at += 1;
    else {
      const firstDifferent = this.passSameLayout(row);
      if (firstDifferent >= 0) this.passFields(row, firstDifferent);
    }
    index.close(row, text.at, true);
  }

  /**
   * Passes the part of a record that has the same layout as the previous one: fields in the same order, plain strings, no spaces.
   * Stops before the first member that differs, and returns its position; -1 at the end of the record. A local variable holds the
   * position in the text, which makes it fast.
   */
  private passSameLayout(row: number): number {
    const { text, order } = this;
    const { bytes, view } = text;
    const { width, memberStarts, columnAt } = order;
    const places = columnAt.length;
    const base = row * width;
    const { fieldStart, fieldEnd, fieldKind } = this.index;
    let position = text.at;
    for (let place = 0; place < places; place += 1) {
      text.at = position;
      const column = columnAt[place]!;
      const opening = memberStarts[column]!;
      if (!opening.matchesAt(view, position)) return place;
      position += opening.length;
      const valueStart = position;
      for (;;) {
        const byte = bytes[position]!;
        if (byte === QUOTE) break;
        // Also returns at the end of the bytes: a comparison with undefined is false.
        if (!(byte >= 0x20) || byte === BACKSLASH) return place;
        position += 1;
      }
      const slot = base + column;
      if (fieldKind[slot] !== FieldKind.missing) return place;
      const next = bytes[position + 1];
      if (next !== COMMA && next !== CLOSE_BRACE) return place;
      fieldStart[slot] = valueStart;
      fieldEnd[slot] = position;
      fieldKind[slot] = FieldKind.text;
      position += 2;
      text.at = position;
      if (next === CLOSE_BRACE) return -1;
    }
    return places;
  }

  private passFields(row: number, firstPlace: number): void {
    const { text } = this;
    for (let place = firstPlace; ; place += 1) {
      text.skipSpace();
      this.passField(row, this.passName(place), 2);
      if (text.passEnd(CLOSE_BRACE)) return;
    }
  }

  private passField(row: number, member: Member | undefined, depth: number): void {
    const { text } = this;
    const start = text.at;
    let kind: number = FieldKind.other;
    const open = text.bytes[start];
    if (member !== undefined && member.members.size > 0 && (open === OPEN_BRACE || open === OPEN_BRACKET))
      text.passNamed(open, (name) => this.passField(row, member.members.get(name), depth + 1));
    else kind = text.passValue(depth);
    if (member?.column !== undefined) this.addValue(row, member.column, start, kind);
  }

  private passName(place: number): Member | undefined {
    const { text, order, unknownFields } = this;
    const { names, columnAt, members, memberAt } = order;
    if (text.bytes[text.at] !== QUOTE) text.fail('the name of a field');
    const expected = place < columnAt.length ? columnAt[place]! : undefined;
    if (expected !== undefined && this.isNameAt(names[expected]!, text.at + 1)) {
      text.at += names[expected]!.length + 3;
      text.skipSpace();
      return memberAt[expected];
    }
    const start = text.at;
    const escaped = text.passString();
    const name = escaped ? (JSON.parse(text.text(start, text.at)) as string) : text.text(start + 1, text.at - 1);
    const member = members.get(name);
    if (member === undefined) {
      if (unknownFields.size < maxUnknownFields) unknownFields.add(name);
    } else if (member.column !== undefined && place < columnAt.length) columnAt[place] = member.column;
    text.passColon();
    return member;
  }

  private isNameAt(name: Buffer, position: number): boolean {
    const { bytes } = this.text;
    const { length } = name;
    if (bytes[position + length] !== QUOTE || bytes[position + length + 1] !== COLON) return false;
    for (let i = 0; i < length; i += 1) if (bytes[position + i] !== name[i]) return false;
    return true;
  }

  private addValue(row: number, column: number, start: number, kind: number): void {
    const { fieldStart, fieldEnd, fieldKind } = this.index;
    const { at } = this.text;
    const slot = row * this.order.width + column;
    const first = fieldKind[slot];
    if (first === FieldKind.missing) {
      const quotes = isString(kind) ? 1 : 0;
      fieldStart[slot] = start + quotes;
      fieldEnd[slot] = at - quotes;
      fieldKind[slot] = kind;
      return;
    }
    // A repeated field: rekap doesn't choose one of its values, but takes everything from the first to the last as malformed.
    if (isString(first)) fieldStart[slot]! -= 1;
    fieldEnd[slot] = at;
    fieldKind[slot] = FieldKind.other;
  }
}

function isString(kind: number | undefined): boolean {
  return kind === FieldKind.text || kind === FieldKind.escaped;
}

/** Compares bytes four at a time. */
class BytePattern {
  readonly length: number;
  private readonly places: Int32Array;
  private readonly words: Int32Array;

  constructor(bytes: Buffer) {
    this.length = bytes.length;
    const places: number[] = [];
    for (let place = 0; place + 4 <= bytes.length; place += 4) places.push(place);
    // The last word overlaps the previous one unless the length is a multiple of four.
    if (bytes.length % 4 !== 0) places.push(bytes.length - 4);
    this.places = Int32Array.from(places);
    this.words = Int32Array.from(places, (place) => bytes.readInt32LE(place));
  }

  matchesAt(view: DataView, position: number): boolean {
    const { length, places, words } = this;
    if (position + length > view.byteLength) return false;
    for (let index = 0; index < words.length; index += 1) {
      if (view.getInt32(position + places[index]!, true) !== words[index]) return false;
    }
    return true;
  }
}
