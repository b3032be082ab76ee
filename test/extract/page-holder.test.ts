/** Pages wait in memory as long as there is room, and beyond it in the landing; either way they are the same pages. */

import { expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { PageHolder } from '../../src/extract/pages.ts';
import { readText } from '../../src/kinds/read-field.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

/** Holds a page of one record; counts how often its landed bytes were read. */
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

it('gives a page back without reading the landing while there is room', async () => {
  const { page, held, reads } = hold(new PageHolder(one));
  expect(await held.read()).toBe(page);
  expect(reads()).toBe(0);
});

it('reads the landing where a page is one byte too many', async () => {
  const { page, held, reads } = hold(new PageHolder(one - 1));
  expect((await held.read()).bytes.equals(page.bytes)).toBe(true);
  expect(reads()).toBe(1);
});

it('has room again for what is released, once', async () => {
  const holder = new PageHolder(one);
  const first = hold(holder);
  const second = hold(holder);
  first.held.release();
  first.held.release();
  const [third, fourth] = [hold(holder), hold(holder)];
  for (const { held } of [first, second, third, fourth]) await held.read();
  expect([first, second, third, fourth].map(({ reads }) => reads())).toEqual([1, 1, 0, 1]);
});

it('gives just the accepted records, from memory and from the landing', async () => {
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
    const { records, ...given } = await held.read();
    expect(records.length).toBe(2);
    expect([0, 1].map((row) => readText({ records, ...given }, row, regency))).toEqual(['B', 'C']);
  }
});

it('lets another partition begin once three quarters are free again, or nobody takes pages any more', async () => {
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
