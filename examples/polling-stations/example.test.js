/** Every station arrives, also from a source that is busy and caps its pages. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a cap, a busy source and repeated pages lose no station', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { clamp: 25, 503: 0.2, repeat: 0.1 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(await query('SELECT count(*) AS n, sum(ballots) AS ballots FROM results'), [
    { n: 195, ballots: 60243 },
  ]);
  await source.close();
  await rm(warehouse, { recursive: true });
});
