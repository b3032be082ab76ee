/** One pass along linked pages: it follows each next page, stays below the base URL, and ends only at a page without a next one. */

import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/project/declaration.ts';
import { voters } from '../../support/bundled.ts';
import { type Give, type GivenPage, proveList, readList } from '../../support/named-lists.ts';
import { request, serve, whole } from '../client-fixture.ts';

const byUrl: Paging = { by: 'next', url: '/next' };
const byCursor: Paging = { by: 'next', cursor: '/next', parameter: 'cursor', size: 'size' };
const byLink: Paging = { by: 'next', link: true };

/** A source of three pages. The first one has `second` as its next page, and the second one `third`. */
function chain(second: unknown, third: unknown = null): Give {
  return (query) => {
    if (query.has('third')) return { names: ['g'], next: null };
    return query.has('second') ? { names: ['d', 'e', 'f'], next: third } : { names: ['a', 'b', 'c'], next: second };
  };
}

/** A source whose pages have the cursors 0, 1, 2 and so on. */
function numbered(...pages: readonly GivenPage[]): Give {
  return (query) => pages[Number(query.get('cursor') ?? 0)]!;
}

describe('a next page as a URL', () => {
  it.each([
    ['?second=1', '/list?second=1'],
    ['/list?second=1', '/list?second=1'],
    ['more/list?second=1', '/more/list?second=1'],
    ['http://source.test/list?second=1&x=a%20b', '/list?second=1&x=a%20b'],
    ['http://source.test:80/list?second=1', '/list?second=1'],
  ])('is requested: %s', async (next, target) => {
    const end = await readList(byUrl, chain(next, `?${target.split('?')[1]}&third=1`));
    expect(end).toMatchObject({
      taken: 'abcdefg',
      total: 7,
      pages: 3,
      requested: ['/list', target, `${target}&third=1`],
    });
  });

  it.each(['http://source.test/v1/list?second=1', '/v1/list?second=1', '?second=1'])(
    'is requested below the path of the base URL: %s',
    async (next) => {
      const end = await readList(byUrl, chain(next), { baseUrl: 'http://source.test/v1' });
      expect(end).toMatchObject({ taken: 'abcdef', requested: ['/list', '/list?second=1'] });
    },
  );

  it.each([
    'http://elsewhere.test/v1/list?second=1',
    '//elsewhere.test/v1/list?second=1',
    'http://source.test:8080/v1/list?second=1',
    'https://source.test/v1/list?second=1',
    'http://source.test/list?second=1',
    '/list?second=1',
    'http://source.test/v10/list?second=1',
    'http://source.test/v1/../list?second=1',
    'javascript:second',
    'http://[',
  ])('is refused without a request if it is not below the base URL: %s', async (next) => {
    const requested: string[] = [];
    await expect(readList(byUrl, chain(next), { baseUrl: 'http://source.test/v1', requested })).rejects.toMatchObject({
      code: 'unprovable-source',
      message: expect.stringContaining('not below http://source.test/v1'),
    });
    expect(requested).toEqual(['/list']);
  });
});

describe('a cursor', () => {
  it('is sent in its parameter, beside the size', async () => {
    const give = numbered({ names: ['a', 'b'], next: 1 }, { names: ['c'], next: '2' }, { names: ['d'], next: null });
    expect(await readList(byCursor, give)).toMatchObject({
      taken: 'abcd',
      total: 4,
      pages: 3,
      longest: 2,
      requested: ['/list?size=10', '/list?size=10&cursor=1', '/list?size=10&cursor=2'],
    });
  });

  it('is sent unchanged, whatever characters it has', async () => {
    const cursor = 'a+b/c=&é #%20';
    const give: Give = (query) =>
      query.get('cursor') === cursor ? { names: ['b'] } : { names: ['a'], next: query.has('cursor') ? 'lost' : cursor };
    expect(await readList(byCursor, give)).toMatchObject({ taken: 'ab' });
  });

  it.each([null, false, '', undefined])('ends the list if it is %j', async (next) => {
    expect(await readList(byCursor, numbered({ names: ['a'], next }))).toMatchObject({ taken: 'a', pages: 1 });
  });
});

describe('the header Link', () => {
  it('names the next page', async () => {
    const give: Give = (query) =>
      query.has('second') ? { names: ['b'] } : { names: ['a'], link: 'http://source.test/list?second=1' };
    expect(await readList(byLink, give)).toMatchObject({ taken: 'ab', requested: ['/list', '/list?second=1'] });
  });

  it.each<[string | string[], string | null]>([
    [['</?page=1>; rel="self"', '</?page=2>; rel="next"'], '/?page=2'],
    ["</?page=2>; rel='next'", '/?page=2'],
    ['</?page=2> rel="next"', '/?page=2'],
    ['</?page=2>; rel="last";  rel="next"', null],
    ['</?page=2>; title="rel=next"; rel=last', null],
    ['</?page=2>; title="a, <b>; rel=next", </?page=3>; rel=next', '/?page=3'],
    ['<http://x.test/?page=2>; rel="next"', 'http://x.test/?page=2'],
    ['</?page=2>;rel=next', '/?page=2'],
    ['</?page=1>; rel="prev", </?page=2>; title="more"; REL="Last Next"', '/?page=2'],
    ['</?ids=1,2;3>; rel="next", </?page=9>; rel="last"', '/?ids=1,2;3'],
    ['</?page=1>; rel="prev"', null],
    ['</?page=2>; rel="next-archive"', null],
    ['</?rel=next>; rel="first"', null],
    ['</?page=2>; data-rel="next"', null],
    ['/?page=2; rel="next"', null],
  ])('is parsed: %j', async (link, next) => {
    const { client } = await serve((_, response) => response.writeHead(200, { link }).end(JSON.stringify(whole)));
    expect((await client.fetchPage({ ...voters, paging: byLink }, request)).link).toBe(next);
  });
});

