/** The votes of a region have its code, which is only the name of a member. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a busy source loses no region', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { 503: 0.2 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  const sums = 'SELECT count(*) AS n, count(DISTINCT region) AS regions, sum(first) AS first FROM votes';
  assert.deepEqual(await query(sums), [{ n: 15, regions: 15, first: 17367 }]);
  await source.close();
  await rm(warehouse, { recursive: true });
});
