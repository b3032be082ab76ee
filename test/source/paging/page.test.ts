/** One pass over numbered pages: it detects a cap, requires pages of one length, and reads every record once. */

import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/project/declaration.ts';
import { type Give, proveList, readList } from '../../support/named-lists.ts';

const sized: Paging = { by: 'page', page: 'page', size: 'size' };
const unsized: Paging = { by: 'page', page: 'page' };

/** The names of a page, by its number from 0 and its size. */
function slice(names: string, number: number, size: number) {
  return { names: Array.from(names).slice(number * size, (number + 1) * size) };
}

/** A source of these names that returns at most `cap` at a time, and numbers its pages accordingly. */
function sourceOf(names: string, cap = 100): Give {
  return (query) => slice(names, Number(query.get('page')) - 1, Math.min(cap, Number(query.get('size') ?? cap)));
}

/** A source of these pages, whatever size is requested. */
function pagesOf(...pages: readonly string[]): Give {
  return (query) => ({ names: Array.from(pages[Number(query.get('page')) - 1] ?? '') });
}

/** A source that numbers its pages from 0. */
const fromZero: Give = (query) => slice('abcdefg', Number(query.get('page')), 3);

const targets = (size: number | null, ...pages: readonly number[]): string[] =>
  pages.map((page) => `/list?${size === null ? '' : `size=${size}&`}page=${page}`);

describe('a pass', () => {
  it.each<[string, Paging, Give, number, string, string[]]>([
    ['up to an empty page', sized, sourceOf('abcdefg'), 3, 'abcdefg', targets(3, 1, 0, 2, 3, 4)],
    ['if page 1 is empty', sized, sourceOf(''), 10, '', targets(10, 1, 0)],
    ['if page 1 is short and page 2 empty', sized, sourceOf('abc'), 10, 'abc', targets(10, 1, 0, 2)],
    ['from page 0 if that is declared', { ...sized, first: 0 }, fromZero, 3, 'abcdefg', targets(3, 0, 1, 2, 3)],
    ['without a size parameter', unsized, sourceOf('abcdefg', 3), 3, 'abcdefg', targets(null, 1, 0, 2, 3, 4)],
    [
      'again with the received size if a page follows a short page 1',
      sized,
      sourceOf('abcdefg', 3),
      10,
      'abcdefg',
      [...targets(10, 1, 0, 2), ...targets(3, 1, 0, 2, 3, 4)],
    ],
  ])('reads %s', async (_what, paging, give, pageSize, taken, requested) => {
    expect(await readList(paging, give, { pageSize })).toMatchObject({ taken, total: taken.length, requested });
  });

  const endingWith =
    (status: number): Give =>
    (query, turn) =>
      query.get('page') === '3' ? status : sourceOf('abcdef')(query, turn);

  it('reads the status 404 past the end as an empty page', async () => {
    const end = { taken: 'abcdef', total: 6, refusal: null, end: 'status' };
    expect(await readList(sized, endingWith(404), { pageSize: 3 })).toMatchObject(end);
  });

  it.each([400, 403, 422, 426])('does not take the status %i for the end', async (status) => {
    const refused = { code: 'source-status', status, next: expect.stringContaining('hasMore') };
    await expect(readList(sized, endingWith(status), { pageSize: 3 })).rejects.toMatchObject(refused);
  });

  it.each([sized, unsized])('is refused if page 0 has other records: %j', async (paging) => {
    const refused = { code: 'unprovable-source', next: expect.stringContaining('first: 0') };
    await expect(readList(paging, fromZero, { pageSize: 3 })).rejects.toMatchObject(refused);
  });

  it('returns the refusal if page 1 is not found', async () => {
    expect(await readList(sized, () => 404)).toMatchObject({ total: 0, refusal: { status: 404 } });
  });

  it('finds the records that a source skips if it caps pages but counts by the requested size', async () => {
    // Page 2 of 10 begins at the eleventh record, although page 1 has three.
    const skipping: Give = (query) => {
      const [number, size] = [Number(query.get('page')) - 1, Number(query.get('size'))];
      return { names: Array.from('abcdefghijklm').slice(number * size, number * size + Math.min(size, 3)) };
    };
    expect(await readList(sized, skipping)).toMatchObject({ taken: 'abcdefghijklm', startedOver: 1 });
  });

  it.each<[string, Paging, string[]]>([
    ['a shorter page in the middle', sized, ['abc', 'de', 'fgh']],
    ['a shorter page in the middle, without a size', unsized, ['abc', 'de', 'fgh']],
    ['a longer page in the middle', sized, ['abc', 'defg', 'hij']],
    ['a longer page at the end', sized, ['abc', 'def', 'ghij']],
  ])('refuses %s', async (_what, paging, pages) => {
    const reading = readList(paging, pagesOf(...pages), { pageSize: 3 });
    await expect(reading).rejects.toMatchObject({ code: 'broken-reading', message: expect.stringContaining('page=') });
  });

  it('requests a repeated page again, and reads the right one if it comes', async () => {
    const slipping: Give = (query, turn) =>
      query.get('page') === '2' && turn < 3 ? { names: ['a', 'b', 'c'] } : sourceOf('abcdefg')(query, turn);
    const end = await readList(sized, slipping, { pageSize: 3 });
    expect(end).toMatchObject({ taken: 'abcdefg', total: 7 });
    expect(end.requested.filter((target) => target.endsWith('page=2'))).toHaveLength(4);
  });

  it('refuses a page that repeats four times, and names the parameter that seems to be ignored', async () => {
    const requested: string[] = [];
    await expect(readList(sized, () => ({ names: ['a', 'b', 'c'] }), { pageSize: 3, requested })).rejects.toMatchObject(
      {
        code: 'broken-reading',
        next: expect.stringContaining('"page"'),
      },
    );
    expect(requested).toHaveLength(6);
  });

  it('refuses an endless list', async () => {
    const endless: Give = (query) => ({ names: [0, 1, 2].map((place) => `${query.get('page')}.${place}`) });
    await expect(readList(sized, endless, { pageSize: 3, maxRecords: 20 })).rejects.toMatchObject({
      code: 'unprovable-source',
    });
  });
});

describe('the proof', () => {
  // This source uses its own page size, and returns nothing after page 1.
  const hiding: Give = (query) =>
    Number(query.get('size')) > 3 ? slice('abc', Number(query.get('page')) - 1, 3) : sourceOf('abcdefg')(query, 0);

  it.each<[string, Paging, Give, number, 'repaged' | 'repeated']>([
    ['pages of two sizes', sized, sourceOf('abcdefg'), 4, 'repaged'],
    ['pages of two sizes, which find what one capped page hides', sized, hiding, 10, 'repaged'],
    ['repetition without a size parameter', unsized, pagesOf('abc', 'def', 'g'), 3, 'repeated'],
    ['repetition if the source ignores the size', sized, pagesOf('abc', 'def', 'g'), 3, 'repeated'],
  ])('is by %s', async (_what, paging, give, pageSize, grade) => {
    const { verdicts, taken, requested } = await proveList(paging, give, { pageSize });
    expect(verdicts).toMatchObject([{ complete: true, grade, received: 7 }]);
    expect(taken).toBe('abcdefg');
    expect(requested.some((target) => target.includes('size=3'))).toBe(paging === sized);
  });
});
