/** Sums of keyed hashes of records, to compare contents in any order. */

import { hash } from 'node:crypto';
import { FieldKind, type Page } from '../stages.ts';
import { addRecord, headOf, type ValueSink } from './fingerprints.ts';

/** Hashes the declared values of records with a key, so that a source can't choose records whose hashes cancel in a sum. */
export class ContentHash implements ValueSink {
  /** 16 hexadecimal digits. */
  readonly key: string;
  private input = Buffer.alloc(4096);
  private length = 0;

  constructor(key: string) {
    this.key = key;
    this.input.write(key, 'hex');
  }

  /** Returns the SHA-256 of key and record, as a string of bytes. */
  of(page: Page, row: number): string {
    this.length = this.key.length / 2;
    addRecord(page, row, this);
    return hash('sha256', this.input.subarray(0, this.length), 'binary');
  }

  /** Hashes a record without some of its columns. */
  ofOthers(page: Page, row: number, columns: readonly number[]): string {
    const { fieldKind, fieldStart, fieldEnd, width } = page.records;
    const kept = columns.map((column) => {
      const slot = row * width + column;
      const before = [slot, fieldKind[slot]!, fieldEnd[slot]!] as const;
      fieldKind[slot] = FieldKind.missing;
      fieldEnd[slot] = fieldStart[slot]!;
      return before;
    });
    const content = this.of(page, row);
    for (const [slot, kind, end] of kept) {
      fieldKind[slot] = kind;
      fieldEnd[slot] = end;
    }
    return content;
  }

  add(kind: number, bytes: Uint8Array, start: number, end: number): void {
    const to = this.length + 4;
    this.length = to + end - start;
    if (this.length > this.input.length) this.input = Buffer.concat([this.input], 2 * this.length);
    this.input.writeInt32LE(headOf(kind, end - start), to - 4);
    // A loop is faster for short values.
    if (end - start > 64) this.input.set(bytes.subarray(start, end), to);
    else for (let at = start; at < end; at += 1) this.input[to + at - start] = bytes[at]!;
  }
}

/** A digest to compare two passes. Records are added one by one. */
export class PassDigest {
  total = 0;
  private readonly key: string;
  /** Sums of the 16-bit words of the hashes, exact for 2^37 records. */
  private readonly sums = [0, 0, 0, 0, 0, 0, 0, 0];

  constructor({ key }: Pick<ContentHash, 'key'>) {
    this.key = key;
  }

  /** @param bytes As `ContentHash` returns it. Its first 128 bits are added. */
  add(bytes: string): void {
    this.total += 1;
    for (let word = 0; word < 8; word += 1)
      this.sums[word]! += (bytes.charCodeAt(2 * word) << 8) | bytes.charCodeAt(2 * word + 1);
  }

  /** Key, number and sum of the hashes in hexadecimal, the same for any order. Only contents with the same key can be compared. */
  get content(): string {
    const sum = this.sums.reduce((whole, word) => (whole << 16n) + BigInt(word), 0n);
    return `${this.key}-${this.total.toString(16)}-${sum.toString(16)}`;
  }
}
