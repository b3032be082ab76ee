/** Where a response may have its records, its count and its next page, as a pipeline declares it, and how lines are read. */

import { describe, expect, it } from 'vitest';
import { ScanError } from '../../../src/source/decode/json-text.ts';
import { createScanner, type DocumentShape, shapeOf } from '../../../src/source/decode/scan-response.ts';
import { FieldKind } from '../../../src/stages.ts';
import { voters } from '../../support/bundled.ts';

/** What a body holds by a shape: each record's `id` and `name`, as the JSON that stands there; null where a record is no object. */
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
    ['are the whole document, an array', '', list],
    ['are the whole document, between spaces', '', `\n ${list} \n`],
    ['are a member', '/data', `{"data":${list}}`],
    ['stand deep in it', '/a/b/c', `{"x":{"b":{"c":[]}},"a":{"c":1,"b":{"c":${list},"d":[]}}}`],
    ['stand under a name with a slash', '/a~1b', `{"a":{"b":[]},"a/b":${list}}`],
    ['stand under a name with a tilde', '/a~0b', `{"a~0b":[],"a~b":${list}}`],
    ['stand under a name that looks like an escape', '/~01', `{"/":[],"~1":${list}}`],
    ['stand under an empty name', '/', `{"x":[],"":${list}}`],
    ['stand under a name that the source escapes', '/data', `{"d\\u0061ta":${list}}`],
    ['are an object by key', '/data', '{"data":{"k1":{"id":1,"name":"A"},"k2":{"id":2,"name":"B"}}}'],
    ['are an object by key, the whole document', '', '{"k1":{"id":1,"name":"A"},"k2":{"id":2,"name":"B"}}'],
  ])('%s', (_what, records, body) => {
    expect(read({ records }, body).records).toEqual(two);
  });

  it.each([
    ['a member', '/data', '{"data":{"id":1,"name":"A"}}'],
    ['the whole document', '', '{"id":1,"name":"A"}'],
  ])('may be one record: %s', (_what, records, body) => {
    expect(read({ records }, body).records).toEqual([['1', 'A']]);
  });

  it.each([
    ['an empty array', '[]'],
    ['an empty object', '{}'],
    ['null', 'null'],
  ])('may be none: %s', (_what, data) => {
    expect(read({ records: '/data' }, `{"data":${data}}`).records).toEqual([]);
  });

  it('may be items that are no objects, each of which is counted', () => {
    expect(read({}, '[{"id":1,"name":"A"},5,"x",[{"id":1}],null]').records).toEqual([
      ['1', 'A'],
      null,
      null,
      null,
      null,
    ]);
  });

  it.each([
    ['the pointer leads nowhere', '/data', '{"items":[]}', '"data" is missing'],
    ['the pointer ends early', '/a/b', '{"a":{"c":[]}}', '"a/b" is missing'],
    ['the pointer leads through an array', '/a/0', '{"a":[[]]}', '"a/0" is missing'],
    ['the pointer leads through a text', '/a/b', '{"a":"b"}', '"a/b" is missing'],
    ['the document is an array where a member is declared', '/data', list, 'it is an array, not a JSON object'],
    ['they are a text', '/data', '{"data":"no records"}', '"data" is neither a record nor a list of records'],
    ['they are a number', '', '5', 'the response is neither a record nor a list of records'],
    ['they are an object without any known field', '/data', '{"data":{"message":"x"}}', 'without any known field'],
    ['they are a list one level further in', '', '{"items":[{"id":1}]}', 'without any known field'],
    ['they stand there twice', '/data', `{"data":${list},"data":[]}`, 'it has "data" twice'],
    ['they stand there twice, by way of two objects', '/a/b', `{"a":{"b":${list}},"a":{"b":[]}}`, 'it has "a/b" twice'],
    ['there is more behind them', '', `${list} []`, 'there is more text after the JSON value, at byte 42'],
    ['the body is empty', '', '', 'it ends early'],
  ])('are refused where %s', (_why, records, body, message) => {
    expect(refusal({ records }, body).message).toContain(message);
  });
});

