/** Names and texts stay what they are on their way through SQL. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase, type Database } from '../src/database.ts';
import { quoteIdentifier, quoteText } from '../src/sql-text.ts';

let database: Database;

beforeAll(async () => {
  database = await openDatabase(':memory:');
});
afterAll(() => database.close());

/** Any text without NUL: every character, and more often those that mean something in SQL. */
const text = fc
  .string({
    unit: fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      fc.constantFrom("'", '"', '\\', '$$', '--', '/*', ';', '\n', '\u00a0', '\u200b', '\u202e'),
    ),
  })
  .filter((value) => !value.includes('\0'));

describe('a quoted text', () => {
  it('comes back from DuckDB as it was', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (value) => {
        expect(await database.rows(`SELECT ${quoteText(value)} AS value`)).toEqual([{ value }]);
      }),
    );
  });

  it.each(['\0', 'a\0b', "'\0"])('is refused where it holds NUL', (value) => {
    expect(() => quoteText(value)).toThrow(RangeError);
  });
});

describe('a quoted name', () => {
  it('names what it says', async () => {
    await fc.assert(
      fc.asyncProperty(text, async (rest) => {
        const name = `n${rest}`;
        expect(
          await database.rows(`SELECT ${quoteIdentifier(name)} FROM (SELECT 1 AS ${quoteIdentifier(name)})`),
        ).toEqual([{ [name]: 1 }]);
      }),
    );
  });

  it('is refused where it holds NUL', () => {
    expect(() => quoteIdentifier('a\0b')).toThrow(RangeError);
  });
});
