/** Every recall arrives, in whatever pages. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('truncated pages lose no recall', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { truncate: 0.2 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(
    await query('SELECT count(*) AS n, count(state) AS states, max(reported_on)::VARCHAR AS last FROM recalls'),
    [{ n: 90, states: 68, last: '2024-02-01' }],
  );
  await source.close();
  await rm(warehouse, { recursive: true });
});
