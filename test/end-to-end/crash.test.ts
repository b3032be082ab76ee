/**
 * A sync that dies: at each named step, before each change to the file system, and at any moment. Readers look on all along and always
 * see one whole snapshot, and the next sync needs no help.
 */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSteps } from '../../src/runtime/context.ts';
import { Secret } from '../../src/source/secret.ts';
import { isSnapshotId } from '../../src/warehouse/snapshot-format.ts';
import type { Death } from '../support/crash-child.ts';
import { startDyingSyncs, type DyingSyncs } from '../support/dying-syncs.ts';
import { runBundledSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startVersionedService, versionedKey, type VersionedService } from '../support/versioned-service.ts';
import { holdOpen, readWholeSnapshot, startReader } from '../support/whole-snapshot.ts';

/** Deaths per kind; `make crash` wants many more of them than every test run. */
const deaths = Number(process.env['REKAP_CRASHES'] ?? 1);
/** Each test run dies at a few of the steps that have a name; `make crash` at all of them. */
const few = Math.floor(Math.random() * 4);
const named = runSteps.filter((_, place) => process.env['REKAP_CRASHES'] !== undefined || place % 4 === few);
const patience = Math.max(180_000, deaths * 10_000);

let service: VersionedService;
let dying: DyingSyncs;

beforeAll(async () => {
  service = await startVersionedService();
  dying = startDyingSyncs(service.url);
});

afterAll(async () => {
  dying.close();
  await service.close();
  if (process.env['REKAP_CRASHES'] !== undefined) process.stdout.write(`${dying.kills()} kills\n`);
});

async function syncHere(warehouse: string) {
  return runBundledSync(
    syncOptions(warehouse, service.url, {
      apiKey: new Secret(versionedKey),
      pageSize: 2,
      keep: 3,
      acceptChanges: true,
    }),
  );
}

/** What a dead run may leave must not be there after the next one. */
async function expectTidy(warehouse: string): Promise<void> {
  expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'lock', 'runs.jsonl', 'snapshots']);
  const snapshots = await readdir(join(warehouse, 'snapshots'));
  expect(snapshots.filter((name) => !isSnapshotId(name))).toEqual([]);
  expect(snapshots.length).toBeLessThanOrEqual(3);
}

/** Kills a sync of a new version, and checks what is to be seen then and after the next sync, which has no help. */
async function survive(warehouse: string, death: Partial<Death>, after?: number): Promise<'died' | 'lived'> {
  const before = await readWholeSnapshot(warehouse);
  const askHeld = await holdOpen(warehouse);
  service.version += 1;
  const report = await dying.syncUntil(warehouse, death, after);
  const left = await readWholeSnapshot(warehouse);
  // Whoever lived to the end has published.
  expect(report === null ? [before.version, service.version] : [service.version]).toContain(left.version);
  const next = await syncHere(warehouse);
  expect(next.outcome).toBe(left.version === service.version ? 'unchanged' : 'published');
  expect((await readWholeSnapshot(warehouse)).version).toBe(service.version);
  await expectTidy(warehouse);
  // Whoever opened the snapshot before still has all of it, and nothing of the others.
  expect(await askHeld()).toBe(before.version);
  return report === null ? 'died' : 'lived';
}

describe('a sync that is killed', () => {
  it('goes through every named step when it is not, in their order', { timeout: patience }, async () => {
    const warehouse = await temporaryFolder();
    const report = await dying.syncUntil(warehouse, {});
    expect(report).toMatchObject({ outcome: 'published', steps: runSteps });
  });

  it('at a named step, is survived', { timeout: patience }, async () => {
    const warehouse = await temporaryFolder();
    await syncHere(warehouse);
    const reader = startReader(warehouse);
    for (const step of named) expect(await survive(warehouse, { step }), step).toBe('died');
    expect((await reader.stop()).readings).toBeGreaterThan(named.length);
  });

  it('before a change to the file system, is survived', { timeout: patience }, async () => {
    const warehouse = await temporaryFolder();
    await syncHere(warehouse);
    service.version += 1;
    const { changes } = (await dying.syncUntil(warehouse, {}))!;
    const reader = startReader(warehouse);
    const step = Math.max(1, Math.floor(changes / deaths));
    for (let change = 1; change <= changes; change += step)
      expect(await survive(warehouse, { change }), `change ${change}`).toBe('died');
    expect((await reader.stop()).readings).toBeGreaterThan(0);
  });

  it('at any moment, is survived', { timeout: patience }, async () => {
    const warehouse = await temporaryFolder();
    await syncHere(warehouse);
    const { milliseconds } = (await dying.syncUntil(warehouse, {}))!;
    const reader = startReader(warehouse);
    // One that lives to its end counts for nothing; most die.
    let died = 0;
    for (let tries = 0; died < deaths && tries < 10 + 3 * deaths; tries += 1)
      if ((await survive(warehouse, {}, Math.random() * milliseconds)) === 'died') died += 1;
    await reader.stop();
    expect(died).toBe(deaths);
  });

  it('as the first of its warehouse, leaves one that the next can fill', { timeout: patience }, async () => {
    // Before the switch and after it; the steps between are those of any other sync.
    for (const step of ['switch current', 'record the run'] as const) {
      const warehouse = await temporaryFolder();
      expect(await dying.syncUntil(warehouse, { step })).toBeNull();
      const { outcome } = await syncHere(warehouse);
      expect(outcome, step).toBe(step === 'record the run' ? 'unchanged' : 'published');
      await expectTidy(warehouse);
    }
  });
});
