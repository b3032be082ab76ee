/**
 * Reads the envelope `{count, data}` straight in the answer's bytes: where each record lies and where each declared
 * field's value lies. Parsing into objects costs three times as much and rounds numbers; here nothing is copied or converted.
 * The whole text is checked to be JSON on the way.
 */

import { isUtf8 } from 'node:buffer';
import { FieldKind, type RecordIndex } from '../pipeline.ts';
import { RecordIndexBuilder } from './record-index-builder.ts';

/** What an answer holds. */
export interface ScannedAnswer {
  /** The envelope's own `count`. */
  readonly count: number;
  readonly records: RecordIndex;
  /** Names of fields that records hold and the pipeline does not declare; at most `maxUnknownFields`. */
  readonly unknownFields: ReadonlySet<string>;
}

/** The answer is no envelope; `message` says what is wrong and `offset` where in the bytes. */
export class ScanError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const maxDepth = 64;
const maxUnknownFields = 20;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const numberText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** Makes a scanner for records with these fields. One scanner serves many answers, one after another, and learns their order of fields. */
export function createScanner(fields: readonly string[]): (bytes: Buffer) => ScannedAnswer {
  const width = fields.length;
  /** As JSON writes them, for a name may hold a quote or a backslash. */
  const names = fields.map((field) => Buffer.from(JSON.stringify(field).slice(1, -1)));
  const columnOf = new Map(fields.map((field, column) => [field, column]));
  /** The column last seen at each place of a record: most records repeat the order of the one before. */
  const columnAt = fields.map((_, column) => column);
  /** Records to make room for: as many as the answer before held. */
  let capacity = 128;

  return function scanAnswer(bytes) {
    if (!isUtf8(bytes)) throw new ScanError('it is not UTF-8 text', endsInsideCharacter(bytes) ? bytes.length : 0);
    const index = new RecordIndexBuilder(width, capacity);
    const unknownFields = new Set<string>();
    let isEmptyList = false;
    let at = bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;

    function skipSpace(): void {
      for (;;) {
        const byte = bytes[at];
        if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) at += 1;
        else return;
      }
    }

    function fail(expected: string): never {
      throw new ScanError(
        at >= bytes.length ? `it ends early, where ${expected} should be` : `${expected} should be at byte ${at}`,
        at,
      );
    }

    /** Passes a string whose opening quote is at `at`; says whether it holds escapes. */
    function passString(): boolean {
      const start = at;
      at += 1;
      let escaped = false;
      for (;;) {
        const byte = bytes[at];
        if (byte === QUOTE) break;
        if (byte === undefined || byte < 0x20) fail('the rest of a string');
        if (byte === BACKSLASH) {
          escaped = true;
          at += 1;
          if (at >= bytes.length) fail('the rest of a string');
        }
        at += 1;
      }
      at += 1;
      if (escaped) {
        try {
          JSON.parse(bytes.toString('utf8', start, at));
        } catch {
          throw new ScanError(`a string with a wrong escape is at byte ${start}`, start);
        }
      }
      return escaped;
    }

    /** Passes any value and says its kind. */
    function passValue(depth: number): number {
      const byte = bytes[at];
      if (byte === QUOTE) return passString() ? FieldKind.escaped : FieldKind.text;
      if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (depth >= maxDepth) throw new ScanError(`values are nested more than ${maxDepth} deep at byte ${at}`, at);
        passMembers(byte, () => passValue(depth + 1));
        return FieldKind.other;
      }
      const start = at;
      for (;;) {
        const next = bytes[at];
        // Letters, digits, signs and points: all that a number or a literal is made of.
        if (
          next !== undefined &&
          ((next >= 0x30 && next <= 0x39) ||
            (next >= 0x61 && next <= 0x7a) ||
            next === 0x45 ||
            next === 0x2b ||
            next === 0x2d ||
            next === 0x2e)
        )
          at += 1;
        else break;
      }
      const word = bytes.toString('latin1', start, Math.min(at, start + 400));
      if (word === 'null') return FieldKind.null;
      if (word === 'true' || word === 'false') return FieldKind.other;
      if (at - start <= 400 && numberText.test(word)) return FieldKind.number;
      // A word that reaches the end of the bytes may be the beginning of a value: the answer ends early.
      if (at < bytes.length) at = start;
      return fail('a JSON value');
    }

    /** Passes an object or an array, calling `passMember` with `at` on each value. */
    function passMembers(open: number, passMember: (nameStart: number, nameEnd: number) => void): void {
      const close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
      at += 1;
      skipSpace();
      if (bytes[at] === close) {
        at += 1;
        return;
      }
      for (;;) {
        skipSpace();
        let nameStart = at;
        let nameEnd = at;
        if (open === OPEN_BRACE) {
          if (bytes[at] !== QUOTE) fail('the name of a field');
          nameStart = at + 1;
          passString();
          nameEnd = at - 1;
          skipSpace();
          if (bytes[at] !== COLON) fail('a colon');
          at += 1;
          skipSpace();
        }
        passMember(nameStart, nameEnd);
        skipSpace();
        if (bytes[at] === COMMA) at += 1;
        else if (bytes[at] === close) {
          at += 1;
          return;
        } else fail(open === OPEN_BRACE ? 'a comma or a closing brace' : 'a comma or a closing bracket');
      }
    }

    /** Whether the name of the column's field, its closing quote and a colon stand at `position`. */
    function nameStandsAt(column: number, position: number): boolean {
      const name = names[column]!;
      const length = name.length;
      if (bytes[position + length] !== QUOTE || bytes[position + length + 1] !== COLON) return false;
      for (let i = 0; i < length; i += 1) if (bytes[position + i] !== name[i]) return false;
      return true;
    }

    /**
     * Passes as much of a record as looks like the one before: the fields in the same places, plain strings, no space between.
     * Keeps its position in a variable of its own, which is what makes it fast. Leaves `at` before the first member that is
     * different, and gives that member's place; -1 where the record is over.
     */
    function passLikeBefore(row: number): number {
      const base = row * width;
      const { fieldStart, fieldEnd, fieldKind } = index;
      let position = at;
      for (let place = 0; place < width; place += 1) {
        at = position;
        if (bytes[position] !== QUOTE) return place;
        const column = columnAt[place]!;
        const name = names[column]!;
        const { length } = name;
        position += 1;
        for (let i = 0; i < length; i += 1) if (bytes[position + i] !== name[i]) return place;
        position += length;
        if (bytes[position] !== QUOTE || bytes[position + 1] !== COLON || bytes[position + 2] !== QUOTE) return place;
        position += 3;
        const start = position;
        for (;;) {
          const byte = bytes[position]!;
          if (byte === QUOTE) break;
          // Also where the bytes end: a comparison with undefined is false.
          if (!(byte >= 0x20) || byte === BACKSLASH) return place;
          position += 1;
        }
        const slot = base + column;
        if (fieldKind[slot] !== FieldKind.missing) return place;
        const next = bytes[position + 1];
        if (next !== COMMA && next !== CLOSE_BRACE) return place;
        fieldStart[slot] = start;
        fieldEnd[slot] = position;
        fieldKind[slot] = FieldKind.text;
        position += 2;
        at = position;
        if (next === CLOSE_BRACE) return -1;
      }
      return width;
    }

    /** Passes a record whose opening brace is at `at` and notes where its fields lie. */
    function passRecord(): void {
      const row = index.open(at);
      const base = row * width;
      at += 1;
      skipSpace();
      if (bytes[at] === CLOSE_BRACE) {
        at += 1;
        index.close(row, at, true);
        return;
      }
      const firstDifferent = passLikeBefore(row);
      if (firstDifferent < 0) {
        index.close(row, at, true);
        return;
      }
      for (let place = firstDifferent; ; place += 1) {
        skipSpace();
        if (bytes[at] !== QUOTE) fail('the name of a field');
        let column: number | undefined = place < width ? columnAt[place]! : undefined;
        if (column !== undefined && nameStandsAt(column, at + 1)) {
          at += names[column]!.length + 3;
        } else {
          const start = at;
          const escaped = passString();
          const name = escaped
            ? (JSON.parse(bytes.toString('utf8', start, at)) as string)
            : bytes.toString('utf8', start + 1, at - 1);
          column = columnOf.get(name);
          if (column === undefined) {
            if (unknownFields.size < maxUnknownFields) unknownFields.add(name);
          } else if (place < width) columnAt[place] = column;
          skipSpace();
          if (bytes[at] !== COLON) fail('a colon');
          at += 1;
        }
        skipSpace();
        const valueStart = at;
        const kind = passValue(2);
        if (column !== undefined) {
          const isString = kind === FieldKind.text || kind === FieldKind.escaped;
          const slot = base + column;
          if (index.fieldKind[slot] === FieldKind.missing) {
            index.fieldStart[slot] = isString ? valueStart + 1 : valueStart;
            index.fieldEnd[slot] = isString ? at - 1 : at;
            index.fieldKind[slot] = kind;
          } else {
            // The field stands here twice: which value counts is not ours to guess, so its text is everything from first to last.
            const first = index.fieldKind[slot];
            if (first === FieldKind.text || first === FieldKind.escaped) index.fieldStart[slot]! -= 1;
            index.fieldEnd[slot] = at;
            index.fieldKind[slot] = FieldKind.other;
          }
        }
        skipSpace();
        if (bytes[at] === COMMA) at += 1;
        else if (bytes[at] === CLOSE_BRACE) {
          at += 1;
          break;
        } else fail('a comma or a closing brace');
      }
      index.close(row, at, true);
    }

    /** Passes a member of an array or a map of records, whatever it is. */
    function passItem(): void {
      if (bytes[at] === OPEN_BRACE) passRecord();
      else {
        const row = index.open(at);
        passValue(2);
        index.close(row, at, false);
      }
    }

    /** Passes the value of `data`: one record, an array, a map of records, or null. */
    function passData(): void {
      if (bytes[at] === OPEN_BRACKET) {
        passMembers(OPEN_BRACKET, passItem);
        isEmptyList = index.length === 0;
      } else if (bytes[at] === OPEN_BRACE) {
        if (isMapOfRecords()) passMembers(OPEN_BRACE, passItem);
        else if (!isEmptyObject()) passRecord();
      } else if (passValue(1) !== FieldKind.null) {
        throw new ScanError('"data" is neither a record nor a list of records', at);
      }
    }

    /** Looks ahead: an object whose first member is an object holds records; a record's own fields are texts. */
    function isMapOfRecords(): boolean {
      const start = at;
      at += 1;
      skipSpace();
      let answer = false;
      if (bytes[at] === QUOTE) {
        passString();
        skipSpace();
        if (bytes[at] === COLON) {
          at += 1;
          skipSpace();
          answer = bytes[at] === OPEN_BRACE;
        }
      }
      at = start;
      return answer;
    }

    function isEmptyObject(): boolean {
      const start = at;
      at += 1;
      skipSpace();
      if (bytes[at] === CLOSE_BRACE) {
        at += 1;
        return true;
      }
      at = start;
      return false;
    }

    let count: number | null = null;
    let sawData = false;
    skipSpace();
    if (bytes[at] !== OPEN_BRACE) throw new ScanError(`it is ${describeStart(bytes, at)}, not a JSON object`, at);
    passMembers(OPEN_BRACE, (nameStart, nameEnd) => {
      const name = JSON.parse(bytes.toString('utf8', nameStart - 1, nameEnd + 1)) as string;
      if ((name === 'count' && count !== null) || (name === 'data' && sawData)) {
        throw new ScanError(`it holds "${name}" twice`, nameStart);
      }
      if (name === 'count') {
        const start = at;
        const isNumber = passValue(1) === FieldKind.number;
        const value = isNumber ? Number(bytes.toString('latin1', start, at)) : Number.NaN;
        if (!Number.isSafeInteger(value) || value < 0) throw new ScanError('its "count" is not a whole number', start);
        count = value;
      } else if (name === 'data') {
        sawData = true;
        passData();
      } else passValue(1);
    });
    skipSpace();
    if (at !== bytes.length) throw new ScanError(`something follows the JSON object at byte ${at}`, at);
    if (count === null) throw new ScanError('it holds no "count"', 0);
    // An empty list past the end beside a count is a total, which proves nothing; no list at all contradicts it.
    if (index.length === 0 && count > 0 && !isEmptyList) {
      throw new ScanError(`its "count" is ${String(count)} and its "data" holds no record`, 0);
    }
    capacity = Math.max(16, index.length);
    return { count, records: index.finish(), unknownFields };
  };
}

/** Whether the bytes are UTF-8 but for a last character that is not whole. */
function endsInsideCharacter(bytes: Buffer): boolean {
  for (let left = 1; left <= 3 && left <= bytes.length; left += 1) {
    const byte = bytes[bytes.length - left]!;
    if (byte < 0x80) return false;
    if (byte >= 0xc0) {
      const whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return left < whole && isUtf8(bytes.subarray(0, bytes.length - left));
    }
  }
  return false;
}

function describeStart(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return 'empty';
  if (bytes[at] === 0x3c) return 'HTML or XML';
  return bytes[at] === OPEN_BRACKET ? 'an array' : 'other text';
}
