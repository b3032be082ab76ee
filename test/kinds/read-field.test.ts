/** A field is read as the source wrote it: exact digits or a named reason why not, and never a guessed number. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { readDigits, readInteger, readRaw, readText } from '../../src/kinds/read-field.ts';
import { NullReason } from '../../src/project/reserved.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

const field = 'JumlahSeluruhPemilih';
const column = Object.values(voters.columns).findIndex((definition) => definition.field === field);

/** Reads the field of the second of two records, in which it is spelled as the JSON `json`; left out where that is undefined. */
function readAs<Value>(
  read: (page: ReturnType<typeof pageOf>, row: number, column: number) => Value,
  json?: string,
): Value {
  const rest = JSON.stringify(voterRecord({ [field]: undefined }));
  const record = json === undefined ? rest : `${rest.slice(0, -1)},"${field}":${json}}`;
  return read(pageOf(voters, `[${JSON.stringify(voterRecord())},${record}]`), 1, column);
}

const integerOf = (json?: string): number => readAs(readInteger, json);
const textOf = (json?: string): string | null => readAs(readText, json);
const rawOf = (json?: string): string | null => readAs(readRaw, json);

describe('readInteger', () => {
  it.each([
    ['"0"', 0],
    ['"145804"', 145_804],
    ['"007"', 7],
    [`"${'0'.repeat(30)}12"`, 12],
    ['"2147483647"', 2_147_483_647],
    ['"0002147483647"', 2_147_483_647],
    ['145804', 145_804],
    ['0', 0],
    ['2147483647', 2_147_483_647],
    [String.raw`"1\u0032\u0033"`, 123],
    [String.raw`"\u0030"`, 0],
  ])('reads %s exactly', (json, value) => {
    expect(integerOf(json)).toBe(value);
  });

  it.each([
    ['one more than a table holds', '"2147483648"'],
    ['what wraps round to a small number in 32 bits', '"4294967297"'],
    ['what wraps round in 64 bits', '"18446744073709551617"'],
    ['hundreds of digits', `"${'9'.repeat(350)}"`],
    ['a minus', '"-5"'],
    ['a plus', '"+5"'],
    ['a space before', '" 12"'],
    ['a space behind', '"12 "'],
    ['a line break', String.raw`"12\n"`],
    ['a no-break space', '"1\u00a0234"'],
    ['a point between thousands', '"144.190"'],
    ['a point that ate a zero', '"144.19"'],
    ['a comma between thousands', '"144,190"'],
    ['an exponent', '"1e3"'],
    ['hexadecimal', '"0x1A"'],
    ['an underscore', '"1_000"'],
    ['full-width digits', '"１２３"'],
    ['Arabic-Indic digits', '"١٢٣"'],
    ['superscript', '"1²"'],
    ['a dash', '"-"'],
    ['a space alone', '" "'],
    ['words', '"n/a"'],
    ['the character before 0', '"1/"'],
    ['the character behind 9', '"1:"'],
    ['an escaped minus', String.raw`"\u002d5"`],
    ['an escaped letter', String.raw`"1\u0061"`],
    ['a zero byte', String.raw`"1\u0000"`],
    ['a fraction', '1.5'],
    ['a number written as a fraction', '12.0'],
    ['a number with an exponent', '1e3'],
    ['a negative number', '-1'],
    ['a number beyond the table', '2147483648'],
    ['true', 'true'],
    ['an array', '["12"]'],
    ['an object', '{"a":12}'],
    ['a field that stands twice', `"12","${field}":"12"`],
  ])('calls %s malformed', (_, json) => {
    expect(integerOf(json)).toBe(NullReason.malformed);
  });

  it('tells missing, null, empty and malformed from each other and from every count', () => {
    expect(integerOf()).toBe(NullReason.missing);
    expect(integerOf('null')).toBe(NullReason.null);
    expect(integerOf('""')).toBe(NullReason.empty);
    const codes = Object.values(NullReason);
    expect(new Set(codes).size).toBe(4);
    expect(Math.max(...codes)).toBeLessThan(0);
  });
});

describe('readDigits', () => {
  it('reads between its bounds and nothing beside them', () => {
    const bytes = Buffer.from('"x12345y"');
    expect(readDigits(bytes, 2, 7)).toBe(12_345);
    expect(readDigits(bytes, 3, 5)).toBe(23);
    expect(readDigits(bytes, 1, 7)).toBe(NullReason.malformed);
    expect(readDigits(bytes, 2, 8)).toBe(NullReason.malformed);
  });

  it('finds no number in an empty stretch', () => {
    expect(readDigits(Buffer.from('12'), 1, 1)).toBe(NullReason.malformed);
  });
});

describe('readText', () => {
  it.each([
    ['"ACEH BARAT"', 'ACEH BARAT'],
    ['""', ''],
    ['" "', ' '],
    ['"Größe 😀"', 'Größe 😀'],
    [String.raw`"\u0041\"\\\/\n\ud83d\ude00"`, 'A"\\/\n😀'],
    ['"null"', 'null'],
    ['"12"', '12'],
  ])('reads %s', (json, text) => {
    expect(textOf(json)).toBe(text);
  });

  it('gives text that UTF-8 can hold, also for half a surrogate pair', () => {
    const text = textOf(String.raw`"A\ud800B"`);
    expect(text).toBe('A\ufffdB');
    expect(Buffer.from(text!).toString()).toBe(text);
  });

  it.each([undefined, 'null', '12', 'true', '{"a":"b"}', '["a"]'])('finds no text in %s', (json) => {
    expect(textOf(json)).toBeNull();
  });
});

describe('readRaw', () => {
  it.each([
    ['"144.19"', '144.19'],
    ['""', ''],
    [String.raw`"1\u002c5"`, '1,5'],
    ['144190000000000000000000000000000000001', '144190000000000000000000000000000000001'],
    ['1.50', '1.50'],
    ['-0', '-0'],
    ['true', 'true'],
    ['{ "a" : [1] }', '{ "a" : [1] }'],
  ])('keeps %s as the source wrote it', (json, raw) => {
    expect(rawOf(json)).toBe(raw);
  });

  it('holds both values of a field that stands twice', () => {
    expect(rawOf(`"12","${field}":"13"`)).toBe(`"12","${field}":"13"`);
  });

  it.each([undefined, 'null'])('is null for %s', (json) => {
    expect(rawOf(json)).toBeNull();
  });
});
