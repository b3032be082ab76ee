/** The DuckDB file of the snapshot before, altered or held open by somebody: the next sync goes on all the same, and loses no history. */

import { chmod, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/duckdb/database.ts';
import { databaseFile } from '../../src/warehouse/snapshot-format.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { holdDatabase } from '../support/hold-database.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';

/** Each snapshot has a regency more in partition 1101 than the one before. */
const nation = (regencies: number) => smallNation({ 1101: regencies, 1102: 20 });
const twoSnapshots = preparedSnapshots(nation(3), nation(4));

/** The file of snapshot `id` gets a table of somebody's own. */
async function alter(warehouse: string, id: string): Promise<void> {
  const file = join(warehouse, 'snapshots', id, databaseFile);
  await chmod(file, 0o644);
  const database = await openDatabase(file);
  try {
    await database.run('CREATE TABLE scratch (x INTEGER); CHECKPOINT');
  } finally {
    database.close();
  }
}

/** Held where the test's user may write to it; no other can hold it. */
async function hold(warehouse: string, id: string): Promise<string> {
  const file = join(warehouse, 'snapshots', id, databaseFile);
  await chmod(file, 0o644);
  const { pid } = await holdDatabase(file);
  return `process ${pid}`;
}

/** What was said of the snapshot before. */
function warningsOf(events: readonly RunEvent[]): string[] {
  const said = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  return said.filter((message) => message.includes('napshot'));
}

const historySql =
  'SELECT snapshot_id, dataset, kind, count(*)::INTEGER AS columns FROM changes GROUP BY ALL ORDER BY ALL';
const logSql = 'FROM snapshots_log ORDER BY ALL';

/** What a third sync makes of it: the history of changes and the log of snapshots, beside those where nobody had touched the file. */
async function syncThird(warehouse: string, touch: (warehouse: string, newer: string) => Promise<unknown>) {
  const { id } = await requireCurrent(warehouse);
  await touch(warehouse, id);
  const { url } = await serveData(nation(5));
  const result = await runSync(syncOptions(warehouse, url));
  const own = new Set([result.run]);
  const rename = (row: Record<string, unknown>) => ({
    ...row,
    snapshot_id: own.has(String(row['snapshot_id'])) ? 'this' : row['snapshot_id'],
    source: undefined,
    published_at: own.has(String(row['snapshot_id'])) ? undefined : row['published_at'],
  });
  const [changes, log] = [await readRows(warehouse, historySql), await readRows(warehouse, logSql)];
  return {
    result,
    changes: (changes as Record<string, unknown>[]).map(rename),
    log: (log as Record<string, unknown>[]).map(rename),
  };
}

it('is for reading only once it is published', async () => {
  const { warehouse, known } = await twoSnapshots();
  for (const id of known) expect((await stat(join(warehouse, 'snapshots', id, databaseFile))).mode & 0o222).toBe(0);
});

it.each([
  [
    'altered',
    alter,
    /is read from its Parquet files\. Its DuckDB file is not the published one: .*(\d+ in the manifest|SHA-256)/,
  ],
  [
    'held open for writing',
    hold,
    /is read from its Parquet files\. .*rekap\.duckdb is open for writing in process \d+\.$/,
  ],
])('where it was %s the history goes on as if it had not been', async (_, touch, warning) => {
  const untouched = await syncThird((await twoSnapshots()).warehouse, async () => {});
  const touched = await syncThird((await twoSnapshots()).warehouse, touch);
  expect(warningsOf(untouched.result.events)).toEqual([]);
  expect(touched.result.outcome).toBe('published');
  expect(warningsOf(touched.result.events)).toEqual([expect.stringMatching(warning)]);
  expect(touched.changes).toEqual(untouched.changes);
  expect(new Set(touched.changes.map(({ snapshot_id }) => snapshot_id)).size).toBe(2);
  expect(touched.log).toEqual(untouched.log);
  expect(touched.log).toHaveLength(6);
});

it('where it is held a partition can be read anew, and the rest is carried over', async () => {
  const { warehouse, known } = await twoSnapshots();
  await hold(warehouse, known[1]);
  const { url } = await serveData(smallNation({ 1101: 5, 1102: 19 }));
  const result = await runSync(syncOptions(warehouse, url, { partitions: ['1101'] }));
  expect(result.outcome).toBe('published');
  const sizes = await readRows(
    warehouse,
    'SELECT dapil_id, count(*)::INTEGER AS n FROM voters GROUP BY ALL ORDER BY ALL',
  );
  expect(sizes).toEqual([
    { dapil_id: 1101, n: 5 },
    { dapil_id: 1102, n: 20 },
  ]);
});

it('where it is held and the source says nothing new, the snapshot stays', async () => {
  const { warehouse, known } = await twoSnapshots();
  await hold(warehouse, known[1]);
  const { url } = await serveData(nation(4));
  expect(await runSync(syncOptions(warehouse, url, { acceptSource: true }))).toMatchObject({ current: known[1] });
});

describe('where the snapshot before it is gone', () => {
  const onlyNewer = async () => {
    const { warehouse, known } = await twoSnapshots();
    await rm(join(warehouse, 'snapshots', known[0]), { recursive: true });
    const { url } = await serveData(nation(5));
    return { warehouse, id: known[1], sync: () => runSync(syncOptions(warehouse, url)) };
  };

  it('and it was altered, the log of snapshots begins with it, and the warning says so', async () => {
    const { warehouse, id, sync } = await onlyNewer();
    await alter(warehouse, id);
    const { events, run } = await sync();
    expect(warningsOf(events)).toEqual([
      expect.stringMatching(/The table snapshots_log now starts with this snapshot, because /),
    ]);
    const logged = await readRows<{ snapshot_id: string }>(warehouse, 'SELECT DISTINCT snapshot_id FROM snapshots_log');
    expect(logged.map(({ snapshot_id }) => snapshot_id).toSorted()).toEqual([id, run].toSorted());
    const changed = await readRows<{ snapshot_id: string }>(warehouse, 'SELECT DISTINCT snapshot_id FROM changes');
    expect(changed).toHaveLength(2);
  });

  it('and it is held, nothing is given up: whoever holds it is asked to close it', async () => {
    const { warehouse, id, sync } = await onlyNewer();
    const holder = await hold(warehouse, id);
    await expect(sync()).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining(holder) });
    expect((await requireCurrent(warehouse)).id).toBe(id);
  });
});

