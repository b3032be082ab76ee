/** The last page is read, and no page twice. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a busy source loses no variable', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { 503: 0.2 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(await query('SELECT domain, count(*) AS n FROM variables GROUP BY ALL ORDER BY ALL'), [
    { domain: '0000', n: 37 },
    { domain: '1100', n: 20 },
    { domain: '3100', n: 8 },
  ]);
  await source.close();
  await rm(warehouse, { recursive: true });
});