describe('a field that is a JSON pointer', () => {
  it.each([
    ['reads a member of an inner object', '[{"who":{"login":"A","x":[1]},"id":1},{"id":2,"who":{"login":"B"}}]', two],
    ['reads through several objects', '[{"id":1,"who":{"login":{"a":"A"}}}]', [['1', '{"a":"A"}']]],
    [
      'is missing where the object is',
      '[{"id":1},{"id":2,"who":{}}]',
      [
        ['1', undefined],
        ['2', undefined],
      ],
    ],
    [
      'is missing where something else stands',
      '[{"id":1,"who":null},{"id":2,"who":[{"login":"A"}]}]',
      [
        ['1', undefined],
        ['2', undefined],
      ],
    ],
    ['is not read from a member of that name', '[{"id":1,"/who/login":"A","login":"B"}]', [['1', undefined]]],
    [
      'is everything from the first to the last where the object comes twice',
      '[{"id":1,"who":{"login":"A"},"who":{"login":"B"}}]',
      [['1', '"A"},"who":{"login":"B"']],
    ],
  ])('%s', (_what, body, records) => {
    expect(read({}, body, ['id', '/who/login']).records).toEqual(records);
  });

  it('may be declared beside others of the same object, in any order of members', () => {
    const body = '[{"a":{"y":2,"x":1},"b":3},{"b":6,"a":{"x":4,"y":5}}]';
    expect(read({}, body, ['b', '/a/x', '/a/y']).records).toEqual([
      ['3', '1', '2'],
      ['6', '4', '5'],
    ]);
  });
});

describe('the reported count', () => {
  it('is null where none is declared, whatever stands there', () => {
    expect(read({ records: '/data' }, `{"count":5,"data":${list}}`)).toMatchObject({ count: null, records: two });
  });

  it.each([
    ['beside the records', '/meta/total', `{"meta":{"total":7},"data":${list}}`],
    ['behind them, as a text', '/total', `{"data":${list},"total":"7"}`],
    ['in the same object as they', '/data/n', `{"data":{"n":7,"rows":${list}}}`],
  ])('is read where it stands: %s', (_what, reportedCount, body) => {
    const records = body.includes('rows') ? '/data/rows' : '/data';
    expect(read({ records, reportedCount }, body)).toMatchObject({ count: 7, records: two });
  });

  it.each([
    ['is missing', '{"data":[]}', '"meta/total" is missing'],
    ['is a fraction', '{"meta":{"total":1.5},"data":[]}', 'its "meta/total" is not a whole number'],
    ['is negative', '{"meta":{"total":-1},"data":[]}', 'its "meta/total" is not a whole number'],
    ['is null', '{"meta":{"total":null},"data":[]}', 'its "meta/total" is not a whole number'],
    ['says 2 where there is no list', '{"meta":{"total":2},"data":null}', 'is 2, but its "data" has no records'],
  ])('is refused where it %s', (_why, body, message) => {
    expect(refusal({ records: '/data', reportedCount: '/meta/total' }, body).message).toContain(message);
  });
});

describe('the next page', () => {
  const nextOf = (next: string): string | null =>
    read({ records: '/data', next: '/page/next' }, `{"data":[],"page":{${next}}}`).next;

  it.each([
    ['a text', '"next":"/list?page=2"', '/list?page=2'],
    ['a text with escapes', String.raw`"next":"\/list?q=\u00e9"`, '/list?q=é'],
    ['a number', '"next":42', '42'],
    ['a number that a float would round', '"next":9007199254740993', '9007199254740993'],
    ['the number 0', '"next":0', '0'],
    ['null', '"next":null', null],
    ['false', '"next":false', null],
    ['an empty text', '"next":""', null],
    ['absent', '"prev":"x"', null],
  ])('is read where it is %s', (_what, next, value) => {
    expect(nextOf(next)).toBe(value);
  });

  it.each([
    ['an object', '{"href":"/list?page=2"}'],
    ['an array', '["/list?page=2"]'],
    ['true', 'true'],
  ])('is refused where it is %s', (_what, next) => {
    const { message } = refusal({ records: '/data', next: '/next' }, `{"data":[],"next":${next}}`);
    expect(message).toBe('its "next" is neither text nor a number');
  });

  it('is no page where what it stands in is absent or null', () => {
    expect(read({ records: '/data', next: '/page/next' }, '{"data":[]}').next).toBeNull();
    expect(read({ records: '/data', next: '/page/next' }, '{"data":[],"page":null}').next).toBeNull();
  });

  it('is refused where it stands there twice', () => {
    const body = '{"next":"a","data":[],"next":"b"}';
    expect(refusal({ records: '/data', next: '/next' }, body).message).toBe('it has "next" twice');
  });
});