describe('a pass', () => {
  const loop = [
    { names: ['a'], next: 1 },
    { names: ['b'], next: 2 },
    { names: ['c'], next: 1 },
  ];
  /** Pages 0 to `last`, of which only these have a record. */
  const sparse = (last: number, ...filled: readonly number[]): Give =>
    numbered(
      ...Array.from({ length: last + 1 }, (_, page) => ({
        names: filled.includes(page) ? [`(${page})`] : [],
        next: page === last ? null : page + 1,
      })),
    );
  /** A source whose second page repeats the first one so many times. */
  const slipping =
    (slips: number): Give =>
    (query, turn) =>
      numbered({ names: ['a'], next: 1 }, { names: ['b'], next: null })(
        query.has('cursor') && turn < slips ? new URLSearchParams() : query,
        turn,
      );
  const endless: Give = (query) => {
    const page = Number(query.get('cursor') ?? 0);
    return { names: [`${page}`], next: page + 1 };
  };
  const withSecond =
    (status: number): Give =>
    (query) =>
      query.has('cursor') ? status : { names: ['a'], next: 1 };

  it.each<[string, Give, string]>([
    ['pages without records', sparse(3, 1, 3), '(1)(3)'],
    ['99 pages without records in a row', sparse(199, 99, 199), '(99)(199)'],
    ['a page that repeats an earlier one three times', slipping(3), 'ab'],
  ])('goes on past %s', async (_what, give, taken) => {
    expect(await readList(byCursor, give)).toMatchObject({ taken });
  });

  it.each<[string, Give, string, string, number]>([
    [
      '100 pages without records in a row',
      sparse(100, 100),
      'unprovable-source',
      '100 pages in a row without records',
      100,
    ],
    ['a next page that was already read', numbered(...loop), 'broken-reading', 'already read', 3],
    ['a page that repeats an earlier one four times', slipping(4), 'broken-reading', 'earlier page again', 5],
    ['a next page that is not found', withSecond(404), 'broken-reading', 'refused with 404', 2],
    ['a next page that is an error', withSecond(400), 'source-status', 'refused with 400', 2],
    ['an endless list', endless, 'unprovable-source', '', 21],
  ])('refuses %s', async (_what, give, code, words, requests) => {
    const requested: string[] = [];
    const reading = readList(byCursor, give, { requested, maxRecords: 20 });
    await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(requested).toHaveLength(requests);
  });

  it('leaves a list incomplete if its next page is not found', async () => {
    expect((await proveList(byCursor, withSecond(404))).verdicts).toMatchObject([{ complete: false }]);
  });
});

describe('the proof', () => {
  it('is two passes, the second one with another size if there is a parameter for it', async () => {
    const give: Give = (query) => {
      const size = Math.min(3, Number(query.get('size') ?? 3));
      const start = Number(query.get('cursor') ?? 0);
      const rest = Array.from('abcdefg').slice(start);
      return { names: rest.slice(0, size), next: rest.length > size ? start + size : null };
    };
    const { verdicts, taken, requested } = await proveList(byCursor, give);
    expect(verdicts).toMatchObject([
      { complete: true, grade: 'rechained', page_sizes: [3, 2], end: 'null', received: 7, readings: 2 },
    ]);
    expect(taken).toBe('abcdefg');
    expect(requested.filter((target) => !target.includes('cursor'))).toEqual(['/list?size=10', '/list?size=2']);
  });

  it('is weaker if the source ignores the size, or no page names another one', async () => {
    const fixed = numbered({ names: ['a', 'b'], next: 1 }, { names: ['c'], next: null });
    expect((await proveList(byCursor, fixed)).verdicts).toMatchObject([{ complete: true, grade: 'chain' }]);
    const single = await proveList(byUrl, () => ({ names: ['a', 'b'], next: null }));
    expect(single.verdicts).toMatchObject([{ complete: true, grade: 'single' }]);
  });

  it('fails if two passes find different records', async () => {
    let requests = 0;
    const changing: Give = () => ({ names: [`${(requests += 1)}`], next: null });
    expect((await proveList(byUrl, changing)).verdicts).toMatchObject([{ complete: false, grade: null, readings: 4 }]);
  });
});
