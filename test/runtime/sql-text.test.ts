/** Names and texts are quoted exactly in SQL. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, quoteIdentifier, quoteText } from '../../src/runtime/database.ts';
import { holds } from '../support/properties.ts';

let database: Database;

beforeAll(async () => {
  database = await openDatabase(':memory:');
});
afterAll(() => database.close());

/** Any text, with many characters that have a meaning in SQL, and halves of surrogate pairs. */
const text = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom("'", '"', '\\', '$$', '--', '/*', ';', '\n', '\r', '\u00a0', '\u200b', '\u202e', '\ufeff'),
    { weight: 1, arbitrary: fc.constantFrom('\0', '\ud800', '\udfff') },
  ),
});

describe('a quoted text', () => {
  holds(
    'is returned by DuckDB as well-formed text, or refused if it contains NUL',
    fc.asyncProperty(text, async (value) => {
      if (value.includes('\0')) expect(() => quoteText(value)).toThrow(RangeError);
      else
        expect(await database.rows(`SELECT ${quoteText(value)} AS value`)).toEqual([{ value: value.toWellFormed() }]);
    }),
    { runs: 60 },
  );
});

describe('a quoted name', () => {
  holds(
    'names its column, or is refused if it contains NUL',
    fc.asyncProperty(text, async (rest) => {
      const name = `n${rest}`;
      if (name.includes('\0')) expect(() => quoteIdentifier(name)).toThrow(RangeError);
      else
        expect(
          await database.rows(`SELECT ${quoteIdentifier(name)} FROM (SELECT 1 AS ${quoteIdentifier(name)})`),
        ).toEqual([{ [name.toWellFormed()]: 1 }]);
    }),
    { runs: 60 },
  );
});

it('refuses NUL in a text and in a name', () => {
  for (const quote of [quoteText, quoteIdentifier]) expect(() => quote('a\0b')).toThrow(RangeError);
});