describe('the shape of a pipeline', () => {
  it.each([
    ['a URL', { by: 'next', url: '/links/next' }, { next: '/links/next' }],
    ['a cursor', { by: 'next', cursor: '/cursor', parameter: 'c' }, { next: '/cursor' }],
    ['a header', { by: 'next', link: true }, {}],
    ['none', { by: 'none' }, {}],
  ] as const)('names the next page as its paging does: %s', (_what, paging, next) => {
    const { reportedCount: _, ...pipeline } = voters;
    expect(shapeOf({ ...pipeline, paging })).toEqual({ format: 'json', records: '/data', ...next });
  });
});

describe('lines', () => {
  const lines = (body: string) => read({ format: 'ndjson' }, body).records;

  it.each([
    ['with a newline at the end', '{"id":1,"name":"A"}\n{"id":2,"name":"B"}\n'],
    ['without one', '{"id":1,"name":"A"}\n{"id":2,"name":"B"}'],
    ['with CRLF', '{"id":1,"name":"A"}\r\n{"id":2,"name":"B"}\r\n'],
    ['with blank lines', '\n\n{"id":1,"name":"A"}\n \r\n\n{"id":2,"name":"B"}\n\n'],
    ['with spaces around', '  {"id":1,"name":"A"} \t\n\t{"id":2,"name":"B"}  \n'],
    ['behind a byte order mark', '\uFEFF{"id":1,"name":"A"}\n{"id":2,"name":"B"}\n'],
  ])('are a record each: %s', (_what, body) => {
    expect(lines(body)).toEqual(two);
  });

  it.each(['', '\n', '\r\n \n'])('may be none: %j', (body) => {
    expect(lines(body)).toEqual([]);
  });

  it('that hold no object are records that are no objects', () => {
    expect(lines('{"id":1,"name":"A"}\n5\n[{"id":2}]\nnull\n{"id":2,"name":"B"}\n')).toEqual([
      ['1', 'A'],
      null,
      null,
      null,
      ['2', 'B'],
    ]);
  });

  it.each([
    ['side by side', '{"id":1}{"id":2}\n'],
    ['with a space between', '{"id":1}\n{"id":2} {"id":3}\n'],
    ['a record behind a number', '5 {"id":2}\n'],
    ['a comma behind a record', '{"id":1},\n{"id":2}\n'],
  ])('with two values on one are refused: %s', (_what, body) => {
    expect(refusal({ format: 'ndjson' }, body).message).toContain('there are two values on one line');
  });

  it.each([
    ['in a text', '{"id":1,"name":"A"}\n{"id":2,"name":"'],
    ['between members', '{"id":1,"name":"A"}\n{"id":2,'],
    ['in a number', '{"id":1,"name":"A"}\n{"id":2'],
    ['in a word', '{"id":1,"name":"A"}\n{"id":tru'],
    ['behind a name', '{"id":1,"name":"A"}\n{"id"'],
  ])('of which the last one ends early are refused at the end of the bytes: %s', (_where, body) => {
    // That is how the client knows that the response was cut off, and asks for it again.
    expect(refusal({ format: 'ndjson' }, body).offset).toBe(body.length);
  });
});
