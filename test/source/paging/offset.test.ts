/** One pass over pages with an offset: its pages join, and it ends on a positive sign. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../../src/errors.ts';
import { targetOf } from '../../../src/extract/pages.ts';
import type { FetchedPage } from '../../../src/source/response-reader.ts';
import { overlappingPages } from '../../../src/source/paging/offset.ts';
import { type PageAddress, PassTally } from '../../../src/source/paging/pass.ts';
import { emptyPage } from '../../../src/source/source-messages.ts';
import type { Page } from '../../../src/stages.ts';
import { askedOf } from '../../support/asked.ts';
import { voters } from '../../support/bundled.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';

const size = 10;
const pager = overlappingPages({ by: 'offset', limit: 'limit', offset: 'offset' });
const offsetOf = ({ request }: Pick<Page, 'request'>): number => askedOf(request).offset;

/** Reads a source that gives names for an offset and the how-manieth time it is asked for it; null is "not found". */
async function read(give: (offset: number, turn: number) => readonly string[] | null) {
  const asked: number[] = [];
  const taken: string[] = [];
  const names = new Map<number, readonly string[]>();
  async function fetch(address: PageAddress): Promise<FetchedPage> {
    const request = { dataset: 'voters', partition: '1', target: targetOf(voters, '1', address) };
    expect(askedOf(request).limit).toBe(size);
    const offset = offsetOf({ request });
    const turn = asked.filter((before) => before === offset).length;
    asked.push(offset);
    const given = give(offset, turn);
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
    const landed = { response: asked.length - 1, read: async () => page.bytes };
    return { page: { ...page, request, url }, at: new Date(asked.length), landed, refusal, link: null };
  }
  const tally = new PassTally(100);
  const pages = pager.pass({
    fetch,
    fetchFirst: async (address) => ({ ...(await fetch(address(size))), size }),
    hashOf: (page, row) => names.get(offsetOf(page))![row]!,
  });
  for await (const page of pages) {
    tally.add(page);
    taken.push(...names.get(offsetOf(page.fetched.page))!.slice(page.first));
  }
  return { ...tally.end(), asked: asked.toSorted((a, b) => a - b), taken: taken.join('') };
}

/** A source of these names that gives so many at once. */
const of = (names: string, cap: number) => (offset: number) => Array.from(names).slice(offset, offset + cap);

describe('a pass', () => {
  it('asks for each page from the last record of the page before, and takes every record once', async () => {
    expect(await read(of('abcdefg', 3))).toMatchObject({ taken: 'abcdefg', total: 7, pages: 3 });
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
