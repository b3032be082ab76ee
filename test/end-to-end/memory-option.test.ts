/** A sync builds its tables within the memory that it is given. */

import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { readParquetSql } from '../../src/runtime/database.ts';
import { ask } from '../load/support.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Otherwise a view that reads a setting is refused.
vi.mock('../../src/load/analyze-sql.ts', () => ({
  findImpurities: (_: unknown, queries: readonly string[]) => queries.map(() => null),
  findConstants: () => [],
}));

it('limits DuckDB to it', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation({ 1101: 3 }));
  const limit = {
    name: 'limits',
    sql: "SELECT current_setting('memory_limit') AS memory",
    comment: 'The memory limit.',
    columns: { memory: 'The memory limit.' },
  };
  const settings = syncOptions(warehouse, url, { memory: 128 * 2 ** 20 });
  const { run } = await runSync(settings, {}, { ...project, models: [limit], checks: [] });
  const file = join(warehouse, 'snapshots', run, parquetPath('limits'));
  expect(await ask(':memory:', `FROM ${readParquetSql(file)}`)).toEqual([{ memory: '128.0 MiB' }]);
});
