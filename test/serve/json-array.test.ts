/** Splitting a JSON array keeps every item as it was written. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitJsonArray } from '../../src/serve/json-array.ts';
import { holds } from '../support/properties.ts';

holds(
  'gives as many items as JSON.parse, and the same ones',
  fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t', '\r\n '), (items, indent) => {
    const texts = splitJsonArray(JSON.stringify(items, null, indent));
    expect(texts).toEqual(JSON.parse(JSON.stringify(items)).map((item: unknown) => JSON.stringify(item)));
  }),
  { runs: 300 },
);

it.each([
  ['[]', []],
  [' [ ] ', []],
  ['[12345678901234567890, 1.0, -0, 1E3]', ['12345678901234567890', '1.0', '-0', '1E3']],
  ['[ {"a" : 1, "a" : 2} ]', ['{"a":1,"a":2}']],
  [String.raw`["\\", "\"],[", "\u00e9 , ]"]`, [String.raw`"\\"`, String.raw`"\"],["`, String.raw`"\u00e9 , ]"`]],
  ['[[1, 2], [], {}, null, true]', ['[1,2]', '[]', '{}', 'null', 'true']],
  ['\n[{"10": [ {} ]}]\n', ['{"10":[{}]}']],
])('%j', (text, items) => {
  expect(splitJsonArray(text)).toEqual(items);
});

it('takes a string of megabytes', () => {
  const long = JSON.stringify('a"\\'.repeat(3_000_000));
  expect(splitJsonArray(`[${long}]`)).toEqual([long]);
});
