/** One pass over pages with numbers: a cap shows behind it, pages are equally long, and a repeated page is not taken twice. */

import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/project/declaration.ts';
import { type Give, proveList, readList } from '../../support/named-lists.ts';

const sized: Paging = { by: 'page', page: 'page', size: 'size' };
const unsized: Paging = { by: 'page', page: 'page' };

/** The names of a page, by its number from 0 and its size. */
function slice(names: string, number: number, size: number) {
  return { names: Array.from(names).slice(number * size, (number + 1) * size) };
}

/** A source of these names that gives at most `cap` at a time, and counts its pages by what it gives. */
function of(names: string, cap = 100): Give {
  return (query) => slice(names, Number(query.get('page')) - 1, Math.min(cap, Number(query.get('size') ?? cap)));
}

/** A source of these pages, whatever size is asked for. */
function pagesOf(...pages: readonly string[]): Give {
  return (query) => ({ names: Array.from(pages[Number(query.get('page')) - 1] ?? '') });
}

describe('a pass', () => {
  it('asks for one page after another up to an empty one, and takes every record once', async () => {
    const end = await readList(sized, of('abcdefg'), { pageSize: 3 });
    expect(end).toMatchObject({ taken: 'abcdefg', total: 7, pages: 3, longest: 3, startedOver: 0 });
    expect(end.asked).toEqual([1, 2, 3, 4].map((page) => `/list?size=3&page=${page}`));
  });

  it('asks for page 1 alone where that is empty', async () => {
    const end = await readList(sized, of(''));
    expect(end).toMatchObject({ taken: '', total: 0, pages: 0, asked: ['/list?size=10&page=1'] });
  });

  it('begins with page 0 where that is the first', async () => {
    const end = await readList({ ...sized, first: 0 }, (query) => slice('abcdefg', Number(query.get('page')), 3), {
      pageSize: 3,
    });
    expect(end.taken).toBe('abcdefg');
    expect(end.asked).toEqual([0, 1, 2, 3].map((page) => `/list?size=3&page=${page}`));
  });

  it('goes by the size of the first page where there is no parameter for it', async () => {
    const end = await readList(unsized, of('abcdefg', 3));
    expect(end).toMatchObject({ taken: 'abcdefg', startedOver: 0 });
    expect(end.asked).toEqual([1, 2, 3, 4].map((page) => `/list?page=${page}`));
  });

  it.each([404, 400])('takes the status %i behind the end for an empty page', async (status) => {
    const give: Give = (query, turn) => (query.get('page') === '3' ? status : of('abcdef')(query, turn));
    expect(await readList(sized, give, { pageSize: 3 })).toMatchObject({ taken: 'abcdef', total: 6, refusal: null });
  });

  it('says what the source said where page 1 is "not found"', async () => {
    expect(await readList(sized, () => 404)).toMatchObject({ total: 0, refusal: { status: 404 } });
  });
});

describe('a short first page', () => {
  it('is the last one where nothing follows', async () => {
    const end = await readList(sized, of('abc'));
    expect(end).toMatchObject({ taken: 'abc', startedOver: 0 });
    expect(end.asked).toEqual(['/list?size=10&page=1', '/list?size=10&page=2']);
  });

  it('that is followed by another one starts the pass over, with the size received', async () => {
    const end = await readList(sized, of('abcdefg', 3));
    expect(end).toMatchObject({ taken: 'abcdefg', total: 7, startedOver: 1 });
    const before = ['/list?size=10&page=1', '/list?size=10&page=2'];
    expect(end.asked).toEqual([...before, ...[1, 2, 3, 4].map((page) => `/list?size=3&page=${page}`)]);
  });

  it('finds the records that a source leaves out which counts by the size asked for', async () => {
    // Page 2 of 10 begins at the eleventh record, although page 1 held three.
    const skipping: Give = (query) => {
      const [number, size] = [Number(query.get('page')) - 1, Number(query.get('size'))];
      return { names: Array.from('abcdefghijklm').slice(number * size, number * size + Math.min(size, 3)) };
    };
    expect(await readList(sized, skipping)).toMatchObject({ taken: 'abcdefghijklm', startedOver: 1 });
  });
});

