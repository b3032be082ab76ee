/** As many districts are walked at once as there may be requests; more only while their pages take little memory. */

import { expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { PageHolder, type HeldPage } from '../../../src/extract/walk/held-pages.ts';
import { limitWalks } from '../../../src/extract/walk/walk-limit.ts';
import { pageOf, voterRecord } from '../../support/pages.ts';

const page = pageOf(voters, [voterRecord()]);
const one = page.bytes.length;

/** Walks districts that each hold one page until they end, in the order in which they began; gives how many were under way after each end. */
async function countWalks(holder: PageHolder, requests: number, districts: number): Promise<number[]> {
  const walk = limitWalks(requests, holder);
  const underWay: (() => void)[] = [];
  const walks = Array.from({ length: districts }, () =>
    walk(async () => {
      const held: HeldPage = holder.hold(
        { page, at: new Date(0), refusal: null, landed: async () => page.bytes },
        () => page,
      );
      await new Promise<void>((resolve) => underWay.push(resolve));
      held.release();
    }),
  );
  const counts: number[] = [];
  for (const ending of walks) {
    await settle();
    counts.push(underWay.length);
    underWay.shift()?.();
    await ending;
  }
  return counts;
}

/** Whatever can begin has begun afterwards. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

it('begins with as many as there may be requests, and comes to twice as many where their pages are small', async () => {
  expect(await countWalks(new PageHolder(100 * one), 3, 12)).toEqual([3, 4, 5, 6, 6, 6, 6, 5, 4, 3, 2, 1]);
});

it('stays at as many as there may be requests where their pages fill the memory', async () => {
  expect(await countWalks(new PageHolder(3 * one), 3, 6)).toEqual([3, 3, 3, 3, 2, 1]);
  expect(await countWalks(new PageHolder(0), 3, 4)).toEqual([3, 3, 2, 1]);
});

it('goes back to fewer as soon as their pages take more than a quarter of the memory', async () => {
  // Of 16 pages 4 are a quarter: with 4 under way they were held at once, which is too many, though 3 are left at an end.
  const counts = await countWalks(new PageHolder(16 * one), 3, 10);
  expect(Math.max(...counts)).toBe(4);
  expect(counts.slice(0, 6)).toEqual([3, 4, 3, 4, 3, 4]);
});

it('goes on after a walk that failed', async () => {
  const walk = limitWalks(1, new PageHolder(0));
  const failing = walk(async () => {
    throw new Error('no page');
  });
  await expect(failing).rejects.toThrow('no page');
  await expect(walk(async () => undefined)).resolves.toBeUndefined();
});
