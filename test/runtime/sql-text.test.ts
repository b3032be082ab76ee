/** Names and texts stay what they are on their way through SQL. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, quoteIdentifier, quoteText } from '../../src/runtime/database.ts';
import { holds } from '../support/properties.ts';

let database: Database;

beforeAll(async () => {
  database = await openDatabase(':memory:');
});
afterAll(() => database.close());

/** Any text: every character, halves of surrogate pairs too, and more often those that mean something in SQL. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom("'", '"', '\\', '$$', '--', '/*', ';', '\n', '\r', '\u00a0', '\u200b', '\u202e', '\ufeff'),
    { weight: 1, arbitrary: fc.constantFrom('\0', '\ud800', '\udfff') },
  ),
});

describe('a quoted text', () => {
  holds(
    'comes back from DuckDB as it was, as far as UTF-8 can hold it, or is refused for its NUL',
    fc.asyncProperty(text, async (value) => {
      if (value.includes('\0')) expect(() => quoteText(value)).toThrow(RangeError);
      // Read behind another character: at the beginning of a text, DuckDB's client takes U+FEFF for a mark of the encoding.
      else
        expect(await database.rows(`SELECT 'x' || ${quoteText(value)} AS value`)).toEqual([
          { value: `x${value.toWellFormed()}` },
        ]);
    }),
    { runs: 300 },
  );

  it.each(['\0', 'a\0b', "'\0"])('is refused where it holds NUL', (value) => {
    expect(() => quoteText(value)).toThrow(RangeError);
  });
});

describe('a quoted name', () => {
  holds(
    'names what it says, or is refused for its NUL',
    fc.asyncProperty(text, async (rest) => {
      const name = `n${rest}`;
      if (name.includes('\0')) expect(() => quoteIdentifier(name)).toThrow(RangeError);
      else
        expect(
          await database.rows(`SELECT ${quoteIdentifier(name)} FROM (SELECT 1 AS ${quoteIdentifier(name)})`),
        ).toEqual([{ [name.toWellFormed()]: 1 }]);
    }),
    { runs: 300 },
  );

  it('is refused where it holds NUL', () => {
    expect(() => quoteIdentifier('a\0b')).toThrow(RangeError);
  });
});
