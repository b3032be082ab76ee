/** A list that its own responses contradict is refused: by a total, by a flag, or by page 0. */

import { describe, expect, it } from 'vitest';
import type { Paging } from '../../src/project/declaration.ts';
import { type Give, type GivenPage, type ListSettings, proveList } from '../support/named-lists.ts';

const byPage: Paging = { by: 'page', page: 'page' };
const byNext: Paging = { by: 'next', cursor: '/next', parameter: 'cursor' };

/** Pages of three names, with these members beside them. */
const paged =
  (names: string, others: Readonly<Record<string, unknown>> = {}): Give =>
  (query) => {
    const start = (Number(query.get('page') ?? 1) - 1) * 3;
    return { names: Array.from(names).slice(Math.max(0, start), start + 3), others };
  };
const chained =
  (names: string, others: (start: number) => Readonly<Record<string, unknown>> = () => ({})): Give =>
  (query) => {
    const start = Number(query.get('cursor') ?? 0);
    const next = start + 3 < names.length ? start + 3 : null;
    return { names: Array.from(names).slice(start, start + 3), next, others: others(start) };
  };

/** The names that were taken, or why the list is refused. */
async function outcomeOf(paging: Paging, give: Give, settings: ListSettings = {}): Promise<string> {
  const { verdicts, taken } = await proveList(paging, give, settings);
  return verdicts.find(({ complete }) => !complete)?.reason ?? taken;
}

const reportedCount = '/total';

describe('a total', () => {
  it.each<[string, Paging, Give, RegExp]>([
    ['that is larger', byPage, paged('abcdefg', { total: 9 }), /reports 9 records, but only 7/],
    ['that is smaller', byNext, chained('abcdefg', () => ({ total: 5 })), /reports 5 records, but 7 were/],
    ['that changes between pages', byNext, chained('abcdefg', (start) => ({ total: start < 3 ? 5 : 7 })), /reports 5/],
  ])('%s is refused', async (_what, paging, give, reason) => {
    expect(await outcomeOf(paging, give, { reportedCount })).toMatch(reason);
  });

  it.each<[string, Paging, Give]>([
    ['only on the first page', byNext, chained('abcdefg', (start) => (start === 0 ? { total: 7 } : {}))],
    [
      'of each page',
      byPage,
      (query, turn) => ({ ...(paged('abcdefg')(query, turn) as GivenPage), others: { total: 3 } }),
    ],
  ])('is accepted if it is %s', async (_what, paging, give) => {
    expect(await outcomeOf(paging, give, { reportedCount })).toBe('abcdefg');
  });

  it('that is only a lower bound is no sign of the end', async () => {
    const capped: Give = (query, turn) =>
      Number(query.get('page')) > 2 ? 400 : paged('abcdefghi', { hits: { value: 6, relation: 'gte' } })(query, turn);
    expect(await outcomeOf(byPage, capped, { reportedCount: '/hits/value' })).toMatch('refused with 400');
    const exact: Give = (query, turn) =>
      Number(query.get('page')) > 2 ? 400 : paged('abcdef', { hits: { value: 6, relation: 'eq' } })(query, turn);
    expect(await outcomeOf(byPage, exact, { reportedCount: '/hits/value' })).toBe('abcdef');
  });

  it('that nothing declares is refused if it is larger, unless it is ignored', async () => {
    const give = chained('abcdefg', () => ({ meta: { total_count: 12 } }));
    expect(await outcomeOf(byNext, give)).toMatch('/meta/total_count is 12, but only 7');
    expect(await outcomeOf({ ...byNext, ignores: ['/meta/total_count'] }, give)).toBe('abcdefg');
  });

  it('that was reached ends a list whose last page is repeated', async () => {
    const clamped: Give = (query, turn) =>
      paged('abcdefg', { total: 7 })(
        new URLSearchParams({ page: String(Math.min(3, Number(query.get('page')))) }),
        turn,
      );
    expect(await outcomeOf(byPage, clamped, { reportedCount })).toBe('abcdefg');
    expect(await outcomeOf(byPage, clamped)).toMatch('earlier page again');
  });

  it('or a flag ends a list of one page if the source refuses the page behind', async () => {
    const one =
      (others: Readonly<Record<string, unknown>>): Give =>
      (query, turn) =>
        query.get('page') === '1' ? paged('ab', others)(query, turn) : 400;
    expect(await outcomeOf(byPage, one({ total: 2 }), { reportedCount })).toBe('ab');
    expect(await outcomeOf({ ...byPage, hasMore: '/more' }, one({ more: false }))).toBe('ab');
    expect(await outcomeOf(byPage, one({}))).toMatch('refused with 400');
  });
});

