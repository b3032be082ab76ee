/** Names and texts are quoted exactly in SQL. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

holds(
  'a quoted text is returned by DuckDB as well-formed text, and a quoted name names its column',
  fc.asyncProperty(text, async (value) => {
    if (value.includes('\0')) return;
    const name = quoteIdentifier(`n${value}`);
    expect(await database.rows(`SELECT ${name} FROM (SELECT ${quoteText(value)} AS ${name})`)).toEqual([
      { [`n${value}`.toWellFormed()]: value.toWellFormed() },
    ]);
  }),
  { runs: 60 },
);

it('refuses NUL in a text and in a name', () => {
  for (const quote of [quoteText, quoteIdentifier]) expect(() => quote('a\0b')).toThrow(RangeError);
});
