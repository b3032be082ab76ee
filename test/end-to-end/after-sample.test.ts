/** Sample figures are nobody's: a source that comes after them begins a new history, and they never come after a source. */

import { describe, expect, it } from 'vitest';
import { readCurrent, readCurrentId } from '../../src/warehouse/warehouse.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

const source = 'https://service.test';
const startsHistory = 'The warehouse contains sample figures. If this sync publishes, a new history starts.';

const sampleFigures = smallNation({ 1101: 20, 1102: 12 });

const filled = preparedWarehouse(async (warehouse) => {
  const { url } = await serveData(sampleFigures);
  return (await runSync(syncOptions(warehouse, url, { source: 'sample' }))).run;
});

/** A warehouse that was filled from the sample, and a service with far fewer figures. */
async function afterSample() {
  const { warehouse, known: sample } = await filled();
  const { url } = await serveData(smallNation({ 1201: 2 }));
  return { warehouse, sample, url };
}

describe('a sync from a service into a warehouse with sample figures', () => {
  it('begins a new history: nothing is compared, carried over or called a change', async () => {
    const { warehouse, sample, url } = await afterSample();
    const tried = await runSync(syncOptions(warehouse, url, { source, dryRun: true }));
    expect(tried).toMatchObject({ outcome: 'dry run', current: sample });
    const result = await runSync(syncOptions(warehouse, url, { source, partitions: ['1201'] }));
    expect(result).toMatchObject({ outcome: 'published', manifest: { previous: null, source } });
    expect(result.warnings).toContain(startsHistory);
    expect((await readCurrent(warehouse))?.manifest.warnings).toContain(startsHistory);
    const log = await readRows(warehouse, 'SELECT DISTINCT snapshot_id, source FROM snapshots_log');
    expect(log).toEqual([{ snapshot_id: result.run, source }]);
    expect(await readValue(warehouse, 'SELECT count(*) FROM changes')).toBe('0');
    expect(await readValue(warehouse, 'SELECT string_agg(DISTINCT dapil_id) FROM voters')).toBe('1201');
  });

  it('goes on from itself afterwards, can be replayed, and is not undone by the sample', async () => {
    const { warehouse, sample, url } = await afterSample();
    const { run } = await runSync(syncOptions(warehouse, url, { source }));
    expect(await runReplay(warehouse)).toMatchObject({ outcome: 'reproduced', run });
    const again = await runSync(syncOptions(warehouse, url, { source }));
    expect(again.outcome).toBe('unchanged');
    expect(again.warnings).not.toContain(startsHistory);
    const back = runSync(syncOptions(warehouse, (await serveData(sampleFigures)).url, { source: 'sample' }));
    await expect(back).rejects.toMatchObject({
      code: 'source-mismatch',
      // Nobody is led to put made-up figures over real ones.
      next: expect.not.stringContaining('--accept-source'),
    });
    expect(await readCurrentId(warehouse)).toBe(run);
    const rollBack = (id: string) => runHere(['snapshots', 'rollback', id, '--warehouse', warehouse]);
    expect(await rollBack(sample)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`The next sync from ${source} starts a new history.`),
    });
    for (let turn = 0; turn < 2; turn += 1) expect(await rollBack(run)).toMatchObject({ code: 0, stderr: '' });
  });
});
