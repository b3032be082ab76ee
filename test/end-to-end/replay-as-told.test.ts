/** A replay keeps to what its run was told: what was accepted then needs no second word. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rollBack } from '../../src/snapshots/manage-snapshots.ts';
import { nation } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A warehouse whose second snapshot the gate would have refused, had it not been accepted. */
const accepted = preparedWarehouse(async (warehouse) => {
  const before = await runSync(syncOptions(warehouse, (await serveData(smallNation(nation))).url));
  const { url } = await serveData(smallNation({ 1101: 3 }));
  const after = await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
  return { before, after };
});

describe('replaying a run that was published with --accept-changes', () => {
  it('reproduces its snapshot', async () => {
    const { warehouse, known } = await accepted();
    expect(await runReplay(warehouse)).toMatchObject({ outcome: 'reproduced', run: known.after.run });
  });

  it('restores it where the snapshot before is gone too', async () => {
    const { warehouse, known } = await accepted();
    const { before, after } = known;
    for (const { run } of [before, after]) await rm(join(warehouse, 'snapshots', run), { recursive: true });
    expect(await runReplay(warehouse, { run: after.run })).toMatchObject({ outcome: 'published', run: after.run });
  });
});

it('needs no second word for another source that its run was told to accept', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation(nation));
  const first = await runSync(syncOptions(warehouse, url));
  const moved = await runSync(syncOptions(warehouse, url, { source: 'https://moved', acceptSource: true }));
  await rollBack(warehouse, first.run);
  await rm(join(warehouse, 'pinned'));
  await rm(join(warehouse, 'snapshots', moved.run), { recursive: true });
  const replayed = await runReplay(warehouse, { run: moved.run });
  expect(replayed).toMatchObject({ outcome: 'published', current: moved.run });
});
