/** One pass along a chain of pages: it goes on as each page says, does not leave the base URL, and ends only where a page names no other. */

import { describe, expect, it } from 'vitest';
import type { Paging } from '../../../src/project/declaration.ts';
import { voters } from '../../support/bundled.ts';
import { answerJson } from '../../support/fault-server.ts';
import { type Give, type GivenPage, proveList, readList } from '../../support/named-lists.ts';
import { request, serve, whole } from '../client-fixture.ts';

const byUrl: Paging = { by: 'next', url: '/next' };
const byCursor: Paging = { by: 'next', cursor: '/next', parameter: 'cursor', size: 'size' };
const byLink: Paging = { by: 'next', link: true };

/** A source of three pages, whose first one names a next page as it is written here, and whose second one names the third. */
function chain(second: unknown, third: unknown = null): Give {
  return (query) => {
    if (query.has('third')) return { names: ['g'], next: null };
    return query.has('second') ? { names: ['d', 'e', 'f'], next: third } : { names: ['a', 'b', 'c'], next: second };
  };
}

/** A source whose pages have the cursors 0, 1, 2 and so on. */
function numbered(pages: readonly GivenPage[]): Give {
  return (query) => pages[Number(query.get('cursor') ?? 0)]!;
}

describe('a next page that is given as a URL', () => {
  it.each([
    ['a query', '?second=1', '/list?second=1'],
    ['a path', '/list?second=1', '/list?second=1'],
    ['another path', 'more/list?second=1', '/more/list?second=1'],
    ['a whole address', 'http://source.test/list?second=1&x=a%20b', '/list?second=1&x=a%20b'],
    ['an address with the standard port', 'http://source.test:80/list?second=1', '/list?second=1'],
  ])('is asked for: %s', async (_what, next, target) => {
    const end = await readList(byUrl, chain(next, `?${target.split('?')[1]}&third=1`));
    expect(end).toMatchObject({ taken: 'abcdefg', total: 7, pages: 3 });
    expect(end.asked).toEqual(['/list', target, `${target}&third=1`]);
  });

  it.each([
    ['an address', 'http://source.test/v1/list?second=1'],
    ['a path', '/v1/list?second=1'],
    ['a query', '?second=1'],
  ])('is asked for below the path of the base URL: %s', async (_what, next) => {
    const end = await readList(byUrl, chain(next), { baseUrl: 'http://source.test/v1' });
    expect(end).toMatchObject({ taken: 'abcdef', asked: ['/list', '/list?second=1'] });
  });

  it.each([
    ['another host', 'http://elsewhere.test/v1/list?second=1'],
    ['another host, without its scheme', '//elsewhere.test/v1/list?second=1'],
    ['another port', 'http://source.test:8080/v1/list?second=1'],
    ['another scheme', 'https://source.test/v1/list?second=1'],
    ['a path outside of the base path', 'http://source.test/list?second=1'],
    ['a path outside of the base path, without its host', '/list?second=1'],
    ['a path that begins like the base path', 'http://source.test/v10/list?second=1'],
    ['a path that leaves the base path', 'http://source.test/v1/../list?second=1'],
    ['a script', 'javascript:second'],
    ['no address at all', 'http://['],
  ])('is refused and never asked for where it is %s', async (_what, next) => {
    const asked: string[] = [];
    await expect(readList(byUrl, chain(next), { baseUrl: 'http://source.test/v1', asked })).rejects.toMatchObject({
      code: 'unprovable-source',
      message: expect.stringContaining('which is not below http://source.test/v1'),
    });
    expect(asked).toEqual(['/list']);
  });
});

describe('a cursor', () => {
  it('is put into its parameter, beside the size', async () => {
    const end = await readList(
      byCursor,
      numbered([
        { names: ['a', 'b'], next: 1 },
        { names: ['c'], next: '2' },
        { names: ['d'], next: null },
      ]),
    );
    expect(end).toMatchObject({ taken: 'abcd', total: 4, pages: 3, longest: 2 });
    expect(end.asked).toEqual(['/list?size=10', '/list?size=10&cursor=1', '/list?size=10&cursor=2']);
  });

  it('is sent as it was given, whatever characters it has', async () => {
    const cursor = 'a+b/c=&é #%20';
    const give: Give = (query) =>
      query.get('cursor') === cursor ? { names: ['b'] } : { names: ['a'], next: query.has('cursor') ? 'lost' : cursor };
    expect(await readList(byCursor, give)).toMatchObject({ taken: 'ab' });
  });

  it.each([
    ['null', null],
    ['false', false],
    ['an empty text', ''],
    ['nothing', undefined],
  ])('that is %s ends the list', async (_what, next) => {
    expect(await readList(byCursor, numbered([{ names: ['a'], next }]))).toMatchObject({ taken: 'a', pages: 1 });
  });
});

