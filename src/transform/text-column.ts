/** A column of texts, kept in the UTF-8 in which they came: to decode and encode a name costs more than all else that a row needs. */

import { begin, FingerprintTable, mix, type Mixed } from '../records/fingerprint-table.ts';

/** Of the text at hand; the next one overwrites it. */
const fingerprint: Mixed = { high: 0, low: 0 };

/** Texts by their place in a dictionary, in the order in which they came first; code -1 is NULL. */
export class TextColumn {
  readonly codes: Int32Array;
  /** Texts in the dictionary. */
  length = 0;
  /** They follow one another; text `code` ends where the next one begins. */
  private starts = new Int32Array(64);
  private bytes = new Uint8Array(1024);
  private readonly table = new FingerprintTable();
  private latest = -1;

  constructor(rows: number) {
    this.codes = new Int32Array(rows);
  }

  /** Bytes of the dictionary's texts. */
  get size(): number {
    return this.starts[this.length]!;
  }

  /** The dictionary in Arrow's form of it: the texts' UTF-8, and where each begins and the last one ends. */
  get dictionary(): { readonly bytes: Uint8Array; readonly starts: Int32Array } {
    return { bytes: this.bytes.subarray(0, this.size), starts: this.starts.subarray(0, this.length + 1) };
  }

  /** The text of a code. */
  text(code: number): string {
    return Buffer.from(this.bytes.buffer).toString('utf8', this.starts[code], this.starts[code + 1]);
  }

  /** The code of the text in bytes `start` to `end`, given to it when it comes first. Most texts repeat the one before. */
  encode(bytes: Uint8Array, start: number, end: number): number {
    if (this.latest >= 0 && this.holds(this.latest, bytes, start, end)) return this.latest;
    begin(fingerprint);
    mix(bytes, start, end, fingerprint);
    const code = this.table.meet(fingerprint, this.length + 1) - 1;
    // Should two texts have one fingerprint, the other one stands in the dictionary as often as it comes.
    this.latest = code >= 0 && this.holds(code, bytes, start, end) ? code : this.append(bytes, start, end);
    return this.latest;
  }

  private holds(code: number, bytes: Uint8Array, start: number, end: number): boolean {
    const own = this.starts[code]!;
    if (this.starts[code + 1]! - own !== end - start) return false;
    for (let at = end - start - 1; at >= 0; at -= 1) if (this.bytes[own + at] !== bytes[start + at]) return false;
    return true;
  }

  private append(bytes: Uint8Array, start: number, end: number): number {
    const { size, length } = this;
    const newSize = size + end - start;
    if (newSize > this.bytes.length) this.bytes = enlarged(this.bytes, new Uint8Array(newSize * 2));
    if (length + 1 === this.starts.length) this.starts = enlarged(this.starts, new Int32Array(length * 2 + 2));
    // Names are short: to copy them byte by byte takes less than to make a view of them.
    for (let at = start; at < end; at += 1) this.bytes[size + at - start] = bytes[at]!;
    this.length += 1;
    this.starts[this.length] = newSize;
    return length;
  }
}

function enlarged<Values extends Uint8Array | Int32Array>(values: Values, larger: Values): Values {
  larger.set(values);
  return larger;
}
