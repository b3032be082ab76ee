/** The manifest gives the rows of every Parquet file, not only of those that hold a dataset. */

import { join } from 'node:path';
import { expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import { exported } from '../load/support.ts';
import { readRows } from '../support/read-table.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('names as many rows of each Parquet file as it has', async () => {
  const warehouse = await temporaryFolder();
  await runSync(syncOptions(warehouse, (await serveData(smallNation({ 1101: 20 }))).url));
  const doubtful = smallNation({ 1101: 20 });
  const [first, second] = doubtful.datapemilihdpr;
  first!['JumlahPemilihLakiLakiDalamDPT'] = 'x';
  second!['JumlahPemilihLakiLakiDalamDPK'] = '7';
  doubtful.datahakpilihdpr.push({ ...doubtful.datahakpilihdpr[0]!, NamaKabupaten: null });
  const { manifest } = await runSync(syncOptions(warehouse, (await serveData(doubtful)).url));
  const folder = join(warehouse, 'snapshots', manifest.snapshot);
  const [database, ...others] = manifest.files;
  const files = others.filter(({ path }) => path.endsWith('.parquet'));
  expect(database).toMatchObject({ path: 'rekap.duckdb', rows: null });
  expect(files).toHaveLength(exported.length);
  for (const { path, rows } of files) {
    const [row] = await readRows<{ n: number }>(
      warehouse,
      `SELECT count(*)::INTEGER AS n FROM read_parquet(${quoteText(join(folder, path))})`,
    );
    expect(row!.n, path).toBeGreaterThan(0);
    expect(rows, path).toBe(row!.n);
  }
});
