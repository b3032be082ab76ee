/** The one rule: two readings that brought everything that any reading brought, with the same values. */

import { describe, expect, it } from 'vitest';
import { FullListing, SeenRecords } from '../../src/extract/full-listing.ts';
import { missingFrom, neededPasses } from '../../src/extract/prove.ts';
import { voters } from '../support/bundled.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

const account = (total: number, content = 'a') => ({ total, content });

describe('a partition', () => {
  it.each([
    ['one reading', account(5), [], 5, 2],
    ['two readings of which one lacks a record', account(5), [account(4)], 5, 2],
    ['two readings that both lack a record which a third showed', account(4), [account(4)], 5, 2],
    ['two readings with other values', account(5), [account(5, 'b')], 5, 2],
    ['two readings where three are needed', account(5), [account(5)], 5, 3],
  ])('is not complete by %s', (_what, newest, earlier, seen, needed) => {
    expect(missingFrom({ newest, earlier, seen, needed })).not.toBeNull();
  });

  it.each([
    ['two readings that agree', account(5), [account(5)], 5, 2],
    ['two of three, around one that lacked a record', account(5), [account(5), account(4)], 5, 2],
    ['two of three, around one with other values', account(5), [account(5), account(5, 'b')], 5, 2],
    ['two readings without a record', account(0), [account(0)], 0, 2],
  ])('is complete by %s', (_what, newest, earlier, seen, needed) => {
    expect(missingFrom({ newest, earlier, seen, needed })).toBeNull();
  });
});

const record = (IdDapil: string, NamaKabupaten: string) => voterRecord({ IdDapil, NamaKabupaten });

function listingOf(...pages: readonly (readonly Record<string, unknown>[])[]): FullListing {
  const listing = new FullListing(voters, 'overlap');
  // Every page but the first begins with the last record of the page before.
  for (const [index, page] of pages.entries())
    listing.add(pageOf(voters, index === 0 ? page : [pages[index - 1]!.at(-1)!, ...page]), index === 0 ? 0 : 1);
  return listing;
}

const [a, b, c, d] = ['A', 'B', 'C', 'D'].map((name) => record('1', name));

describe('the full listing', () => {
  it('has left a partition behind where another one follows, in pages of one length', () => {
    const listing = listingOf([a!, b!, record('2', 'A')], [record('3', 'A')]);
    expect(['1', '2', '3'].map((partition) => listing.hasLeftBehind(partition))).toEqual([true, true, false]);
  });

  it.each([
    ['a partition comes twice', [[a!, record('2', 'A'), b!], [record('3', 'A')]]],
    ['its pages vary', [[a!, b!, c!], [d!], [record('2', 'A')], [record('3', 'A')]]],
  ])('shows of no partition where it ends, if %s', (_why, pages) => {
    const listing = listingOf(...pages);
    expect(listing.hasLeftBehind('1')).toBe(false);
    expect(listing.isOrderly).toBe(false);
  });

  it('gives the rows that name no partition', () => {
    const listing = new FullListing(voters, 'overlap');
    expect(listing.add(pageOf(voters, [a!, { note: 'a footer' }, b!, record('x', 'A')]), 0)).toEqual([1, 3]);
    expect([listing.total, listing.of('1').total]).toEqual([4, 2]);
  });
});

describe('what was seen', () => {
  it('counts what the listing has and no reading brought, and each record as often as it came', () => {
    const listing = listingOf([a!, b!, b!]);
    const seen = new SeenRecords([listing], '1');
    expect(seen.size).toBe(3);
    const other = listingOf([a!]);
    expect(new SeenRecords([listing, other], '1').size).toBe(3);
  });
});

describe('how many readings must agree', () => {
  it('is two, and three where a partition takes several pages beside no orderly listing, or where pages vary', () => {
    expect([neededPasses(null, 1), neededPasses(null, 2), neededPasses(listingOf([a!]), 2)]).toEqual([2, 3, 2]);
    expect(neededPasses(listingOf([a!, b!, c!], [d!], [record('2', 'A')]), 1)).toBe(3);
  });
});
