/**
 * The history of one warehouse with restated figures, killed syncs, rollbacks and replays, and concurrent readers. Afterwards, a judge
 * checks that every read saw one whole snapshot, which was current at that time.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/source/secret.ts';
import { rollBack } from '../../src/snapshots/manage-snapshots.ts';
import { listLandedIds, listSnapshotIds } from '../../src/warehouse/warehouse.ts';
import { type Act, judgeHistory, type Look } from './judge-history.ts';
import { look, startReader } from './reader.ts';
import { exportByQuery, noPython, recomputeTables } from './recompute.ts';
import type { Death } from '../support/crash-child.ts';
import { startDyingSyncs } from '../support/dying-syncs.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runReplay } from '../support/run-replay.ts';
import { runBundledSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { regencies, startVersionedService, versionedKey } from '../support/versioned-service.ts';

/** Number of versions of the source; REKAP_HISTORY=200 makes a long history. */
const isLong = process.env['REKAP_HISTORY'] !== undefined;
const versions = Number(process.env['REKAP_HISTORY'] ?? 2);
/** The same seed draws the same acts, but a kill after some milliseconds may hit another moment. */
const seed = process.env['REKAP_HISTORY_SEED'] ?? (isLong ? String(Math.floor(Math.random() * 2 ** 32)) : '1');

type Drawn = 'sync' | 'sync again' | 'kill at a change' | 'kill in time' | 'rollback' | 'replay';

/** Three of eight versions are killed. Between them are rollbacks, replays and syncs of the same version. */
function drawActs(): Drawn[] {
  const ofEight: Drawn[] = [
    'kill at a change',
    'sync',
    'kill at a change',
    'kill in time',
    ...Array<Drawn>(4).fill('sync'),
  ];
  const besides: Drawn[] = ['rollback', 'replay', 'rollback', 'sync again'];
  const deck = Array.from({ length: versions }, (_, at) => ofEight[at % 8]!);
  for (let at = 0; at < versions / 2; at += 1) deck.push(besides[at % besides.length]!);
  return deck
    .map((drawn, at) => ({ drawn, place: draw(`place ${at}`) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ drawn }) => drawn);
}

/** A number from 0 to 1 that depends on the seed and its purpose. */
function draw(what: string): number {
  return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() / 2 ** 32;
}

function choose<Item>(items: readonly Item[], at: number): Item {
  return items[Math.floor(at * items.length)]!;
}

/** A warehouse, its source, and a log of acts and reads. */
async function beginHistory() {
  const folder = await temporaryFolder();
  const warehouse = join(folder, 'warehouse');
  const service = await startVersionedService();
  const dying = startDyingSyncs(service.url, true);
  onTestFinished(async () => {
    dying.close();
    await service.close();
  });
  const acts: Act[] = [];
  const looks: Look[] = [];

  /** Performs an act, reads the current snapshot, and logs both. Returns the result of the act, or null if it was killed. */
  async function note<Result>(kind: Act['kind'], wanted: string | null, act: () => Promise<Result>): Promise<Result> {
    const began = performance.now();
    const result = await act();
    const ended = performance.now();
    const seen = await look(warehouse, 'after an act');
    looks.push(seen);
    const after = { current: seen.ids[0] ?? null, hash: seen.hash };
    acts.push({ kind, began, ended, died: result === null, version: service.version, wanted, ...after });
    return result;
  }

  const options = { apiKey: new Secret(versionedKey), pageSize: 2, keep: 3, acceptChanges: true };

  /** Existing ids that have been current, oldest first. */
  const among = async (ids: Promise<string[]>): Promise<string[]> =>
    (await ids).filter((id) => acts.some(({ current }) => current === id));

  return {
    warehouse,
    exports: join(folder, 'exports'),
    acts,
    looks,
    kills: () => dying.kills(),
    restate: () => (service.version += 1),
    sync: () => note('sync', null, () => runBundledSync(syncOptions(warehouse, service.url, options))),
    /** In its own process, which may be killed. */
    syncUntil: (death: Partial<Death>, after?: number) =>
      note('sync', null, () => dying.syncUntil(warehouse, death, after)),
    async rollBack(at: number) {
      const id = choose(await among(listSnapshotIds(warehouse)), at);
      await note('rollback', id, () => rollBack(warehouse, id));
    },
    async replay(at: number) {
      const run = choose(await among(listLandedIds(warehouse)), at);
      await note('replay', null, () => runReplay(warehouse, { run, acceptChanges: true }));
    },
  };
}

const repeat = `REKAP_HISTORY=${versions} REKAP_HISTORY_SEED=${seed} npx vitest run test/oracle/history.test.ts`;
const patience = 600_000 + versions * 5000;

it(
  `shows every reader the one snapshot that is current, over ${versions} versions`,
  { timeout: patience },
  async () => {
    const history = await beginHistory();
    const { warehouse, acts, looks } = history;
    const whole = (await history.syncUntil({}))!;
    const readers = ['a', 'b'].map((name) => startReader(warehouse, name));
    for (const [index, drawn] of drawActs().entries()) {
      const at = draw(`act ${index}`);
      if (drawn === 'rollback') await history.rollBack(at);
      else if (drawn === 'replay') await history.replay(at);
      else {
        if (drawn !== 'sync again') history.restate();
        // A later sync makes a few changes less, because the folders exist.
        if (drawn === 'kill at a change') await history.syncUntil({ change: 1 + Math.floor(at * 0.9 * whole.changes) });
        else if (drawn === 'kill in time') await history.syncUntil({}, at * whole.milliseconds);
        else await history.sync();
      }
    }
    for (const reader of readers) looks.push(...(await reader.stop()));
    const lines = await readRunLines(warehouse);
    const published = new Set(
      lines.flatMap(({ outcome, run }) => (outcome === 'published' && run !== null ? [run] : [])),
    );
    if (isLong) process.stdout.write(`${acts.length} acts, ${history.kills()} kills, ${looks.length} looks\n`);
    expect(judgeHistory({ acts, looks, published, rows: regencies }), repeat).toEqual([]);
    expect(history.kills(), repeat).toBeGreaterThan(0);

    await history.sync();
    if (noPython !== null) return;
    await exportByQuery(warehouse, history.exports);
    expect(recomputeTables(warehouse, history.exports), repeat).toMatchObject({
      status: 0,
      leftOut: [],
      differences: [],
    });
  },
);
