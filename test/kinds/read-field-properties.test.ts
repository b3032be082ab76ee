/** A field is read as JSON.parse reads it: exact digits, exact texts, or why there are none. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { voters } from '../support/bundled.ts';
import { maxCount, readDigits, readInteger, readRaw, readText } from '../../src/kinds/read-field.ts';
import { NullReason } from '../../src/project/reserved.ts';
import { pageOf, voterRecord } from '../support/pages.ts';
import { holds } from '../support/properties.ts';

const field = 'JumlahSeluruhPemilih';
const column = Object.values(voters.columns).findIndex((definition) => definition.field === field);

/** Characters in figures: digits of several scripts, signs, spaces, points, exponents. */
const pieces = [
  ...'0 00 7 12 145804 2147483647 4294967296 e E3 0x n NaN Infinity null'.split(' '),
  ...Array.from("٣１߁०𝟘²①½+-−.,_'/: \t\n\0\u00a0\u2007\u200b\ufeff"),
  '\ud800',
  '\udfff',
];
const nearBounds = fc
  .tuple(fc.constantFrom(0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n, 2n ** 64n, 10n ** 30n), fc.bigInt(-3n, 3n))
  .map(([bound, step]) => (bound + step < 0n ? 0n : bound + step));
const digits = fc.oneof(
  fc.stringMatching(/^[0-9]{1,14}$/),
  fc.tuple(fc.nat(40), nearBounds).map(([zeros, value]) => '0'.repeat(zeros) + value.toString()),
);
const texts = fc.oneof(
  digits,
  fc.array(fc.constantFrom(...pieces), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.tuple(digits, fc.constantFrom(...pieces), fc.nat()).map(([figure, piece, place]) => {
    const at = place % (figure.length + 1);
    return figure.slice(0, at) + piece + figure.slice(at);
  }),
  fc.string({ unit: 'binary' }),
);

/** A text as a JSON string, its characters written as themselves or as escapes. */
const strings = fc.tuple(texts, fc.array(fc.boolean(), { minLength: 1, maxLength: 8 })).map(([text, escapes]) => {
  const units = Array.from({ length: text.length }, (_, unit) => text[unit]!);
  const isWhole = (unit: string): boolean => !/["\\\p{Cc}\p{Cs}]/u.test(unit);
  const written = units.map((unit, place) =>
    isWhole(unit) && escapes[place % escapes.length] === false
      ? unit
      : String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${written.join('')}"`;
});
const numbers = fc.oneof(
  nearBounds.map(String),
  fc.bigInt().map(String),
  fc
    .tuple(nearBounds, fc.constantFrom('.0', '.5', 'e0', 'E+2', 'e-1', '.10e1'))
    .map(([whole, tail]) => `${whole}${tail}`),
  fc.constantFrom('-0', '-1', '0.0', '1e400'),
);
const values = fc.oneof({ weight: 3, arbitrary: strings }, numbers, fc.json());
const spaces = fc.constantFrom('', ' ', '\t', '\r\n ');

/** Three records; in the second one the field has the JSON `json`, at any place between the others, or is missing. */
const placed = fc
  .tuple(fc.option(values, { freq: 12 }), spaces, fc.constantFrom('first', 'between', 'last'))
  .map(([json, space, where]) => {
    const others = Object.entries(voterRecord({ [field]: undefined })).filter(([, value]) => value !== undefined);
    const members = others.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    const at = { first: 0, between: 7, last: members.length }[where];
    if (json !== null) members.splice(at, 0, `"${field}"${space}:${space}${json}${space}`);
    const whole = JSON.stringify(voterRecord());
    return { json, data: `[${whole},{${members.join(',')}},${whole}]` };
  });

/** The count in a JSON value, computed from the parsed value with whole numbers of any size. */
function countOf(json: string | null): number {
  if (json === null) return NullReason.missing;
  const value: unknown = JSON.parse(json);
  if (value === null) return NullReason.null;
  if (value === '') return NullReason.empty;
  const figure = typeof value === 'number' ? json.trim() : value;
  if (typeof figure !== 'string' || !/^[0123456789]+$/.test(figure)) return NullReason.malformed;
  return BigInt(figure) <= BigInt(maxCount) ? Number(BigInt(figure)) : NullReason.malformed;
}

holds(
  'reads the integer, the text and the raw text that the JSON says, and nothing of the neighbours',
  fc.property(placed, ({ json, data }) => {
    const page = pageOf(voters, data);
    const value: unknown = json === null ? null : JSON.parse(json);
    const text = typeof value === 'string' && value.isWellFormed() ? value : null;
    expect([0, 1, 2].map((row) => readInteger(page, row, column))).toEqual([145_804, countOf(json), 145_804]);
    expect(readText(page, 1, column)).toBe(text);
    expect(readRaw(page, 1, column)).toBe(text ?? (value === null ? null : json!.trim()));
  }),
  { runs: 500 },
);

const wellFormed = texts.map((text) => text.toWellFormed());

holds(
  'reads digits from exactly the bytes between the bounds',
  fc.property(wellFormed, wellFormed, wellFormed, (before, text, after) => {
    const start = Buffer.byteLength(before);
    expect(readDigits(Buffer.from(before + text + after), start, start + Buffer.byteLength(text))).toBe(
      text === '' ? NullReason.malformed : countOf(JSON.stringify(text)),
    );
  }),
  { runs: 300 },
);
