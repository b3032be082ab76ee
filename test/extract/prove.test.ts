/** A partition is complete if two passes found all records that any pass found, with the same values. */

import { describe, expect, it } from 'vitest';
import type { FetchedPage } from '../../src/source/response-reader.ts';
import { FullListing, SeenRecords } from '../../src/extract/full-listing.ts';
import { PageHolder } from '../../src/extract/page-holder.ts';
import { judge, KeyOccurrences, neededPasses, RecordReader } from '../../src/extract/prove.ts';
import { ContentHash } from '../../src/kinds/content.ts';
import { voters } from '../support/bundled.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

const pass = (total: number, content = 'a', longest: number | null = 10) => ({ total, content, longest });
type Pass = ReturnType<typeof pass>;

it.each<[boolean, string, Pass, Pass[], number, number]>([
  [false, 'one pass', pass(5), [], 5, 2],
  [false, 'two passes if a record is missing in one of them', pass(5), [pass(4)], 5, 2],
  [false, 'two passes if both are missing a record of a third', pass(4), [pass(4)], 5, 2],
  [false, 'two passes with different values', pass(5), [pass(5, 'b')], 5, 2],
  [false, 'two passes if three are needed', pass(5), [pass(5)], 5, 3],
  [true, 'two passes that agree', pass(5), [pass(5)], 5, 2],
  [true, 'two of three passes if a record is missing in the second', pass(5), [pass(5), pass(4)], 5, 2],
  [true, 'two of three passes, around one with different values', pass(5), [pass(5), pass(5, 'b')], 5, 2],
  [true, 'two passes without a record', pass(0), [pass(0)], 0, 2],
])('complete is %s by %s', (isComplete, _what, newest, earlier, seen, needed) => {
  expect('agreeing' in judge({ newest, earlier, seen, needed, repages: true })).toBe(isComplete);
});

it.each<[boolean, string, Pass, Pass[]]>([
  [false, 'that agree, if a pass with pages of another size differs', pass(5), [pass(4, 'b', 9), pass(5)]],
  [true, 'with pages of different sizes that agree', pass(5), [pass(5, 'a', 9)]],
  [true, 'of which one is part of the full listing', pass(5), [pass(4, 'b', 9), pass(5, 'a', null)]],
])('complete is %s by two passes %s', (isComplete, _what, newest, earlier) => {
  expect('agreeing' in judge({ newest, earlier, seen: 5, needed: 2, repages: true })).toBe(isComplete);
});

const record = (IdDapil: string, NamaKabupaten: string) => voterRecord({ IdDapil, NamaKabupaten });

const newListing = () =>
  new FullListing({
    pipeline: voters,
    contents: new ContentHash('0123456789abcdef'),
    names: new Map(),
    hold: (fetched, first, count) => new PageHolder(0).hold(fetched, { first, count }, () => fetched.page),
  });

const fetchedOf = (records: unknown): FetchedPage => ({
  page: pageOf(voters, records),
  at: new Date(0),
  landed: { response: 0, read: async () => Buffer.of() },
  refusal: null,
  link: null,
});

function listingOf(...pages: readonly (readonly Record<string, unknown>[])[]): FullListing {
  const listing = newListing();
  // Every page but the first begins with the last record of the previous page.
  for (const [index, page] of pages.entries())
    listing.add(fetchedOf(index === 0 ? page : [pages[index - 1]!.at(-1)!, ...page]), index === 0 ? 0 : 1);
  return listing;
}

const [a, b, c, d] = ['A', 'B', 'C', 'D'].map((name) => record('1', name));

describe('the full listing', () => {
  it('ends a partition where another one follows, if pages have one length', () => {
    const listing = listingOf([a!, b!, record('2', 'A')], [record('3', 'A')]);
    expect(['1', '2', '3'].map((partition) => listing.showsEndOf(partition))).toEqual([true, true, false]);
  });

  it.each([
    ['a partition occurs twice', [[a!, record('2', 'A'), b!], [record('3', 'A')]]],
    ['its pages vary', [[a!, b!, c!], [d!], [record('2', 'A')], [record('3', 'A')]]],
  ])('ends no partition if %s', (_why, pages) => {
    const listing = listingOf(...pages);
    expect(listing.showsEndOf('1')).toBe(false);
    expect(listing.isOrderly).toBe(false);
  });

  it('accepts the records without a partition', () => {
    const listing = newListing();
    listing.add(fetchedOf([a!, { note: 'a footer' }, { note: 'another' }, b!, record('x', 'A')]), 0);
    expect(listing.accepted.map(({ first, count }) => [first, count])).toEqual([
      [1, 2],
      [4, 1],
    ]);
    expect([listing.total, listing.of('1').total]).toEqual([5, 2]);
  });
});

it('counts each record as often as it occurs, and records that only the listing has', () => {
  const listing = listingOf([a!, b!, b!]);
  expect(new SeenRecords([listing], '1').size).toBe(3);
  expect(new SeenRecords([listing, listingOf([a!])], '1').size).toBe(3);
});

it('needs three passes for several pages without an ordered listing, or if pages vary, and else two', () => {
  expect([neededPasses(null, 1), neededPasses(null, 2), neededPasses(listingOf([a!]), 2)]).toEqual([2, 3, 2]);
  expect(neededPasses(listingOf([a!, b!, c!], [d!], [record('2', 'A')]), 1)).toBe(3);
});

it.each<[string, boolean, object[]]>([
  ['have a null in their keys', false, [{ NamaKabupaten: null }, { NamaKabupaten: null, JumlahTotal: '9' }]],
  ['have the same key', true, [{ NamaKabupaten: 'A' }, { NamaKabupaten: 'A', JumlahTotal: '9' }]],
])('if different records %s, one repeats the other: %s', (_what, isRepeat, records) => {
  const page = pageOf(
    voters,
    records.map((one) => voterRecord({ ...one })),
  );
  const reader = new RecordReader(voters);
  const keys = new KeyOccurrences();
  for (const row of records.keys()) {
    reader.read(page, row);
    keys.add(reader.key);
  }
  expect(keys.hasRepeats).toBe(isRepeat);
});
