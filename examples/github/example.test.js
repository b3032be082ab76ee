/** Issues arrive with their labels, which stay JSON. */

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openWarehouse, sync } from 'rekap';
import { manualClock, startSource } from 'rekap/testing';

const project = fileURLToPath(new URL('.', import.meta.url));

test('a busy source loses no issue', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'example-'));
  const source = await startSource({ project, faults: { 503: 0.2 } });
  await sync({ project, baseUrl: source.url, apiKey: source.apiKey, warehouse, clock: manualClock() });
  const { query } = await openWarehouse(warehouse);
  assert.deepEqual(
    await query(
      'SELECT count(*) AS n, count(closed_at) AS closed, sum(comments) AS comments, count(author) AS authors FROM issues',
    ),
    [{ n: 64, closed: 22, comments: 126, authors: 60 }],
  );
  await source.close();
  await rm(warehouse, { recursive: true });
});
