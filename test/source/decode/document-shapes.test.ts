/** The scanner finds the records, the count and the next page where a pipeline declares them, in JSON and in lines. */

import { describe, expect, it } from 'vitest';
import { ScanError } from '../../../src/source/decode/json-text.ts';
import { createScanner } from '../../../src/source/decode/scan-response.ts';
import { type DocumentShape, shapeOf } from '../../../src/source/decode/document-shape.ts';
import { FieldKind } from '../../../src/stages.ts';
import { voters } from '../../support/bundled.ts';

/** Reads a body by a shape: the JSON of each record's `id` and `name`, or null if the record isn't an object. */
function read(shape: Partial<DocumentShape>, body: string, fields = ['id', 'name']) {
  const bytes = Buffer.from(body);
  const { records, count, next } = createScanner(fields, { format: 'json', records: '', ...shape })(bytes);
  const valueAt = (slot: number): string | undefined =>
    records.fieldKind[slot] === FieldKind.missing
      ? undefined
      : bytes.toString('utf8', records.fieldStart[slot], records.fieldEnd[slot]);
  const found = Array.from({ length: records.length }, (_, row) =>
    records.isObject[row] === 1 ? fields.map((_field, column) => valueAt(row * fields.length + column)) : null,
  );
  return { records: found, count, next };
}

/** The error that a body is refused with; anything but a ScanError fails the test. */
function refusal(shape: Partial<DocumentShape>, body: string): ScanError {
  try {
    read(shape, body);
  } catch (error) {
    if (error instanceof ScanError) return error;
    throw error;
  }
  throw new Error(`accepted: ${body}`);
}

const two = [
  ['1', 'A'],
  ['2', 'B'],
];
const list = '[{"id":1,"name":"A"},{"id":2,"name":"B"}]';

describe('the records', () => {
  it.each([
    ['a deep member', '/a/b/c', `{"x":{"b":{"c":[]}},"a":{"c":1,"b":{"c":${list},"d":[]}}}`],
    ['a name with a slash', '/a~1b', `{"a":{"b":[]},"a/b":${list}}`],
    ['a name with a tilde', '/a~0b', `{"a~0b":[],"a~b":${list}}`],
    ['a name that looks like an escape', '/~01', `{"/":[],"~1":${list}}`],
    ['an empty name', '/', `{"x":[],"":${list}}`],
    ['a name that the source escapes', '/data', `{"d\\u0061ta":${list}}`],
    ['an object by key', '/data', '{"data":{"k1":{"id":1,"name":"A"},"k2":{"id":2,"name":"B"}}}'],
    ['an object by key, the whole document', '', '{"k1":{"id":1,"name":"A"},"k2":{"id":2,"name":"B"}}'],
  ])('are found: %s', (_what, records, body) => {
    expect(read({ records }, body).records).toEqual(two);
  });

  it.each([
    ['one record in a member', '/data', '{"data":{"id":1,"name":"A"}}', [['1', 'A']]],
    ['one record as the document', '', '{"id":1,"name":"A"}', [['1', 'A']]],
    ['an empty array', '/data', '{"data":[]}', []],
    ['an empty object', '/data', '{"data":{}}', []],
    ['null', '/data', '{"data":null}', []],
    ['items that are not objects', '', '[{"id":1,"name":"A"},5,[{"id":1}]]', [['1', 'A'], null, null]],
  ])('can be %s', (_what, records, body, expected) => {
    expect(read({ records }, body).records).toEqual(expected);
  });

  it.each([
    ['the pointer leads nowhere', '/data', '{"items":[]}', '"data" is missing'],
    ['the pointer ends early', '/a/b', '{"a":{"c":[]}}', '"a/b" is missing'],
    ['the pointer leads behind an array', '/a/1', '{"a":[[]]}', '"a/1" is missing'],
    ['they are a text', '/data', '{"data":"no records"}', 'neither a record nor a list'],
    ['they are a number', '', '5', 'neither a record nor a list'],
    ['an object has no declared field', '/data', '{"data":{"message":"x"}}', 'without any known field'],
    ['the list is one level further in', '', '{"items":[{"id":1}]}', 'without any known field'],
    ['they occur twice', '/data', `{"data":${list},"data":[]}`, 'it has "data" twice'],
    ['they occur in two objects', '/a/b', `{"a":{"b":${list}},"a":{"b":[]}}`, 'it has "a/b" twice'],
  ])('are refused if %s', (_why, records, body, message) => {
    expect(refusal({ records }, body).message).toContain(message);
  });
});

it.each<[string, string, (string | undefined)[]]>([
  ['a member of an inner object', '[{"who":{"login":"A","x":[1]},"id":1}]', ['1', 'A']],
  ['an object as it is written', '[{"id":1,"who":{"login":{"a":"A"}}}]', ['1', '{"a":"A"}']],
  ['nothing if the inner object is empty', '[{"id":2,"who":{}}]', ['2', undefined]],
  ['nothing if the inner object is an array', '[{"id":2,"who":[{"login":"A"}]}]', ['2', undefined]],
  ['nothing from a member named like the pointer', '[{"id":1,"/who/login":"A","login":"B"}]', ['1', undefined]],
  [
    'all text between a repeated inner object',
    '[{"id":1,"who":{"login":"A"},"who":{"login":"B"}}]',
    ['1', '"A"},"who":{"login":"B"'],
  ],
])('a field that is a JSON pointer reads %s', (_what, body, record) => {
  expect(read({}, body, ['id', '/who/login']).records).toEqual([record]);
});

