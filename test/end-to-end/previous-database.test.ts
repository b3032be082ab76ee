/** The DuckDB file of the snapshot before, altered or held open by somebody: the next sync goes on all the same, and loses no history. */

import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { databaseFile } from '../../src/warehouse/snapshot-format.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { holdDatabase } from '../support/hold-database.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readValue } from '../support/read-table.ts';
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

it('is for reading only once it is published', async () => {
  const { warehouse, known } = await twoSnapshots();
  for (const id of known) expect((await stat(join(warehouse, 'snapshots', id, databaseFile))).mode & 0o222).toBe(0);
});

it('where it was altered, the sync is refused with the repair, unless the loss of history is accepted', async () => {
  const { warehouse, known } = await twoSnapshots();
  await alter(warehouse, known[1]);
  const { url } = await serveData(nation(5));
  await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({
    code: 'warehouse',
    message: expect.stringContaining('is not the published one'),
    next: expect.stringContaining('"rekap snapshots rollback ID"'),
  });
  expect((await requireCurrent(warehouse)).id).toBe(known[1]);
  const { events } = await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
  expect(warningsOf(events)).toEqual([expect.stringContaining('A new history of snapshots and changes starts.')]);
  expect(await readValue(warehouse, 'SELECT count(*) FROM changes')).toBe('0');
});

it('where it is held, a sync is refused, and the snapshot stays', async () => {
  const { warehouse, known } = await twoSnapshots();
  const holder = await hold(warehouse, known[1]);
  const { url } = await serveData(nation(5));
  await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringContaining(holder),
  });
  expect((await requireCurrent(warehouse)).id).toBe(known[1]);
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
