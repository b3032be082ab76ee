/** A damaged DuckDB file: every reader refuses it, says what is wrong, and names the repair. */

import { copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attachReadOnly, openDatabase } from '../../src/runtime/database.ts';
import { queryToParquet, runQuery } from '../../src/snapshots/query/run-query.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }));

async function twoSnapshots() {
  const { warehouse, known } = await prepared();
  const [, after] = known;
  return { warehouse, after, database: join(warehouse, 'snapshots', after, 'rekap.duckdb') };
}

/** Puts a log beside the file, as a writer would leave it: in it, every count is a million. */
async function addLog(database: string): Promise<void> {
  const copy = join(await temporaryFolder(), 'rekap.duckdb');
  await copyFile(database, copy);
  const writer = await openDatabase(copy);
  try {
    await writer.run('UPDATE voters SET grand_total = 1000000');
    await copyFile(`${copy}.wal`, `${database}.wal`);
  } finally {
    writer.close();
  }
}

async function replace(database: string): Promise<void> {
  await rm(database, { force: true });
  await writeFile(database, 'not a database');
}

const damages = [
  ['missing', (database: string) => rm(database), 'rekap.duckdb is missing.', 'rekap snapshots rollback ID'],
  ['another file', replace, 'is not a valid DuckDB database file', 'rekap snapshots verify'],
  ['beside a log', addLog, 'rekap.duckdb.wal', 'rekap snapshots verify ID'],
] as const;

const readers: string[][] = [['query', 'SELECT sum(grand_total) FROM voters'], ['diff'], ['serve', '--port', '0']];

describe.each(damages)('a DuckDB file that is %s', (_, damage, message, repair) => {
  it('is refused by every reader with its repair, and keeps a sync from continuing its history', async () => {
    const { warehouse, after, database } = await twoSnapshots();
    await damage(database);
    for (const words of readers) {
      const result = await runHere([...words, '--warehouse', warehouse], { REKAP_API_KEYS: testKey });
      expect(result, words[0]).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
      expect(result.stderr).toContain(repair.replace('verify ID', `verify ${after}`));
    }
    const { url } = await serveData(smallNation({ 1101: 22 }));
    await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({
      code: 'warehouse',
      next: expect.stringContaining(after),
    });
  });
});

it('a log is named by the list of snapshots, their verification and a rollback', async () => {
  const { warehouse, after, database } = await twoSnapshots();
  await addLog(database);
  const list = await runHere(['snapshots', '--json', '--warehouse', warehouse]);
  expect(JSON.parse(list.stdout)).toMatchObject([
    { damaged: null },
    { id: after, damaged: expect.stringContaining('rekap.duckdb.wal') },
  ]);
  for (const words of [['verify'], ['rollback', after]]) {
    const { code, stderr } = await runHere(['snapshots', ...words, '--warehouse', warehouse]);
    expect([code, stderr]).toEqual([1, expect.stringContaining('rekap.duckdb.wal')]);
  }
});

it.each(['.wal', '.wal.checkpoint', '.wal.recovery'])('rekap.duckdb%s is never applied', async (ending) => {
  const { database } = await twoSnapshots();
  await addLog(database);
  await rename(`${database}.wal`, `${database}${ending}`);
  const target = join(await temporaryFolder(), 'out.parquet');
  const memory = await openDatabase(':memory:');
  try {
    for (const read of [
      () => openDatabase(database, { readOnly: true }),
      () => runQuery(database, 'SELECT 1', async () => null),
      () => queryToParquet(database, 'SELECT 1', target),
      () => attachReadOnly(memory, database, 'old'),
    ])
      await expect(read()).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
  } finally {
    memory.close();
  }
});
