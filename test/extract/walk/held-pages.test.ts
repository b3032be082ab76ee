/** Pages wait in memory as long as there is room, and beyond it in the landing; either way they are the same pages. */

import { expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { PageHolder } from '../../../src/extract/walk/held-pages.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';

/** Holds a page of one record; counts how often its landed bytes were read. */
function hold(holder: PageHolder, size = 1) {
  const page = pageOf(voters, [voterRecord({ NamaKabupaten: 'A'.repeat(size) })]);
  let reads = 0;
  const fetched = {
    page,
    at: new Date(0),
    refusal: null,
    landed: async () => {
      reads += 1;
      return page.bytes;
    },
  };
  const held = holder.hold(fetched, (bytes) => ({ ...page, bytes: Buffer.from(bytes) }));
  return { page, held, reads: () => reads };
}

const one = hold(new PageHolder(0)).page.bytes.length;

it('gives a page back without reading the landing while there is room', async () => {
  const { page, held, reads } = hold(new PageHolder(one));
  expect(await held.read()).toBe(page);
  expect(reads()).toBe(0);
  expect([held.length, held.at]).toEqual([1, new Date(0)]);
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

it('has room for reading ahead while less than half is in use', () => {
  const roomy = new PageHolder(2 * one + 2);
  hold(roomy);
  expect(roomy.hasRoom).toBe(true);
  const holder = new PageHolder(2 * one);
  expect(holder.hasRoom).toBe(true);
  const { held } = hold(holder);
  expect(holder.hasRoom).toBe(false);
  held.release();
  expect(holder.hasRoom).toBe(true);
});

it('says how much was in use at most since it was asked last', () => {
  const holder = new PageHolder(4 * one);
  expect(holder.takePeakUse()).toBe(0);
  const [first] = [hold(holder), hold(holder)];
  first.held.release();
  expect(holder.takePeakUse()).toBe(2 / 4);
  expect(holder.takePeakUse()).toBe(1 / 4);
  expect(new PageHolder(0).takePeakUse()).toBe(1);
});
