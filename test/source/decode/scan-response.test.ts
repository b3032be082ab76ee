/** The scanner takes every shape of envelope the service may send, refuses everything else, and knows a body that ends early. */

import { describe, expect, it } from 'vitest';
import { ScanError } from '../../../src/source/decode/json-text.ts';
import { createScanner, shapeOf, type ScannedResponse } from '../../../src/source/decode/scan-response.ts';
import { FieldKind } from '../../../src/stages.ts';
import { voters } from '../../support/bundled.ts';

/** Not all of them ASCII, as names of fields are the source's to choose. */
const fields = ['IdDapil', 'Nama', 'Jumlah', 'Größe'];

/** Records under "data", and their number under "count". */
const shape = shapeOf(voters);

const scan = (text: string | Buffer): ScannedResponse => createScanner(fields, shape)(Buffer.from(text as string));

/** The error that a body is refused with; anything but a ScanError fails the test. */
function refusal(body: string | Buffer): ScanError {
  try {
    scan(body);
  } catch (error) {
    if (error instanceof ScanError) return error;
    throw error;
  }
  throw new Error(`accepted: ${body.toString()}`);
}

/** The values found in the bytes, record by record in the order of `fields`; undefined where a field is missing. */
function valuesIn(body: string | Buffer, { records }: ScannedResponse): unknown[][] {
  const bytes = Buffer.from(body as string);
  return Array.from({ length: records.length }, (_, row) =>
    fields.map((_field, column) => {
      const slot = row * fields.length + column;
      const kind = records.fieldKind[slot];
      const text = bytes.toString('utf8', records.fieldStart[slot], records.fieldEnd[slot]);
      if (kind === FieldKind.missing) return undefined;
      if (kind === FieldKind.text) return text;
      if (kind === FieldKind.null) return null;
      return JSON.parse(kind === FieldKind.escaped ? `"${text}"` : text);
    }),
  );
}

const read = (body: string): unknown[][] => valuesIn(body, scan(body));
const kinds = (body: string): number[] => [...scan(body).records.fieldKind.subarray(0, fields.length)];