it('where neither it nor the Parquet files are what was published, the history begins anew, with a warning', async () => {
  const { warehouse, known } = await twoSnapshots();
  await alter(warehouse, known[1]);
  const changes = join(warehouse, 'snapshots', known[1], 'parquet', 'changes', 'changes.parquet');
  await writeFile(changes, (await readFile(changes)).subarray(1));
  const { url } = await serveData(nation(5));
  const { events } = await runSync(syncOptions(warehouse, url));
  expect(warningsOf(events)).toEqual([expect.stringContaining('A new history of snapshots and changes starts.')]);
  expect(await readValue(warehouse, 'SELECT count(*) FROM changes')).toBe('0');
});

it('where it is held, readers are told by whom, and nobody calls it damaged', async () => {
  const { warehouse, known } = await twoSnapshots();
  const holder = await hold(warehouse, known[1]);
  for (const words of [['query', 'FROM voters'], ['diff'], ['snapshots', 'verify'], ['serve', '--port', '0']]) {
    const { code, stderr } = await runHere([...words, '--warehouse', warehouse], { REKAP_API_KEYS: testKey });
    expect(code, words.join(' ')).toBe(5);
    expect(stderr).toContain(`is open for writing in ${holder}.`);
    expect(stderr).not.toContain('damaged');
  }
});
