/** Pages wait in memory while there is room, and otherwise are read again from the landing. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { PageHolder } from '../../src/extract/page-holder.ts';
import { readText } from '../../src/kinds/read-field.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

/** Holds a page of one record, and counts how often its landed bytes are read. */
function hold(holder: PageHolder, size = 1) {
  const page = pageOf(voters, [voterRecord({ NamaKabupaten: 'A'.repeat(size) })]);
  let reads = 0;
  const fetched = {
    page,
    at: new Date(0),
    refusal: null,
    link: null,
    landed: {
      response: 0,
      async read() {
        reads += 1;
        return page.bytes;
      },
    },
  };
  const held = holder.hold(fetched, { first: 0, count: 1 }, (bytes) => ({ ...page, bytes: Buffer.from(bytes) }));
  return { page, held, reads: () => reads };
}

const one = hold(new PageHolder(0)).page.bytes.length;

it.each([
  ['from memory if it fits', one, 0],
  ['from the landing if it is one byte too large', one - 1, 1],
])('returns a page %s', async (_where, bound, landingReads) => {
  const { page, held, reads } = hold(new PageHolder(bound));
  expect((await held.read()).bytes.equals(page.bytes)).toBe(true);
  expect(reads()).toBe(landingReads);
});

it('has room again after a release, once', async () => {
  const holder = new PageHolder(one);
  const first = hold(holder);
  const second = hold(holder);
  first.held.release();
  first.held.release();
  const [third, fourth] = [hold(holder), hold(holder)];
  for (const { held } of [first, second, third, fourth]) await held.read();
  expect([first, second, third, fourth].map(({ reads }) => reads())).toEqual([1, 1, 0, 1]);
});

it('returns only the accepted records, from memory and from the landing', async () => {
  const page = pageOf(
    voters,
    ['A', 'B', 'C'].map((name) => voterRecord({ NamaKabupaten: name })),
  );
  const landed = { response: 7, read: async () => page.bytes };
  const fetched = { page, at: new Date(0), landed, refusal: null, link: null };
  const regency = Object.keys(voters.columns).indexOf('regency');
  for (const bound of [0, 1_000_000]) {
    const held = new PageHolder(bound).hold(fetched, { first: 1, count: 2 }, () => page);
    expect([held.response, held.first, held.count]).toEqual([7, 1, 2]);
    const accepted = await held.read();
    expect(accepted.records.length).toBe(2);
    expect([0, 1].map((row) => readText(accepted, row, regency))).toEqual(['B', 'C']);
  }
});

it('lets another partition begin once there is room again, or when it is closed', async () => {
  for (const letGo of ['release', 'close'] as const) {
    const holder = new PageHolder(one);
    const { held } = hold(holder);
    expect(holder.isHalfFull).toBe(true);
    let hasRoom = false;
    const room = holder.room().then(() => (hasRoom = true));
    await Promise.resolve();
    expect(hasRoom).toBe(false);
    if (letGo === 'release') held.release();
    else holder.close();
    await room;
  }
});
