/** A dump arrives as a whole, or not at all. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a truncated dump is read again', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { 503: 0.4, truncate: 0.4 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(await query('SELECT count(*) AS n, sum(crew) AS crew, sum(length) AS length FROM vessels'), [
    { n: 300, crew: 4350, length: '8820.0' },
  ]);
  await source.close();
  await rm(warehouse, { recursive: true });
});
