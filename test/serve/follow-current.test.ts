/** A service of a warehouse follows `current` to the next snapshot, and keeps what it has while there is none to go to. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { snapshotId as first } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pipelines } from './support.ts';
import { makeRow, openSource, pointTo, publish, users, voters, type Content } from './warehouse-fixture.ts';

const second = '20261121T030002Z-000001';

/** For a slow machine; each wait ends as soon as what it waits for is there. */
const patience = { timeout: 4_000, interval: 10 };

/** A source whose clock the test moves, and whose beat it gives. */
async function openFollowing(warehouse: string) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = { now: 0 };
  const failures: unknown[] = [];
  const opened = await openSource(warehouse, {
    monotonic: () => clock.now,
    onFailure: (error) => failures.push(error),
  });
  const beat = (): void => void vi.advanceTimersByTime(1_000);
  /** Lets a second pass for every look, and waits until the records of both datasets are the new ones. */
  const waitFor = (count: number): Promise<void> =>
    vi.waitFor(() => {
      clock.now += 1_000;
      beat();
      const counts = pipelines.map((pipeline) => opened.current(pipeline).records.length);
      expect(counts).toEqual([count, count]);
    }, patience);
  return { opened, clock, failures, beat, waitFor };
}

function rows(count: number): Content {
  return {
    tables: Object.fromEntries(
      pipelines.map((pipeline) => [
        pipeline.table,
        Array.from({ length: count }, (_, index) => makeRow(pipeline, 11, index)),
      ]),
    ),
  };
}

it('follows current to another snapshot and back again, and says when that changed', async () => {
  const warehouse = await temporaryFolder();
  const times = ['01', '02', '03'].map((hour) => new Date(`2026-12-01T${hour}:00:00Z`));
  await publish(warehouse, first, rows(1), times[0]);
  const { opened, failures, waitFor } = await openFollowing(warehouse);
  const before = opened.current(voters);
  await publish(warehouse, second, rows(2), times[1]);
  await waitFor(2);
  const after = opened.current(voters);
  await pointTo(warehouse, first, times[2]);
  await waitFor(1);
  const back = opened.current(voters);
  expect(after.etag).not.toBe(before.etag);
  expect(back.etag).toBe(before.etag);
  // To a client that has the newer snapshot, the older one is what changed last.
  expect([before, after, back].map(({ lastModified }) => lastModified)).toEqual(times);
  expect(failures).toEqual([]);
});

it('is at the new snapshot before anybody asks', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, beat } = await openFollowing(warehouse);
  await publish(warehouse, second, rows(2));
  clock.now = 1_000;
  beat();
  // Asking alone does not bring it: the clock stands still.
  await vi.waitFor(() => expect(opened.current(voters).records).toHaveLength(2), patience);
});

it('looks once a second at most, ever less often after failures, and never after it is closed', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat } = await openFollowing(warehouse);
  // From here on every look is a failure, so looks can be counted; close() waits for one that is under way.
  await rm(join(warehouse, 'current'));
  for (clock.now = 0; clock.now < 500; clock.now += 100) beat();
  clock.now = 1_000;
  for (let times = 0; times < 100; times += 1) beat();
  clock.now = 2_000;
  beat(); // the look of before is still under way
  await vi.waitFor(() => expect(failures).toHaveLength(1), patience);
  // Two seconds after the first look that failed, then four, in the end a minute.
  let looked = 1_000;
  for (const [times, pause] of [2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].entries()) {
    clock.now = looked + pause - 501;
    beat();
    clock.now = looked + pause;
    looked = clock.now;
    beat();
    await vi.waitFor(() => expect(failures).toHaveLength(times + 2), patience);
  }
  clock.now = looked + 59_499;
  beat();
  await opened.close();
  clock.now = looked + 600_000;
  beat();
  await opened.close();
  expect(failures).toHaveLength(8);
});

it('looks every second again once it has seen a snapshot', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat, waitFor } = await openFollowing(warehouse);
  await rm(join(warehouse, 'current'));
  clock.now = 1_000;
  beat();
  await vi.waitFor(() => expect(failures).toHaveLength(1), patience);
  await publish(warehouse, second, rows(2));
  await waitFor(2);
  await rm(join(warehouse, 'current'));
  clock.now += 1_000;
  beat();
  await vi.waitFor(() => expect(failures).toHaveLength(2), patience);
  await opened.close();
});

it.each([
  ['takes a beat that comes a little early for the one that is meant', 999.5],
  ['waits on closing for a look that is under way', 1_000],
])('%s', async (_, now) => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat } = await openFollowing(warehouse);
  await rm(join(warehouse, 'current'));
  clock.now = now;
  beat();
  await opened.close();
  expect(failures).toHaveLength(1);
});

it('does not look before its beat', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat } = await openFollowing(warehouse);
  await rm(join(warehouse, 'current'));
  clock.now = 499;
  beat();
  await opened.close();
  expect(failures).toEqual([]);
});

it('keeps serving what it has while the next snapshot is unusable, reports that, and goes on later', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat, waitFor } = await openFollowing(warehouse);
  const before = opened.current(voters);
  // The first dataset's table can be read, the second one's is not there: neither may be swapped alone.
  await publish(warehouse, second, { ...rows(2), without: users.table });
  await vi.waitFor(() => {
    clock.now += 1_000;
    beat();
    expect(failures.length).toBeGreaterThan(0);
  }, patience);
  expect(failures[0]).toMatchObject({ code: 'served-data' });
  expect(opened.current(voters)).toBe(before);
  await publish(warehouse, '20261122T030002Z-000002', rows(3));
  await waitFor(3);
});

it('serves on without current, and reports it', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, rows(1));
  const { opened, clock, failures, beat } = await openFollowing(warehouse);
  await rm(join(warehouse, 'current'));
  await vi.waitFor(() => {
    clock.now += 1_000;
    beat();
    expect(opened.current(voters).records).toHaveLength(1);
    expect(failures[0]).toMatchObject({ code: 'snapshot-not-found' });
  }, patience);
});