it('a flag that no response has is refused, with the members that are there', async () => {
  const give = paged('abcdefg', { more: false });
  expect(await outcomeOf({ ...byPage, hasMore: '/has_more' }, give)).toMatch(/no response has \/has_more.*\/more/);
});

it('a cursor that is a URL is refused', async () => {
  const give: Give = (query) =>
    query.has('cursor') ? { names: ['d'] } : { names: ['a', 'b', 'c'], next: '/list?cursor=3' };
  expect(await outcomeOf(byNext, give)).toMatch('by a URL, not by a cursor');
});

describe('page 0', () => {
  const fromZero =
    (names: string): Give =>
    (query, turn) =>
      paged(names)(new URLSearchParams({ page: String(Number(query.get('page')) + 1) }), turn);

  it.each(['abcdefg', 'ab'])('is refused if it has other records: %s', async (names) => {
    expect(await outcomeOf(byPage, fromZero(names))).toMatch('counts its pages from 0');
  });

  it.each<[number, string | RegExp]>([
    [404, 'abcd'],
    [400, 'abcd'],
    [500, 'abcd'],
    [503, /page 0 could not be read/],
    [429, /page 0 could not be read/],
  ])('is absent or unknown with status %i', async (status, outcome) => {
    const give: Give = (query, turn) => (query.get('page') === '0' ? status : paged('abcd')(query, turn));
    expect(await outcomeOf(byPage, give)).toMatch(outcome);
  });
});

it('a source that refuses the second page size repeats the first', async () => {
  const sizes: Paging = { by: 'page', page: 'page', size: 'size' };
  const give: Give = (query, turn) => (query.get('size') === '3' ? paged('abcdefg')(query, turn) : 400);
  const { verdicts, taken } = await proveList(sizes, give, { pageSize: 3 });
  expect([taken, verdicts[0]!.grade, verdicts[0]!.page_sizes]).toEqual(['abcdefg', 'repeated', [3, 3]]);
});

it('a source that accepts only some page sizes is read in another one of them', async () => {
  const sizes: Paging = { by: 'page', page: 'page', size: 'size' };
  const give: Give = (query) => {
    const [page, size] = [Number(query.get('page')) - 1, Number(query.get('size'))];
    if (![4, 2].includes(size)) return 400;
    return { names: page < 0 ? [] : Array.from('abcdefg').slice(page * size, page * size + size) };
  };
  const { verdicts, taken } = await proveList(sizes, give, { pageSize: 4 });
  expect([taken, verdicts[0]!.grade, verdicts[0]!.page_sizes]).toEqual(['abcdefg', 'repaged', [4, 2]]);
});

it('a list of one page is read if the source accepts only certain sizes', async () => {
  const linked: Paging = { ...byNext, size: 'size' };
  const give: Give = (query) => (query.get('size') === '100' ? { names: ['a', 'b'], next: null } : 400);
  const { verdicts, taken } = await proveList(linked, give, { pageSize: 100 });
  expect([taken, verdicts[0]!.grade]).toEqual(['ab', 'single']);
});

it('a list that is empty at first is read when it has records', async () => {
  const sizes: Paging = { by: 'page', page: 'page', size: 'size' };
  const requests: string[] = [];
  const give: Give = (query) => {
    requests.push(query.get('page')!);
    const [page, size] = [Number(query.get('page')) - 1, Number(query.get('size'))];
    if (requests.length <= 2 || page < 0) return { names: [] };
    return { names: Array.from('abcd').slice(page * size, page * size + size) };
  };
  const { verdicts, taken } = await proveList(sizes, give, { pageSize: 10 });
  expect([taken, verdicts.at(-1)!.grade]).toEqual(['abcd', 'repaged']);
});

it('a chain ends at an empty page after its total, though it names a next page forever', async () => {
  const forever: Give = (query) => {
    const start = Number(query.get('cursor') ?? 0);
    return { names: Array.from('abcdefg').slice(start, start + 3), next: start + 3, others: { total: 7 } };
  };
  expect(await outcomeOf(byNext, forever, { reportedCount })).toBe('abcdefg');
});
