/** Steps through the JSON of a response and checks every byte, without building values. */

import { isUtf8 } from 'node:buffer';
import { FieldKind } from '../../stages.ts';

export class ScanError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

export const NEWLINE = 0x0a;
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const maxDepth = 64;
/** Longer than any real number. */
const maxWordLength = 400;

const numberText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/** A position in the bytes. Each `pass` method moves it past the value there, or throws ScanError. */
export class JsonText {
  readonly bytes: Buffer;
  readonly view: DataView;
  at: number;

  /** Starts after a byte order mark. Throws ScanError if the bytes aren't UTF-8. */
  constructor(bytes: Buffer) {
    if (!isUtf8(bytes)) throw new ScanError('it is not UTF-8 text', endsInsideCharacter(bytes) ? bytes.length : 0);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  fail(expected: string): never {
    const { at, bytes } = this;
    throw new ScanError(
      at >= bytes.length ? `it ends early, and ${expected} is missing` : `${expected} should be at byte ${at}`,
      at,
    );
  }

  skipSpace(): void {
    for (;;) {
      const byte = this.bytes[this.at];
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) this.at += 1;
      else return;
    }
  }

  /** Returns whether the string has escapes. */
  passString(): boolean {
    return this.passText() !== FieldKind.text;
  }

  /** Returns `text` without escapes, `escaped`, or `other` for text that isn't valid Unicode, because it has half a surrogate pair. */
  private passText(): number {
    const { bytes, at: start } = this;
    let at = start + 1;
    let escaped = false;
    for (;;) {
      const byte = bytes[at];
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        escaped = true;
        at += 1;
      }
      // Also fails at the end of the bytes: a comparison with undefined is false.
      if (!(bytes[at]! >= 0x20)) {
        this.at = at;
        this.fail('the rest of a string');
      }
      at += 1;
    }
    this.at = at + 1;
    return escaped ? this.kindOfEscaped(start) : FieldKind.text;
  }

  private kindOfEscaped(start: number): number {
    try {
      const text = JSON.parse(this.bytes.toString('utf8', start, this.at)) as string;
      return text.isWellFormed() ? FieldKind.escaped : FieldKind.other;
    } catch {
      throw new ScanError(`the string at byte ${start} has an invalid escape`, start);
    }
  }

  passValue(depth: number): number {
    const byte = this.bytes[this.at];
    if (byte === QUOTE) return this.passText();
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth >= maxDepth)
        throw new ScanError(`values are nested more than ${maxDepth} levels deep at byte ${this.at}`, this.at);
      this.passMembers(byte, () => this.passValue(depth + 1));
      return FieldKind.other;
    }
    return this.passWord();
  }

  private passWord(): number {
    const { bytes, at: start } = this;
    while (isWordByte(bytes[this.at])) this.at += 1;
    const word = bytes.toString('latin1', start, Math.min(this.at, start + maxWordLength));
    if (word === 'null') return FieldKind.null;
    if (word === 'true' || word === 'false') return FieldKind.other;
    if (this.at - start <= maxWordLength && numberText.test(word)) return FieldKind.number;
    // A word at the end of the bytes may be cut off, so the position stays at the end: the response is truncated.
    if (this.at < bytes.length) this.at = start;
    return this.fail('a JSON value');
  }

  /** Passes an object or an array. Calls `passMember` at each value with the bounds of its name. */
  passMembers(open: number, passMember: (nameStart: number, nameEnd: number) => void): void {
    const { bytes } = this;
    const close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.at += 1;
    this.skipSpace();
    if (bytes[this.at] === close) {
      this.at += 1;
      return;
    }
    for (;;) {
      this.skipSpace();
      let nameStart = this.at;
      let nameEnd = this.at;
      if (open === OPEN_BRACE) {
        if (bytes[this.at] !== QUOTE) this.fail('the name of a field');
        nameStart = this.at + 1;
        this.passString();
        nameEnd = this.at - 1;
        this.passColon();
      }
      passMember(nameStart, nameEnd);
      if (this.passEnd(close)) return;
    }
  }

  /** Passes an object or an array as `passMembers` does, with each member's name; that of an element is its index. */
  passNamed(open: number, passMember: (name: string) => void): void {
    let index = 0;
    this.passMembers(open, (start, end) => {
      const name = open === OPEN_BRACE ? (JSON.parse(this.text(start - 1, end + 1)) as string) : String(index);
      index += 1;
      passMember(name);
    });
  }

  passColon(): void {
    this.skipSpace();
    if (this.bytes[this.at] !== COLON) this.fail('a colon');
    this.at += 1;
    this.skipSpace();
  }

  /** Passes the comma after a member, or the closing bracket. Returns true for the latter. */
  passEnd(close: number): boolean {
    this.skipSpace();
    const byte = this.bytes[this.at];
    if (byte !== COMMA && byte !== close)
      this.fail(close === CLOSE_BRACE ? 'a comma or a closing brace' : 'a comma or a closing bracket');
    this.at += 1;
    return byte === close;
  }

  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }
}

function isWordByte(byte: number | undefined): boolean {
  return (
    byte !== undefined &&
    ((byte >= 0x30 && byte <= 0x39) ||
      (byte >= 0x61 && byte <= 0x7a) ||
      byte === 0x45 ||
      byte === 0x2b ||
      byte === 0x2d ||
      byte === 0x2e)
  );
}

/** Returns whether the bytes are valid UTF-8 except for an incomplete last character, which a stream could continue. */
function endsInsideCharacter(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
