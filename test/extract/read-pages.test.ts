/** One reading: its pages join, and it ends on a positive sign. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import { RekapError } from '../../src/errors.ts';
import { emptyPage } from '../../src/extract/ask/source-messages.ts';
import { readPages } from '../../src/extract/read-pages.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

/** Reads a source that gives names for an offset and the how-manieth time it is asked for it; null is "not found". */
async function read(give: (offset: number, turn: number) => readonly string[] | null, settings = {}) {
  const asked: number[] = [];
  const taken: string[] = [];
  const names = new Map<number, readonly string[]>();
  const end = await readPages({
    leavesEndOpen: false,
    maxRecords: 100,
    isAll: () => false,
    async fetch(offset) {
      const turn = asked.filter((before) => before === offset).length;
      asked.push(offset);
      const given = give(offset, turn);
      const request = { dataset: 'voters', district: 1, offset, limit: 10 };
      const url = `page ${offset}`;
      const page =
        given === null
          ? emptyPage(request, url)
          : pageOf(
              voters,
              given.map((name) => voterRecord({ NamaKabupaten: name })),
            );
      names.set(offset, given ?? []);
      const refusal = given === null ? new RekapError('source-status', 'not found', '', { status: 404 }) : null;
      const landed = { answer: asked.length - 1, read: async () => page.bytes };
      return { page: { ...page, request, url }, at: new Date(asked.length), landed, refusal };
    },
    take: ({ page }, first) => taken.push(...names.get(page.request.offset)!.slice(first)),
    contentOf: (page, row) => names.get(page.request.offset)![row]!,
    ...settings,
  });
  return { ...end, asked: asked.toSorted((a, b) => a - b), taken: taken.join('') };
}

/** A source of these names that gives so many at once. */
const of = (names: string, cap: number) => (offset: number) => Array.from(names).slice(offset, offset + cap);

describe('a reading', () => {
  it('asks for each page from the last record of the page before, and takes every record once', async () => {
    expect(await read(of('abcdefg', 3))).toMatchObject({ taken: 'abcdefg', total: 7, pages: 3, proof: 'own end' });
  });

  it('asks for the end twice: for the last record alone, and for what is behind it', async () => {
    expect((await read(of('abc', 10))).asked).toEqual([0, 2, 3]);
  });

  it('asks three times where there is one record, and twice where there is none', async () => {
    expect((await read(of('a', 10))).asked).toEqual([0, 1, 1]);
    expect((await read(of('', 10))).asked).toEqual([0, 0]);
  });

  it('takes "not found" behind the end for an empty page', async () => {
    expect(await read((offset) => (offset >= 3 ? null : of('abc', 10)(offset)))).toMatchObject({ taken: 'abc' });
  });

  it('stops after its first page where the full listing says that this is all', async () => {
    const end = await read(of('abc', 10), { isAll: (length: number) => length === 3 });
    expect(end).toMatchObject({ asked: [0], proof: 'full listing' });
  });

  it.each<[string, Parameters<typeof read>[0]]>([
    ['"offset" is ignored', () => ['a', 'b', 'c']],
    ['"offset" counts pages', (offset) => of('abcdefghijklmnopqrstuvwxyz', 3)(offset * 3)],
    ['a page begins one record late', (offset) => of('abcdefg', 3)(offset === 2 ? 3 : offset)],
    ['the order changes', (offset) => of(offset === 0 ? 'abcdefg' : 'gfedcba', 3)(offset)],
    ['it is empty in the midst', (offset) => (offset === 0 ? ['a', 'b', 'c'] : [])],
    ['it is "not found" in the midst', (offset) => (offset === 0 ? ['a', 'b', 'c'] : null)],
    ['more lies behind the last record', (offset) => (offset === 2 ? ['c'] : of('abcdefg', 3)(offset))],
    ['one record was all, and then is not', (offset, turn) => (offset === 0 ? ['a'] : turn === 0 ? [] : ['b', 'c'])],
    ['nothing was there, and then something is', (_offset, turn) => (turn === 0 ? [] : ['a', 'b'])],
  ])('is void where %s', async (_why, give) => {
    await expect(read(give)).rejects.toMatchObject({ code: 'broken-reading' });
  });

  it.each<[string, Parameters<typeof read>[0]]>([
    ['gives one record at a time', of('abc', 1)],
    ['never ends', (offset) => [`${offset}`, `${offset + 1}`, `${offset + 2}`]],
  ])('refuses a source that %s', async (_what, give) => {
    await expect(read(give)).rejects.toMatchObject({ code: 'unprovable-source' });
  });
});