describe('shapes of data', () => {
  it.each([
    ['one record', '{"count":1,"data":{"IdDapil":"1101","Nama":"A"}}', [['1101', 'A']]],
    ['an array', '{"count":2,"data":[{"IdDapil":"1"},{"IdDapil":"2"}]}', [['1'], ['2']]],
    ['an object of records', '{"count":2,"data":{"a":{"IdDapil":"1"},"b":{"IdDapil":"2"}}}', [['1'], ['2']]],
    ['an empty array', '{"count":0,"data":[ ]}', []],
    ['an empty object', '{"count":0,"data":{ }}', []],
    ['null', '{"count":0,"data":null}', []],
    ['nothing', '{"count":0}', []],
    ['a message in place of records', '{"count":0,"data":{"message":"no record"}}', []],
    [
      'the envelope turned round, with other members',
      '{"x":[{}],"data":[{"Nama":"A"}],"y":1,"count":1}',
      [[undefined, 'A']],
    ],
    [
      'a count in quotes, as all other values are',
      '{"count":"2","data":[{"IdDapil":"1"},{"IdDapil":"2"}]}',
      [['1'], ['2']],
    ],
    ['a record without fields', '{"count":1,"data":[{}]}', [[]]],
    ['a byte order mark', '\uFEFF{"count":1,"data":[{"IdDapil":"7"}]}', [['7']]],
    [
      'space wherever JSON lets it stand',
      ' {\t"count" :\r\n1 , "data" : [ { "IdDapil" : "1" , "Nama"\n: "B" } ] } \n',
      [['1', 'B']],
    ],
  ])('takes %s', (_, body, expected) => {
    expect(read(body)).toEqual(expected.map((values) => fields.map((_field, column) => values[column])));
  });

  it('takes an empty array past the end, whatever the count says of the total', () => {
    expect(createScanner(['Nama'], shape)(Buffer.from('{"count":491,"data":[]}')).records.length).toBe(0);
  });

  it.each([
    ['null with a count', '{"count":1,"data":null}'],
    ['no data with a count', '{"count":3}'],
    ['an empty object with a count', '{"count":1,"data":{}}'],
    ['a list deeper than data', '{"count":1,"data":{"items":[{"Nama":"A"}]}}'],
    ['a message with a count', '{"data":{"message":"x","list":[]},"count":3}'],
    ['no count', '{"data":[{"Nama":"A"}]}'],
    ['a negative count', '{"count":-1,"data":[]}'],
    ['a count with a fraction', '{"count":1.5,"data":[{}]}'],
    ['a count beyond the safe integers', '{"count":9007199254740993,"data":[{}]}'],
    ['a text as count', '{"count":"1 ","data":[{}]}'],
    ['a text without digits as count', '{"count":"","data":[{}]}'],
    ['a count in an array', '{"count":[1],"data":[{}]}'],
    ['count null', '{"count":null,"data":[]}'],
    ['count twice', '{"count":1,"data":[{}],"count":1}'],
    ['data twice', '{"count":1,"data":[{}],"data":[{}]}'],
    ['a text as data', '{"count":1,"data":"A"}'],
    ['a text as data of none', '{"count":0,"data":""}'],
    ['a number as data', '{"count":0,"data":1}'],
    ['false as data', '{"count":0,"data":false}'],
    ['an array', '[{"IdDapil":"1"}]'],
    ['HTML', '<!doctype html><title>Maintenance</title>'],
    ['plain text', 'Bad Gateway'],
    ['an empty body', ''],
    ['a body of spaces', ' \n '],
    ['a second object', '{"count":0,"data":[]}{}'],
    ['garbage behind the object', '{"count":0,"data":[]} x'],
    ['a zero byte behind the object', '{"count":0,"data":[]}\0'],
    ['two byte order marks', '\uFEFF\uFEFF{"count":0}'],
    ['a comma at the end of a record', '{"count":1,"data":[{"Nama":"A",}]}'],
    ['a comma at the end of the array', '{"count":1,"data":[{},]}'],
    ['a field without a value', '{"count":1,"data":[{"Nama"}]}'],
    ['a bare name', '{"count":1,"data":[{Nama:"A"}]}'],
    ['a line break in a text', '{"count":1,"data":[{"Nama":"A\n"}]}'],
    ['a zero byte in a text', '{"count":1,"data":[{"Nama":"A\0"}]}'],
    ['the last control character in a text', '{"count":1,"data":[{"Nama":"A\u001f"}]}'],
    ['a line break in a name', '{"count":1,"data":[{"Na\nma":"A"}]}'],
    ['an unknown escape', String.raw`{"count":1,"data":[{"Nama":"\x41"}]}`],
    ['an escape cut short', String.raw`{"count":1,"data":[{"Nama":"\u00e"}]}`],
    ['a leading zero', '{"count":1,"data":[{"Nama":01}]}'],
    ['a number that goes wrong after 400 digits', `{"count":1,"data":[{"Nama":${'1'.repeat(400)}--}]}`],
    ['NaN', '{"count":1,"data":[{"Nama":NaN}]}'],
    ['a literal that goes on', '{"count":1,"data":[{"Nama":nullx}]}'],
    ['bytes that are no UTF-8', Buffer.from('{"count":1,"data":[{"Nama":"\xe9"}]}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('7b22636f756e74223a302c2278223a22eda080227d', 'hex')],
  ])('refuses %s, as complete', (_, body) => {
    const { offset } = refusal(body);
    // Behind the last byte means "ends early" and is asked for again; only a body without any text may say so here.
    expect(offset >= body.length).toBe(body.toString().trim() === '');
  });

  it.each([
    ['<html>', 'it is HTML or XML, not a JSON object'],
    [' [1]', 'it is an array, not a JSON object'],
    ['Bad Gateway', 'it is other text, not a JSON object'],
    ['', 'it is empty, not a JSON object'],
  ])('says what it found in the place of an object: %s', (body, message) => {
    expect(refusal(body).message).toBe(message);
  });

  it.each(['"', '}', '{"deep":', '['])('refuses 100,000 times %s without running out of stack', (piece) => {
    expect(refusal(`{"count":1,"data":[{"Nama":${piece.repeat(100_000)}`)).toBeInstanceOf(ScanError);
  });

  it('takes values nested 60 deep and refuses them at 70', () => {
    const nested = (depth: number): string => `{"count":1,"data":[{"Nama":${'['.repeat(depth)}${']'.repeat(depth)}}]}`;
    expect(kinds(nested(60))).toContain(FieldKind.other);
    expect(refusal(nested(70)).message).toMatch(/nested/);
  });
});

describe('a body that ends early', () => {
  const whole = {
    'documented texts': '{"count":1,"data":{"IdDapil":"1101","Nama":"ACEH I","Jumlah":"70800"}}',
    'space and other members': ' {\r\n "took" : 12.5 , "count" : 1 ,\n "data" : [ { "Nama" : "A" } ] }',
    'an object of records': '{"data":{"a":{"IdDapil":"1"},"b":{"IdDapil":"2"}},"count":2}',
    escapes: String.raw`{"count":1,"data":[{"N\u0061ma":"\"\\\ud83d\ude00","IdDapil":"1"}]}`,
    'letters outside ASCII': '{"count":1,"data":[{"Nama":"Añé 😀 – インド","Größe":"ü"}]}',
    'a byte order mark': '\uFEFF{"count":0,"data":[]}',
    numbers: '{"count":1,"data":[{"IdDapil":-1.5e+30,"Jumlah":0.25,"Nama":2E-7}]}',
    literals: '{"count":1,"data":[{"IdDapil":null,"Jumlah":true,"Nama":[false,null,{}]}]}',
    'data null': '{"count":0,"data":null}',
  };

  it.each(Object.entries(whole))('is never taken for an answer, and known by its offset: %s', (_, text) => {
    const body = Buffer.from(text);
    expect(() => scan(body)).not.toThrow();
    const mistaken: string[] = [];
    for (let length = 0; length < body.length; length += 1) {
      if (refusal(body.subarray(0, length)).offset < length) mistaken.push(body.toString('utf8', 0, length));
    }
    expect(mistaken).toEqual([]);
  });
});

describe('fields', () => {
  it('are found whatever their order, also where it changes from record to record and from answer to answer', () => {
    const scanner = createScanner(fields, shape);
    const bodies = [
      '{"count":3,"data":[{"Nama":"A","IdDapil":"1"},{"Nama":"B","IdDapil":"2"},{"IdDapil":"3","Nama":"C"}]}',
      '{"count":2,"data":[{"x":"0","IdDapil":"4","Nama":"D"},{"Jumlah":"9","Nama":"E"}]}',
    ];
    const found = bodies.flatMap((body) => valuesIn(body, scanner(Buffer.from(body))).map((row) => row.slice(0, 2)));
    expect(found).toEqual([
      ['1', 'A'],
      ['2', 'B'],
      ['3', 'C'],
      ['4', 'D'],
      [undefined, 'E'],
    ]);
  });

  it('keep the kind of their value, and a missing one is told from null', () => {
    const kind = (value: string): number => kinds(`{"count":1,"data":[{"IdDapil":"1","Nama":${value}}]}`)[1]!;
    expect(kind('"A"')).toBe(FieldKind.text);
    expect(kind('""')).toBe(FieldKind.text);
    expect(kind(String.raw`"\u0041"`)).toBe(FieldKind.escaped);
    for (const number of ['0', '-0', '12', '-1.5', '1e9', '2E-3']) expect(kind(number)).toBe(FieldKind.number);
    expect(kind('null')).toBe(FieldKind.null);
    for (const other of ['true', 'false', '{"a":{"b":[1]}}', '[]']) expect(kind(other)).toBe(FieldKind.other);
    expect(kinds('{"count":1,"data":[{"IdDapil":"1"}]}')[1]).toBe(FieldKind.missing);
  });

  it('are known by their decoded name', () => {
    expect(
      read(String.raw`{"count":1,"data":[{"\u004eama":"A","Id\u0044apil":"\ud83d\ude00\"\n"}]}`)[0]!.slice(0, 2),
    ).toEqual(['😀"\n', 'A']);
  });

  it('may have names that JSON writes with escapes', () => {
    const scanner = createScanner(['a"b', String.raw`c\d`], shape);
    const record = String.raw`{"count":1,"data":{"a\"b":"1","c\\d":"2"}}`;
    expect([...scanner(Buffer.from(record)).records.fieldKind.subarray(0, 2)]).toEqual([
      FieldKind.text,
      FieldKind.text,
    ]);
    expect(() => scanner(Buffer.from('{"count":1,"data":{"a"b":"1"}}'))).toThrow(ScanError);
  });

  it.each([
    ['"1"', '"2"'],
    ['"1"', '"1"'],
    ['null', '"2"'],
    ['1', '2'],
    ['[]', '"2"'],
  ])('that stand twice (%s, %s) are no value, and their text holds both', (first, second) => {
    const body = `{"count":1,"data":[{"Nama":${first},"IdDapil":"1","Nama":${second}}]}`;
    const { records } = scan(body);
    expect([...records.fieldKind.subarray(0, 2)]).toEqual([FieldKind.text, FieldKind.other]);
    expect(body.slice(records.fieldStart[1], records.fieldEnd[1])).toBe(`${first},"IdDapil":"1","Nama":${second}`);
  });

  it('that are not declared are named, at most 20 of them', () => {
    const record = (names: number[]): string =>
      `{${names.map((name) => `"x${name}":{"IdDapil":"9"}`).join()},"Nama":"A"}`;
    const some = scan(`{"count":2,"data":[{"Nama":"A","Kode":"1"},{"K\\u006fta":"2","Kode":"3"}]}`);
    expect([...some.unknownFields]).toEqual(['Kode', 'Kota']);
    const names = Array.from({ length: 50 }, (_, name) => name);
    const body = `{"count":1,"data":[${record(names)}]}`;
    expect(scan(body).unknownFields.size).toBe(20);
    expect(read(body)[0]!.slice(0, 2)).toEqual([undefined, 'A']);
  });
});

describe('records', () => {
  it('keep their bounds, and what is no object is told from what is', () => {
    const items = ['{"Nama":"A"}', '"text"', '12', 'null', '[{"Nama":"B"}]', '{}', 'true', '{ "x" : {} }'];
    const body = `{"count":8,"data":[ ${items.join(' , ')} ]}`;
    const { records } = scan(body);
    const spans = items.map((_, row) => body.slice(records.recordStart[row], records.recordEnd[row]));
    expect(spans).toEqual(items);
    expect([...records.isObject.subarray(0, records.length)]).toEqual([1, 0, 0, 0, 0, 1, 0, 1]);
  });

  it('are all kept where there are thousands', () => {
    const rows = Array.from({ length: 5000 }, (_, row) => ({ IdDapil: String(row), Nama: `Regency ${row}` }));
    const body = JSON.stringify({ count: rows.length, data: rows });
    const found = read(body);
    expect(scan(body).records.isObject.subarray(0, rows.length).filter(Boolean)).toHaveLength(rows.length);
    expect(found.map((row) => row.slice(0, 2))).toEqual(rows.map((row) => [row.IdDapil, row.Nama]));
  });

  it('refuses an answer of more records than any whole one can hold, before it has noted them all', () => {
    const bytes = Buffer.from(`{"count":1,"data":[${'1,'.repeat(200_000)}1]}`);
    expect(() => createScanner(['A'], shape)(bytes)).toThrow(/more than 200000 records/);
  });
});
