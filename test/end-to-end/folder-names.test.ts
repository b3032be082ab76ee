/** A warehouse works in folders whose names mean something to DuckDB. */

import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = publishedNation();

it.each(['year=2024', 'dapil_id=9', 'snapshot_id=3/a b'])('%s holds a warehouse', async (name) => {
  const warehouse = join(await temporaryFolder(), name);
  await cp((await prepared()).warehouse, warehouse, { recursive: true, verbatimSymlinks: true });
  const before = await requireCurrent(warehouse);
  expect((await verifyPublished(warehouse, before.id)).problems).toEqual([]);
  const { url } = await serveData(smallNation({ 1101: 3, 1102: 12, 1201: 2 }));
  const { outcome } = await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
  expect(outcome).toBe('published');
});
