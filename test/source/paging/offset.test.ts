/** One pass over pages with an offset: its pages overlap by one record, and it ends only at a confirmed end. */

import { describe, expect, it } from 'vitest';
import { type Give, readList } from '../../support/named-lists.ts';

type Answer = (offset: number, turn: number) => string | null;

/** Reads a source of these names by offset and by how often the same was requested before; null is "not found". */
async function read(answer: Answer) {
  const give: Give = (query, turn) => {
    const names = answer(Number(query.get('offset')), turn);
    return names === null ? 404 : { names: Array.from(names) };
  };
  const end = await readList({ by: 'offset', limit: 'limit', offset: 'offset' }, give, { maxRecords: 100 });
  return {
    ...end,
    offsets: end.requested.map((target) => Number(target.split('offset=')[1])).toSorted((a, b) => a - b),
  };
}

/** A source of these names that returns at most `cap` at once. */
const sourceOf =
  (names: string, cap = 10) =>
  (offset: number) =>
    names.slice(offset, offset + cap);

describe('a pass', () => {
  it.each<[string, Answer, string, number[]]>([
    ['each page from the last record of the previous one', sourceOf('abcdefg', 3), 'abcdefg', [0, 2, 3, 4, 6, 7]],
    ['the last record alone, and what is after it', sourceOf('abc'), 'abc', [0, 2, 3]],
    ['a single record three times', sourceOf('a'), 'a', [0, 1, 1]],
    ['an empty list twice', sourceOf(''), '', [0, 0]],
    ['"not found" past the end as an empty page', (offset) => sourceOf('abc')(offset) || null, 'abc', [0, 2, 3]],
  ])('reads %s', async (_what, answer, taken, offsets) => {
    expect(await read(answer)).toMatchObject({ taken, total: taken.length, offsets });
  });

  it.each<[string, Answer]>([
    ['"offset" is ignored', () => 'abc'],
    ['"offset" counts pages', (offset) => sourceOf('abcdefghijklmnopqrstuvwxyz', 3)(offset * 3)],
    ['a page begins one record late', (offset) => sourceOf('abcdefg', 3)(offset === 2 ? 3 : offset)],
    ['the order changes', (offset) => sourceOf(offset === 0 ? 'abcdefg' : 'gfedcba', 3)(offset)],
    ['a page in the middle is empty', (offset) => (offset === 0 ? 'abc' : '')],
    ['a page in the middle is not found', (offset) => (offset === 0 ? 'abc' : null)],
    ['records follow the last one', (offset) => (offset === 2 ? 'c' : sourceOf('abcdefg', 3)(offset))],
    ['a single record is followed by others later', (offset, turn) => (offset === 0 ? 'a' : turn === 0 ? '' : 'bc')],
    ['an empty list has records later', (_offset, turn) => (turn === 0 ? '' : 'ab')],
  ])('is refused if %s', async (_why, answer) => {
    await expect(read(answer)).rejects.toMatchObject({ code: 'broken-reading' });
  });

  it.each<[string, Answer]>([
    ['returns one record at a time', sourceOf('abc', 1)],
    ['never ends', (offset) => String.fromCodePoint(offset + 500, offset + 501, offset + 502)],
  ])('refuses a source that %s', async (_what, answer) => {
    await expect(read(answer)).rejects.toMatchObject({ code: 'unprovable-source' });
  });
});