it('reads several pointers into one object, in any order of members', () => {
  const body = '[{"a":{"y":2,"x":1},"b":3},{"b":6,"a":{"x":4,"y":5}}]';
  expect(read({}, body, ['b', '/a/x', '/a/y']).records).toEqual([
    ['3', '1', '2'],
    ['6', '4', '5'],
  ]);
});

describe('the reported count', () => {
  it.each([
    ['before the records', { reportedCount: '/meta/total' }, `{"meta":{"total":7},"data":${list}}`, 7],
    ['after them, as a text', { reportedCount: '/total' }, `{"data":${list},"total":"7"}`, 7],
    ['not at all unless declared', {}, `{"count":5,"data":${list}}`, null],
  ])('is read %s', (_what, declared, body, count) => {
    expect(read({ records: '/data', ...declared }, body)).toMatchObject({ count, records: two });
  });

  it.each([
    ['missing', '{"data":[]}', 'is missing'],
    ['a fraction', '{"meta":{"total":1.5},"data":[]}', 'is not a whole number'],
    ['null', '{"meta":{"total":null},"data":[]}', 'is not a whole number'],
    ['2 beside null', '{"meta":{"total":2},"data":null}', 'has no records'],
  ])('is refused if it is %s', (_why, body, message) => {
    expect(refusal({ records: '/data', reportedCount: '/meta/total' }, body).message).toContain(message);
  });
});

describe('the next page', () => {
  it.each([
    ['{"next":"/list?page=2"}', '/list?page=2'],
    [String.raw`{"next":"\/list?q=\u00e9"}`, '/list?q=é'],
    ['{"next":9007199254740993}', '9007199254740993'],
    ['{"next":0}', null],
    ['{"next":null}', null],
    ['{"next":false}', null],
    ['{"next":""}', null],
    ['{"prev":"x"}', undefined],
    ['null', undefined],
  ])('is read from %s', (page, next) => {
    expect(read({ records: '/data', next: '/page/next' }, `{"data":[],"page":${page}}`).next).toBe(next);
  });

  it.each(['{"href":"/list?page=2"}', '["/list?page=2"]', 'true', '"a","next":"b"'])('is refused as %s', (next) => {
    const { message } = refusal({ records: '/data', next: '/next' }, `{"data":[],"next":${next}}`);
    expect(message).toMatch(/neither text nor a number|it has "next" twice/);
  });

  it.each([
    [{ by: 'next', url: '/links/next' }, { next: '/links/next' }],
    [{ by: 'next', cursor: '/cursor', parameter: 'c' }, { next: '/cursor' }],
    [{ by: 'next', link: true }, {}],
    [{ by: 'none' }, {}],
  ] as const)('is where the paging declares it: %j', (paging, next) => {
    const { reportedCount: _, ...pipeline } = voters;
    expect(shapeOf({ ...pipeline, paging })).toEqual({ format: 'json', records: '/data', ...next });
  });
});

describe('a body of lines', () => {
  it.each([
    ['a newline at the end', '{"id":1,"name":"A"}\n{"id":2,"name":"B"}\n', two],
    ['no newline at the end', '{"id":1,"name":"A"}\n{"id":2,"name":"B"}', two],
    ['CRLF and blank lines', '\n\n{"id":1,"name":"A"}\r\n \r\n\n{"id":2,"name":"B"}\r\n\n', two],
    ['spaces around', '  {"id":1,"name":"A"} \t\n\t{"id":2,"name":"B"}  \n', two],
    ['a byte order mark', '\uFEFF{"id":1,"name":"A"}\n{"id":2,"name":"B"}\n', two],
    ['blank lines only', '\r\n \n', []],
    ['lines that are not objects', '5\n[{"id":2}]\nnull\n{"id":2,"name":"B"}\n', [null, null, null, ['2', 'B']]],
  ])('is read with %s', (_what, body, records) => {
    expect(read({ format: 'ndjson' }, body).records).toEqual(records);
  });

  it.each(['{"id":1}{"id":2}\n', '{"id":2} {"id":3}\n', '5 {"id":2}\n', '{"id":1},\n{"id":2}\n'])(
    'is refused with two values on one line: %j',
    (body) => {
      expect(refusal({ format: 'ndjson' }, body).message).toContain('two values on one line');
    },
  );

  it.each(['{"id":2,"name":"', '{"id":2,', '{"id":2', '{"id":tru', '{"id"'])(
    'is refused at its last byte if the last line ends early: %s',
    (line) => {
      // By this offset the client knows that the response was truncated, and retries it.
      const body = `{"id":1,"name":"A"}\n${line}`;
      expect(refusal({ format: 'ndjson' }, body).offset).toBe(body.length);
    },
  );
});
