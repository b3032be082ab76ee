/**
 * A sync that dies: at each named step, before each change to the file system, and at any moment. Readers look on all along and always
 * see one whole snapshot, and the next sync needs no help. `make test` dies once in each of the first two ways, `make crash` hundreds of
 * times in all three.
 */

import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSteps } from '../../src/runtime/context.ts';
import { openDatabase } from '../../src/runtime/database.ts';
import { Secret } from '../../src/source/secret.ts';
import { databaseFile, isSnapshotId } from '../../src/warehouse/snapshot-format.ts';
import { look as lookAt, startReader } from '../oracle/reader.ts';
import type { Look } from '../oracle/judge-history.ts';
import type { Death } from '../support/crash-child.ts';
import { startDyingSyncs, type DyingSyncs } from '../support/dying-syncs.ts';
import { runSync } from '../support/served-source.ts';
import { bundledProject, project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { regencies, startVersionedService, versionedKey, type VersionedService } from '../support/versioned-service.ts';

const isThorough = process.env['REKAP_CRASHES'] !== undefined;
/** Deaths per kind. */
const deaths = Number(process.env['REKAP_CRASHES'] ?? 1);
const named = isThorough ? runSteps : (['build tables', 'switch current'] as const);
const patience = { timeout: 600_000 + deaths * 10_000 };

let service: VersionedService;
let dying: DyingSyncs;

beforeAll(async () => {
  service = await startVersionedService();
  dying = startDyingSyncs(service.url, isThorough);
});

afterAll(async () => {
  dying.close();
  await service.close();
  if (isThorough) process.stdout.write(`${dying.kills()} kills\n`);
});

async function syncHere(warehouse: string) {
  const settings = { apiKey: new Secret(versionedKey), pageSize: 2, keep: 3, acceptChanges: true };
  return runSync(syncOptions(warehouse, service.url, settings), {}, isThorough ? bundledProject : project);
}

/** The version that a look shows. @throws if it does not show one whole snapshot. */
function versionOf({ failure, ids, figures }: Look): number {
  const found = Object.values(figures);
  const versions = new Set(found.flat());
  const isWhole = new Set(ids).size === 1 && versions.size === 1 && found.every((one) => one.length === regencies);
  if (failure !== null || !isWhole) throw new Error(failure ?? JSON.stringify({ ids, figures }));
  return [...versions][0]!;
}

const currentVersion = async (warehouse: string): Promise<number> => versionOf(await lookAt(warehouse, 'a test'));

/** Opens the current snapshot and keeps it open. The returned function reads its version, and closes it. */
async function holdOpen(warehouse: string): Promise<() => Promise<number[]>> {
  const file = join(await realpath(join(warehouse, 'current')), databaseFile);
  const database = await openDatabase(file, { readOnly: true });
  return async () => {
    const sql = 'SELECT DISTINCT dpt_male AS version FROM (FROM voters UNION ALL FROM voting_rights_users)';
    const rows = await database.rows<{ version: number }>(sql).finally(() => database.close());
    return rows.map(({ version }) => version);
  };
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
  const before = await currentVersion(warehouse);
  const askHeld = await holdOpen(warehouse);
  service.version += 1;
  const report = await dying.syncUntil(warehouse, death, after);
  const left = await currentVersion(warehouse);
  // A sync that lived to its end has published.
  expect(report === null ? [before, service.version] : [service.version]).toContain(left);
  const next = await syncHere(warehouse);
  expect(next.outcome).toBe(left === service.version ? 'unchanged' : 'published');
  expect(await currentVersion(warehouse)).toBe(service.version);
  await expectTidy(warehouse);
  // A reader that opened the snapshot before still has all of it, and nothing of the others.
  expect(await askHeld()).toEqual([before]);
  return report === null ? 'died' : 'lived';
}

/** A warehouse with a snapshot, and a reader that must have seen only whole ones when the test calls `stop`. */
async function watched() {
  const warehouse = await temporaryFolder();
  service.version += 1;
  const whole = (await dying.syncUntil(warehouse, {}))!;
  const reader = startReader(warehouse, 'a reader');
  const stop = async (): Promise<void> => {
    const looks = await reader.stop();
    expect(looks.length).toBeGreaterThan(0);
    looks.forEach(versionOf);
  };
  return { warehouse, whole, stop };
}

describe('a sync that is killed', () => {
  it('at a named step, is survived', patience, async () => {
    const { warehouse, whole, stop } = await watched();
    expect(whole).toMatchObject({ outcome: 'published', steps: runSteps });
    for (const step of named) expect(await survive(warehouse, { step }), step).toBe('died');
    await stop();
  });

  it('before a change to the file system, is survived', patience, async () => {
    const { warehouse, whole, stop } = await watched();
    // A later sync makes a few changes less, because the folders exist.
    const changes = Math.floor(whole.changes * 0.9);
    for (let death = 1; death <= deaths; death += 1) {
      const change = Math.ceil((changes * death) / (deaths + 1));
      expect(await survive(warehouse, { change }), `change ${change}`).toBe('died');
    }
    await stop();
  });

  it.runIf(isThorough)('at any moment, is survived', patience, async () => {
    const { warehouse, whole, stop } = await watched();
    // One that lives to its end counts for nothing; most die.
    let died = 0;
    for (let tries = 0; died < deaths && tries < 10 + 3 * deaths; tries += 1)
      if ((await survive(warehouse, {}, Math.random() * whole.milliseconds)) === 'died') died += 1;
    await stop();
    expect(died).toBe(deaths);
  });

  // Before the switch and after it; the steps between are those of any other sync.
  it.each(['switch current', 'record the run'])(
    'as the first of its warehouse, at "%s", is survived',
    patience,
    async (step) => {
      const warehouse = await temporaryFolder();
      expect(await dying.syncUntil(warehouse, { step })).toBeNull();
      expect((await syncHere(warehouse)).outcome).toBe(step === 'record the run' ? 'unchanged' : 'published');
      await expectTidy(warehouse);
    },
  );
});
