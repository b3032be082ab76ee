/** A log beside a published DuckDB file, which DuckDB would replay: no reader shows its figures, and each says what lies there. */

import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attachReadOnly, openDatabase } from '../../src/runtime/database.ts';
import { queryToParquet, runQuery } from '../../src/snapshots/query/run-query.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }));

/** A warehouse whose current snapshot has a log beside it that a writer would leave: every count in it is a million. */
async function forged() {
  const { warehouse, known } = await prepared();
  const [before, after] = known;
  const file = join(warehouse, 'snapshots', after, 'rekap.duckdb');
  const copy = join(await temporaryFolder(), 'rekap.duckdb');
  await copyFile(file, copy);
  const writer = await openDatabase(copy);
  try {
    await writer.run('UPDATE voters SET grand_total = 1000000');
    await copyFile(`${copy}.wal`, `${file}.wal`);
  } finally {
    writer.close();
  }
  return { warehouse, before, after, file, log: `${file}.wal` };
}

describe('a log beside the DuckDB file', () => {
  it.each([
    [['query', 'SELECT sum(grand_total) FROM voters']],
    [['query', 'FROM voters', '--out', 'voters.parquet']],
    [['shell', '--duckdb']],
    [['diff']],
    [['serve', '--port', '0']],
    [['snapshots', 'show']],
  ])('keeps a reader from its figures, and says what leads out: %j', async (words) => {
    const { warehouse, after, log } = await forged();
    const result = await runHere([...words, '--warehouse', warehouse], { REKAP_API_KEYS: testKey });
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(log) });
    expect(result.stderr).toContain(`"rekap snapshots verify ${after} --warehouse ${warehouse}"`);
    expect(result.stderr).toContain(`"rekap snapshots list --warehouse ${warehouse}"`);
  });

  it('is named by the list of snapshots, their verification and a rollback', async () => {
    const { warehouse, after } = await forged();
    const list = await runHere(['snapshots', 'list', '--json', '--warehouse', warehouse]);
    expect(JSON.parse(list.stdout)).toMatchObject([
      { damaged: null },
      { id: after, damaged: expect.stringContaining('rekap.duckdb.wal') },
    ]);
    for (const words of [['verify'], ['rollback', after]]) {
      const { code, stderr } = await runHere(['snapshots', ...words, '--warehouse', warehouse]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('rekap.duckdb.wal')]);
    }
  });

  it('is not replayed by the next sync, which goes on from the Parquet files and says so', async () => {
    const { warehouse, after } = await forged();
    const { url } = await serveData(smallNation({ 1101: 22 }));
    const { events, run } = await runSync(syncOptions(warehouse, url));
    const said = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    expect(said).toContainEqual(expect.stringContaining('rekap.duckdb.wal exists next to it'));
    const old = await readRows(warehouse, `SELECT DISTINCT kind FROM changes WHERE snapshot_id = '${run}'`);
    expect([run === after, old]).toEqual([false, [{ kind: 'added' }]]);
  });

  it.each(['.wal', '.wal.checkpoint', '.wal.recovery'])(
    'is looked for by whatever opens the file for reading: rekap.duckdb%s',
    async (ending) => {
      const { file, log } = await forged();
      await rename(log, `${file}${ending}`);
      const target = join(await temporaryFolder(), 'out.parquet');
      await expect(openDatabase(file, { readOnly: true })).rejects.toThrow(
        expect.objectContaining({ code: 'warehouse' }),
      );
      await expect(runQuery(file, 'SELECT 1', async () => null)).rejects.toThrow(
        expect.objectContaining({ code: 'warehouse' }),
      );
      await expect(queryToParquet(file, 'SELECT 1', target)).rejects.toThrow(
        expect.objectContaining({ code: 'warehouse' }),
      );
      const memory = await openDatabase(':memory:');
      try {
        await expect(attachReadOnly(memory, file, 'old')).rejects.toThrow(
          expect.objectContaining({ code: 'warehouse' }),
        );
      } finally {
        memory.close();
      }
    },
  );
});