describe('the header Link', () => {
  it('names the next page', async () => {
    const give: Give = (query) =>
      query.has('second') ? { names: ['b'] } : { names: ['a'], link: 'http://source.test/list?second=1' };
    const end = await readList(byLink, give);
    expect(end).toMatchObject({ taken: 'ab', asked: ['/list', '/list?second=1'] });
  });

  it.each([
    ['<http://x.test/?page=2>; rel="next"', 'http://x.test/?page=2'],
    ['</?page=2>;rel=next', '/?page=2'],
    ['</?page=1>; rel="prev", </?page=2>; title="more"; REL="Last Next"', '/?page=2'],
    ['</?ids=1,2;3>; rel="next", </?page=9>; rel="last"', '/?ids=1,2;3'],
    ['</?page=1>; rel="prev"', null],
    ['</?page=2>; rel="next-archive"', null],
    ['</?page=2>; rel=nextpage', null],
    ['</?rel=next>; rel="first"', null],
    ['</?page=2>; data-rel="next"', null],
    ['/?page=2; rel="next"', null],
  ])('is read: %s', async (link, next) => {
    const { client } = await serve((_, response) => answerJson(response, whole, 200, { link }));
    expect((await client.fetchPage(voters, request)).link).toBe(next);
  });
});

describe('a chain', () => {
  it('goes on over pages without records', async () => {
    const end = await readList(
      byCursor,
      numbered([{ names: [], next: 1 }, { names: ['a'], next: 2 }, { names: [], next: 3 }, { names: ['b'] }]),
    );
    expect(end).toMatchObject({ taken: 'ab', total: 2, pages: 2 });
  });

  it('is refused after 100 pages without records, one after another, and not before', async () => {
    /** Pages of which only these have a record. */
    const sparse = (last: number, ...filled: readonly number[]): Give =>
      numbered(
        Array.from({ length: last + 1 }, (_, page) => ({
          names: filled.includes(page) ? [`(${page})`] : [],
          next: page === last ? null : page + 1,
        })),
      );
    const asked: string[] = [];
    await expect(readList(byCursor, sparse(100, 100), { asked })).rejects.toMatchObject({
      code: 'unprovable-source',
      message: expect.stringContaining('returned 100 pages in a row without records'),
    });
    expect(asked).toHaveLength(100);
    expect(await readList(byCursor, sparse(199, 99, 199))).toMatchObject({ taken: '(99)(199)' });
  });

  it('that comes back to a page that it has named before is refused', async () => {
    const asked: string[] = [];
    const pages = [
      { names: ['a'], next: 1 },
      { names: ['b'], next: 2 },
      { names: ['c'], next: 1 },
    ];
    await expect(readList(byCursor, numbered(pages), { asked })).rejects.toMatchObject({
      code: 'broken-reading',
      message: expect.stringContaining('cursor=2 links to the next page "1", which was already read'),
    });
    expect(asked).toHaveLength(3);
  });

  it('asks again for a page that came before, and refuses it only where it comes four times', async () => {
    const pages = [
      { names: ['a'], next: 1 },
      { names: ['b'], next: null },
    ];
    const slipping =
      (slips: number): Give =>
      (query, turn) =>
        query.has('cursor') && turn < slips ? pages[0]! : numbered(pages)(query, turn);
    expect(await readList(byCursor, slipping(3))).toMatchObject({ taken: 'ab' });
    await expect(readList(byCursor, slipping(4))).rejects.toMatchObject({
      code: 'broken-reading',
      message: expect.stringContaining('returns the records of an earlier page again'),
    });
  });

  it('has not ended where the page that was named is not there', async () => {
    const give: Give = (query) => (query.has('cursor') ? 404 : { names: ['a'], next: 1 });
    await expect(readList(byCursor, give)).rejects.toMatchObject({
      code: 'broken-reading',
      message: expect.stringContaining('links to a next page that the source does not return: refused with 404'),
    });
    expect((await proveList(byCursor, give)).verdicts).toMatchObject([{ complete: false }]);
  });

  it('has not ended where the page that was named is refused', async () => {
    const give: Give = (query) => (query.has('cursor') ? 400 : { names: ['a'], next: 1 });
    await expect(readList(byCursor, give)).rejects.toMatchObject({ code: 'source-status', status: 400 });
  });

  it('that has no end is refused', async () => {
    const give: Give = (query) => {
      const page = Number(query.get('cursor') ?? 0);
      return { names: [`${page}`], next: page + 1 };
    };
    await expect(readList(byCursor, give, { maxRecords: 20 })).rejects.toMatchObject({ code: 'unprovable-source' });
  });
});

describe('the proof', () => {
  const give: Give = (query) => {
    const size = Math.min(3, Number(query.get('size') ?? 3));
    const start = Number(query.get('cursor') ?? 0);
    const rest = Array.from('abcdefg').slice(start);
    return { names: rest.slice(0, size), next: rest.length > size ? start + size : null };
  };

  it('is two passes, the second with another size where there is a parameter for it', async () => {
    const { verdicts, taken, asked } = await proveList(byCursor, give);
    expect(verdicts).toMatchObject([{ complete: true, grade: 'chain', received: 7, readings: 2 }]);
    expect(taken).toBe('abcdefg');
    expect(asked.filter((target) => !target.includes('cursor'))).toEqual(['/list?size=10', '/list?size=2']);
  });

  it('is not given by two passes that bring different records', async () => {
    let requests = 0;
    const changing: Give = () => ({ names: [`${(requests += 1)}`], next: null });
    expect((await proveList(byUrl, changing)).verdicts).toMatchObject([{ complete: false, grade: null, readings: 4 }]);
  });
});
