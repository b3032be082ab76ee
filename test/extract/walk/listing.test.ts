/** The sweep's listing: which districts there are, what each one holds, and which of them it surely passed to the end. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { districtOf, Listing } from '../../../src/extract/walk/listing.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';

const record = (dapil: unknown, regency = 'A'): Record<string, unknown> =>
  voterRecord({ IdDapil: dapil, NamaKabupaten: regency });

/** A listing of pages, and what each page added. */
function listingOf(...pages: readonly (readonly unknown[])[]): {
  listing: Listing;
  added: ReturnType<Listing['add']>[];
} {
  const listing = new Listing(voters);
  return { listing, added: pages.map((records) => listing.add(pageOf(voters, records))) };
}

const figures = (listing: Listing, dapil: number): unknown => {
  const account = listing.accountOf(dapil);
  return account === null ? null : { total: account.total, distinct: account.distinct };
};

describe('Listing', () => {
  it('names each district once, in the order in which they are met', () => {
    const { listing } = listingOf(
      [record('1101'), record('1102'), record('1102', 'B')],
      [record('1102', 'C'), record('1103')],
    );
    expect(listing.districts).toEqual([1101, 1102, 1103]);
    expect(listing.total).toBe(5);
  });

  it('counts the records of each district, and a repeated one once among the distinct', () => {
    const { listing } = listingOf(
      [record('1101', 'A'), record('1101', 'B'), record('1102', 'A')],
      [record('1102', 'A'), { ...record('1102', 'A'), JumlahSeluruhPemilih: '1' }, record('1102', 'B')],
    );
    expect(figures(listing, 1101)).toEqual({ total: 2, distinct: 2 });
    expect(figures(listing, 1102)).toEqual({ total: 4, distinct: 2 });
    expect(listing.accountOf(1103)).toBeNull();
  });

  it('knows which records a district holds, whatever their order', () => {
    const set = (...regencies: string[]): string =>
      listingOf(regencies.map((regency) => record('1101', regency))).listing.accountOf(1101)!.set;
    expect(set('A', 'B', 'C')).toBe(set('C', 'A', 'B'));
    expect(set('A', 'B', 'C')).not.toBe(set('A', 'B', 'D'));
    expect(set('A', 'B')).not.toBe(set('A', 'B', 'C'));
  });

  it('says whether a page is one that came before: it begins as that did, and brings no new key', () => {
    const [a, b, c] = ['A', 'B', 'C'].map((name) => record('1101', name));
    const { added } = listingOf([a, b], [b, a], [a, c], [a, b], [b]);
    expect(added.map((page) => page.repeats)).toEqual([false, false, false, true, true]);
  });

  it('takes records that the source holds twice for repeats of a page where they do not come to an end', () => {
    const [a, b, c, d, e] = ['A', 'B', 'C', 'D', 'E'].map((name) => record('1101', name));
    const { added } = listingOf([a, b, c, d, e], [b], [c], [d], [e]);
    expect(added.map((page) => page.repeats)).toEqual([false, false, false, false, true]);
  });

  it('sets aside the rows that name no district, and counts them among the records', () => {
    const { listing, added } = listingOf([
      record('1101', 'A'),
      record(undefined),
      record(null),
      record(''),
      record('x'),
      record('-1'),
      record('1101.0'),
      'text',
      null,
      record('1101', 'B'),
    ]);
    expect(added[0]!.strays).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(listing.total).toBe(10);
    expect(listing.districts).toEqual([1101]);
    expect(figures(listing, 1101)).toEqual({ total: 2, distinct: 2 });
  });

  it('takes a district in every spelling of its number as the same', () => {
    const { listing } = listingOf([record('1101', 'A'), record(1101, 'B'), record('01101', 'C')]);
    expect(listing.districts).toEqual([1101]);
    expect(figures(listing, 1101)).toEqual({ total: 3, distinct: 3 });
  });
});

describe('isClosed', () => {
  it('is nothing of a list whose pages overlap: a record may have been passed over anywhere', () => {
    const [a, b, c, d] = [record('1101'), record('1101', 'B'), record('1102'), record('1103')];
    expect(listingOf([a, b], [c, d]).listing.isClosed(1101)).toBe(true);
    expect(listingOf([a, b], [b, c, d]).listing.isClosed(1101)).toBe(false);
  });

  it('closes a district as soon as another one follows, so never the last', () => {
    const listing = new Listing(voters);
    const closed = (): number[] => [1101, 1102, 1103].filter((dapil) => listing.isClosed(dapil));
    expect(closed()).toEqual([]);
    listing.add(pageOf(voters, [record('1101', 'A'), record('1101', 'B')]));
    expect(closed()).toEqual([]);
    listing.add(pageOf(voters, [record('1101', 'C'), record('1102', 'A')]));
    expect(closed()).toEqual([1101]);
    listing.add(pageOf(voters, [record('1102', 'B')]));
    expect(closed()).toEqual([1101]);
    listing.add(pageOf(voters, [record('1103', 'A')]));
    expect(closed()).toEqual([1101, 1102]);
  });

  it('closes none once a district reappears, also on a later page', () => {
    for (const pages of [
      [[record('1101', 'A'), record('1102', 'A'), record('1101', 'B'), record('1103', 'A')]],
      [[record('1101', 'A'), record('1102', 'A')], [record('1101', 'B')], [record('1103', 'A')]],
    ]) {
      const { listing } = listingOf(...pages);
      expect([1101, 1102, 1103].filter((dapil) => listing.isClosed(dapil))).toEqual([]);
    }
  });

  it('closes no district that it has not met', () => {
    const { listing } = listingOf([record('1101'), record('1102')]);
    expect(listing.isClosed(9999)).toBe(false);
  });

  it('is not disturbed by a row that names no district', () => {
    const { listing } = listingOf([
      record('1101', 'A'),
      record(null),
      record('1101', 'B'),
      record('1102', 'A'),
      'footer',
    ]);
    expect(listing.isClosed(1101)).toBe(true);
    expect(listing.isClosed(1102)).toBe(false);
  });
});

describe('the pages of a list', () => {
  it('are told by where they end in a district, and which district begins one', () => {
    const { listing } = listingOf(
      [record('1101', 'A'), record('1101', 'B')],
      [record('1101', 'C'), 'footer', record('1102', 'A')],
      [record('1103', 'A')],
    );
    expect([1101, 1102, 1103].map((dapil) => [...listing.bordersOf(dapil)])).toEqual([[2], [1], []]);
    expect([1101, 1102, 1103, 9999].filter((dapil) => listing.beginsPage(dapil))).toEqual([1101, 1103]);
  });
});

describe('districtOf', () => {
  it.each([
    ['"1101"', 1101],
    ['1101', 1101],
    ['"0"', 0],
    ['null', null],
    ['"11.01"', null],
    ['["1101"]', null],
  ])('reads %s', (json, dapil) => {
    const column = Object.keys(voters.columns).indexOf(voters.district);
    expect(districtOf(pageOf(voters, `[{"IdDapil":${json}}]`), 0, column)).toBe(dapil);
  });
});
