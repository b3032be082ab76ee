/** Every digit of every amount arrives. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a cap and a busy source lose no payment and no digit', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { clamp: 25, 503: 0.2 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(await query('SELECT count(*) AS n, count(payee) AS payees, sum(gross) AS gross FROM payments'), [
    { n: 233, payees: 186, gross: '27261000000000000225.55' },
  ]);
  await source.close();
  await rm(warehouse, { recursive: true });
});
