/** One pass over pages with an offset: its pages overlap by one record, and it ends only at a confirmed end. */

import { describe, expect, it } from 'vitest';
import { type Give, type ListSettings, readList } from '../../support/named-lists.ts';

type Answer = (offset: number, turn: number) => string | null;

/** Reads a source of these names by offset and by how often the same was requested before; null is "not found". */
async function read(answer: Answer, settings: ListSettings = { maxRecords: 100 }) {
  const give: Give = (query, turn) => {
    const names = answer(Number(query.get('offset')), turn);
    return names === null ? 404 : { names: Array.from(names) };
  };
  const end = await readList({ by: 'offset', limit: 'limit', offset: 'offset' }, give, settings);
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

  /** 250 names on 28 pages, each of which begins with the last name of the one before. */
  const many = Array.from({ length: 250 }, (_, at) => String.fromCodePoint(200 + at)).join('');
  const behind = (offsets: readonly number[]) => offsets.filter((offset) => offset > many.length).length;

  it('requests several pages of a long list at a time, and at most one behind its end', async () => {
    const { taken, rounds, offsets } = await read(sourceOf(many), { lookahead: { pages: 8, total: null } });
    expect(taken).toBe(many);
    expect(rounds).toBeLessThan(15);
    expect(behind(offsets)).toBeLessThanOrEqual(1);
    expect(offsets.length).toBe(new Set(offsets).size);
  });

  it('requests nothing behind the end of a list whose length is known', async () => {
    const { taken, rounds, offsets } = await read(sourceOf(many), { lookahead: { pages: 8, total: many.length } });
    expect(taken).toBe(many);
    expect(rounds).toBeLessThan(8);
    expect(behind(offsets)).toBe(0);
  });

  it('reads a list whose pages are not where they were expected', async () => {
    const uneven: Answer = (offset) => sourceOf(many, offset % 2 === 0 ? 10 : 7)(offset);
    for (const total of [null, 90, 1000])
      expect(await read(uneven, { lookahead: { pages: 8, total } })).toMatchObject({ taken: many });
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
