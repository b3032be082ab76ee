/**
 * A long life of one warehouse: figures are restated, syncs killed, snapshots gone back to and replayed, while readers look on. All of it
 * is written down and judged afterwards: whoever looked saw one whole snapshot, and the one that was current then.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/source/secret.ts';
import { rollBack } from '../../src/snapshots/manage-snapshots.ts';
import { listLandedIds, listSnapshotIds } from '../../src/warehouse/warehouse.ts';
import { type Act, judgeHistory, type Look } from './judge-history.ts';
import { look, startReader } from './reader.ts';
import { exportByQuery, noPython, reckon } from './reckon.ts';
import type { Death } from '../support/crash-child.ts';
import { startDyingSyncs } from '../support/dying-syncs.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { regencies, startVersionedService, versionedKey } from '../support/versioned-service.ts';

/** Versions that the source gives one after another; REKAP_HISTORY=200 makes a long life. */
const versions = Number(process.env['REKAP_HISTORY'] ?? 4);
/** The same seed draws the same acts; a kill after some milliseconds may come upon another moment. */
const seed = process.env['REKAP_HISTORY_SEED'] ?? String(Math.floor(Math.random() * 2 ** 32));

type Drawn = 'sync' | 'sync again' | 'kill at a change' | 'kill in time' | 'rollback' | 'replay';

/** Of eight versions three are killed; between them the same version is synced again, and snapshots are gone back to and replayed. */
function drawActs(): Drawn[] {
  const ofEight: Drawn[] = ['kill at a change', 'kill at a change', 'kill in time', ...Array<Drawn>(5).fill('sync')];
  const besides: Drawn[] = ['rollback', 'rollback', 'replay', 'sync again'];
  const deck = Array.from({ length: versions }, (_, at) => ofEight[at % 8]!);
  for (let at = 0; at < versions / 2; at += 1) deck.push(besides[at % besides.length]!);
  return deck
    .map((drawn, at) => ({ drawn, place: draw(`place ${at}`) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ drawn }) => drawn);
}

/** A number from 0 up to 1, by the seed and by what it is for. */
function draw(what: string): number {
  return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() / 2 ** 32;
}

function choose<Item>(items: readonly Item[], at: number): Item {
  return items[Math.floor(at * items.length)]!;
}

/** A warehouse, the source that it is filled from, and what has been done and seen. */
async function beginHistory() {
  const folder = await temporaryFolder();
  const warehouse = join(folder, 'warehouse');
  const service = await startVersionedService();
  const dying = startDyingSyncs(service.url);
  onTestFinished(async () => {
    dying.close();
    await service.close();
  });
  const acts: Act[] = [];
  const looks: Look[] = [];

  /** Does one thing, looks at what is current then, and writes both down. Gives what the act gave; null where it died. */
  async function note<Given>(kind: Act['kind'], wanted: string | null, act: () => Promise<Given>): Promise<Given> {
    const began = performance.now();
    const given = await act();
    const ended = performance.now();
    const seen = await look(warehouse, 'after an act');
    looks.push(seen);
    const after = { current: seen.ids[0] ?? null, hash: seen.hash };
    acts.push({ kind, began, ended, died: given === null, version: service.version, wanted, ...after });
    return given;
  }

  const options = { apiKey: new Secret(versionedKey), pageSize: 2, keep: 3, acceptChanges: true };

  /** Ids that have been current and are still there, oldest first. */
  const among = async (ids: Promise<string[]>): Promise<string[]> =>
    (await ids).filter((id) => acts.some(({ current }) => current === id));

  return {
    warehouse,
    exports: join(folder, 'exports'),
    acts,
    looks,
    kills: () => dying.kills(),
    restate: () => (service.version += 1),
    sync: () => note('sync', null, () => runSync(syncOptions(warehouse, service.url, options))),
    /** One in a process of its own, which may die. */
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
const patience = 60_000 + versions * 5000;

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
        if (drawn === 'kill at a change') await history.syncUntil({ change: 1 + Math.floor(at * whole.changes) });
        else if (drawn === 'kill in time') await history.syncUntil({}, at * whole.milliseconds);
        else await history.sync();
      }
    }
    for (const reader of readers) looks.push(...(await reader.stop()));
    const lines = await readRunLines(warehouse);
    const published = new Set(
      lines.flatMap(({ outcome, run }) => (outcome === 'published' && run !== null ? [run] : [])),
    );
    if (process.env['REKAP_HISTORY'] !== undefined)
      process.stdout.write(`${acts.length} acts, ${history.kills()} kills, ${looks.length} looks\n`);
    expect(judgeHistory({ acts, looks, published, rows: regencies }), repeat).toEqual([]);
    expect(history.kills(), repeat).toBeGreaterThan(0);

    await history.sync();
    if (noPython !== null) return;
    await exportByQuery(warehouse, history.exports);
    expect(reckon(warehouse, history.exports), repeat).toMatchObject({ status: 0, leftOut: [], differences: [] });
  },
);
