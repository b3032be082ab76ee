/** The scanner reads every shape of envelope that the service may send, and refuses everything else. */

import { describe, expect, it } from 'vitest';
import { ScanError } from '../../../src/source/decode/json-text.ts';
import { createScanner, type ScannedResponse } from '../../../src/source/decode/scan-response.ts';
import { shapeOf } from '../../../src/source/decode/document-shape.ts';
import { FieldKind } from '../../../src/stages.ts';
import { voters } from '../../support/bundled.ts';

const fields = ['IdDapil', 'Nama', 'Jumlah'];

/** Records under "data", and their number under "count". */
const shape = shapeOf(voters);

const scan = (text: string | Buffer): ScannedResponse => createScanner(fields, shape)(Buffer.from(text as string));
const kinds = (body: string): number[] => [...scan(body).records.fieldKind.subarray(0, fields.length)];

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

describe('an envelope', () => {
  it.each([
    ['an empty array past the end, with the count of all records', '{"count":491,"data":[]}', 0],
    ['no data', '{"count":0}', 0],
    ['a message in place of records', '{"count":0,"data":{"message":"no record"}}', 0],
    ['a count in quotes, after the records', '{"x":[{}],"data":[{"Nama":"A"},{}],"y":1,"count":"2"}', 2],
    ['a byte order mark', '\uFEFF{"count":1,"data":{"IdDapil":"7"}}', 1],
  ])('is accepted with %s', (_, body, length) => {
    expect(scan(body).records.length).toBe(length);
  });

  it.each([
    ['null with a count', '{"count":1,"data":null}'],
    ['no data with a count', '{"count":3}'],
    ['an empty object with a count', '{"count":1,"data":{}}'],
    ['a list deeper than data', '{"count":1,"data":{"items":[{"Nama":"A"}]}}'],
    ['a message with a count', '{"data":{"message":"x","list":[]},"count":3}'],
    ['no count', '{"data":[]}'],
    ['a negative count', '{"count":-1,"data":[]}'],
    ['a count beyond the safe integers', '{"count":9007199254740993,"data":[{}]}'],
    ['a text as count', '{"count":"1 ","data":[{}]}'],
    ['an empty text as count', '{"count":"","data":[{}]}'],
    ['null as count', '{"count":null,"data":[]}'],
    ['data twice', '{"count":1,"data":[{}],"data":[{}]}'],
    ['a text as data', '{"count":0,"data":" "}'],
    ['an array', '[{"IdDapil":"1"}]'],
    ['an empty body', ''],
    ['a second object', '{"count":0,"data":[]}{}'],
    ['a zero byte after the object', '{"count":0,"data":[]}\0'],
    ['two byte order marks', '\uFEFF\uFEFF{"count":0}'],
    ['a control character in a text', '{"count":1,"data":[{"Nama":"A\u001f"}]}'],
    ['an escape cut short', String.raw`{"count":1,"data":[{"Nama":"\u00e"}]}`],
    ['a malformed number of 400 digits', `{"count":1,"data":[{"Nama":${'1'.repeat(400)}--}]}`],
    ['bytes that are not UTF-8', Buffer.from('{"count":1,"data":[{"Nama":"\xe9"}]}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.from('7b22636f756e74223a302c2278223a22eda080227d', 'hex')],
  ])('is refused as complete with %s', (_, body) => {
    const { offset } = refusal(body);
    // An offset at the end means "ends early", which is retried. Only a blank body may say so here.
    expect(offset >= body.length).toBe(body.toString().trim() === '');
  });

  it.each([
    ['<html>', 'HTML or XML'],
    [' [1]', 'an array'],
    ['Bad Gateway', 'other text'],
    ['', 'empty'],
  ])('names what was found in place of an object: %s', (body, found) => {
    expect(refusal(body).message).toContain(found);
  });

  it.each(['"', '}', '{"deep":', '['])('is refused with 100,000 times %s, without a stack overflow', (piece) => {
    expect(refusal(`{"count":1,"data":[{"Nama":${piece.repeat(100_000)}`)).toBeInstanceOf(ScanError);
  });

  it('is accepted with values nested 60 deep, and refused at 70', () => {
    const nested = (depth: number): string => `{"count":1,"data":[{"Nama":${'['.repeat(depth)}${']'.repeat(depth)}}]}`;
    expect(kinds(nested(60))).toContain(FieldKind.other);
    expect(refusal(nested(70)).message).toMatch(/nested/);
  });

  it('is refused with more records than a response can hold, before all of them are read', () => {
    const bytes = Buffer.from(`{"count":1,"data":[${'1,'.repeat(200_000)}1]}`);
    expect(() => createScanner(['A'], shape)(bytes)).toThrow(/more than 200000 records/);
  });
});

it.each([
  ['"1"', '"2"'],
  ['null', '"2"'],
  ['1', '1'],
  ['[]', '"2"'],
])('reads a repeated field (%s, %s) as no value, and keeps the text of both', (first, second) => {
  const body = `{"count":1,"data":[{"Nama":${first},"IdDapil":"1","Nama":${second}}]}`;
  const { records } = scan(body);
  expect([...records.fieldKind.subarray(0, 2)]).toEqual([FieldKind.text, FieldKind.other]);
  expect(body.slice(records.fieldStart[1], records.fieldEnd[1])).toBe(`${first},"IdDapil":"1","Nama":${second}`);
});

it('does not take a longer name for the field that usually comes at its place', () => {
  const items = ['{"IdDapil":"1"}', '{"IdDapilAB":","}', '{"IdDapil":"3"}'];
  const { records } = scan(`{"count":3,"data":[${items.join()}]}`);
  expect([0, 3, 6].map((slot) => records.fieldKind[slot])).toEqual([FieldKind.text, FieldKind.missing, FieldKind.text]);
});

it('names at most 20 undeclared fields', () => {
  const some = scan(`{"count":2,"data":[{"Nama":"A","Kode":"1"},{"K\\u006fta":"2","Kode":"3"}]}`);
  expect([...some.unknownFields]).toEqual(['Kode', 'Kota']);
  const names = Array.from({ length: 50 }, (_, name) => `"x${name}":{"IdDapil":"9"}`);
  const many = `{"count":1,"data":[{${names.join()},"Nama":"A"}]}`;
  expect(scan(many).unknownFields.size).toBe(20);
  expect(kinds(many)).toEqual([FieldKind.missing, FieldKind.text, FieldKind.missing]);
});

it('reads thousands of records in one response', () => {
  const data = Array.from({ length: 5000 }, (_, row) => ({ IdDapil: `${row}` }));
  const body = Buffer.from(JSON.stringify({ count: data.length, data }));
  const { records } = scan(body);
  const ids = data.map((_, row) => body.toString('utf8', records.fieldStart[row * 3], records.fieldEnd[row * 3]));
  expect(ids).toEqual(data.map(({ IdDapil }) => IdDapil));
});