describe('pages of different lengths', () => {
  it.each([
    [
      'a shorter one in the middle',
      ['abc', 'de', 'fgh'],
      'page=2 returns 2 records, although the first page has 3 and',
    ],
    ['a longer one in the middle', ['abc', 'defg', 'hij'], 'page=2 returns 4 records, although the first page has 3.'],
    ['a longer one at the end', ['abc', 'def', 'ghij'], 'page=3 returns 4 records, although the first page has 3.'],
  ])('are refused: %s', async (_what, pages, message) => {
    await expect(readList(sized, pagesOf(...pages), { pageSize: 3 })).rejects.toMatchObject({
      code: 'broken-reading',
      message: expect.stringContaining(message),
    });
  });

  it('are refused without a parameter of the size too', async () => {
    await expect(readList(unsized, pagesOf('abc', 'de', 'fgh'))).rejects.toMatchObject({ code: 'broken-reading' });
  });
});

describe('a page that came before', () => {
  it('is asked for again, and passed over where the right one comes then', async () => {
    const slipping: Give = (query, turn) =>
      query.get('page') === '2' && turn < 3 ? { names: ['a', 'b', 'c'] } : of('abcdefg')(query, turn);
    const end = await readList(sized, slipping, { pageSize: 3 });
    expect(end).toMatchObject({ taken: 'abcdefg', total: 7 });
    expect(end.asked.filter((target) => target.endsWith('page=2'))).toHaveLength(4);
  });

  it('is refused where it comes four times, with the parameter that seems to be ignored', async () => {
    const asked: string[] = [];
    await expect(readList(sized, () => ({ names: ['a', 'b', 'c'] }), { pageSize: 3, asked })).rejects.toMatchObject({
      code: 'broken-reading',
      message: expect.stringContaining('page=2 returns the records of an earlier page again'),
      next: expect.stringContaining('"page"'),
    });
    expect(asked).toHaveLength(5);
  });
});

it('a list that does not end is refused', async () => {
  const endless: Give = (query) => ({ names: [0, 1, 2].map((place) => `${query.get('page')}.${place}`) });
  await expect(readList(sized, endless, { pageSize: 3, maxRecords: 20 })).rejects.toMatchObject({
    code: 'unprovable-source',
  });
});

describe('the proof', () => {
  it('is by pages of two sizes where the source has a parameter for it', async () => {
    const { verdicts, taken, asked } = await proveList(sized, of('abcdefg'), { pageSize: 4 });
    expect(verdicts).toMatchObject([{ complete: true, grade: 'repaged', received: 7, readings: 2 }]);
    expect(taken).toBe('abcdefg');
    expect(asked).toContain('/list?size=3&page=1');
  });

  it('shows what a list of one capped page hides', async () => {
    // Behind page 1 of its own size, this source shows nothing.
    const hiding: Give = (query) => {
      const size = Number(query.get('size'));
      return size > 3 ? slice('abc', Number(query.get('page')) - 1, 3) : of('abcdefg')(query, 0);
    };
    const { verdicts, taken } = await proveList(sized, hiding);
    expect(verdicts).toMatchObject([{ complete: true, grade: 'repaged', received: 7 }]);
    expect(taken).toBe('abcdefg');
  });

  it.each([
    ['has no parameter for the size', unsized],
    ['ignores it', sized],
  ])('is by repetition where the source %s', async (_why, paging) => {
    const { verdicts, taken } = await proveList(paging, pagesOf('abc', 'def', 'g'), { pageSize: 3 });
    expect(verdicts).toMatchObject([{ complete: true, grade: 'repeated', received: 7 }]);
    expect(taken).toBe('abcdefg');
  });
});
