/** A warehouse from before a dataset was declared stays usable: verified, refreshed in part and in whole, served and compared. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { voters } from '../support/bundled.ts';
import type { LoadedProject } from '../../src/project/load-project.ts';
import type { SyncOptions } from '../../src/publish/run.ts';
import { buildRecordSet, fixedSource, readRecord } from '../../src/serve/record-source.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { manifestHashLine } from '../../src/publish/manifest.ts';
import { diffSnapshots, loneDatasets } from '../../src/snapshots/diff-snapshots.ts';
import { verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { readSnapshot } from '../../src/warehouse/warehouse.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveSource, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';

const abroad = { ...voters, table: 'voters_abroad', path: '/api/datapemilihln' };
const three: LoadedProject = { ...project, pipelines: [...project.pipelines, abroad] };
const nation = smallNation({ 1101: 3, 1102: 12 });
const { datapemilihdpr, datahakpilihdpr } = nation;

/** A warehouse with one snapshot of two datasets. */
const ofTwo = preparedSnapshots(nation);

/** The warehouse with two datasets, and a sync of the project with three. */
async function withThree() {
  const { warehouse, known } = await ofTwo();
  const sets = [datapemilihdpr, datahakpilihdpr, datapemilihdpr.slice(0, 5)].map((records, place) => {
    const pipeline = three.pipelines[place]!;
    const read = records.map((record) => readRecord(JSON.stringify(record), pipeline));
    return [pipeline.table, buildRecordSet(read, new Date(0))] as const;
  });
  const { url } = await serveSource(fixedSource(new Map(sets)), undefined, three);
  const sync = (more: Partial<SyncOptions> = {}) => runSync(syncOptions(warehouse, url, more), {}, three);
  return { warehouse, before: known[0], sync };
}

const countAbroad = (warehouse: string) => readRows(warehouse, 'SELECT count(*)::INTEGER AS n FROM voters_abroad');

it('a snapshot of all datasets has the new one beside the others, and a difference names it', async () => {
  const { warehouse, before, sync } = await withThree();
  const { outcome, run } = await sync();
  expect(outcome).toBe('published');
  expect(await countAbroad(warehouse)).toEqual([{ n: 5 }]);
  const compared = { before: await readSnapshot(warehouse, before), after: await readSnapshot(warehouse, run) };
  expect(loneDatasets(compared)).toEqual([{ table: 'voters_abroad', rows: 5, snapshot: run }]);
  const sentence = `Only snapshot ${run} contains the dataset voters_abroad (5 rows).\n`;
  const table = await runHere(['diff', '--warehouse', warehouse]);
  expect(table.stdout).toContain(`No figures changed in the datasets that both snapshots contain.\n${sentence}`);
  const csv = await runHere(['diff', '--format', 'csv', '--warehouse', warehouse]);
  expect(csv).toMatchObject({ code: 0, stderr: sentence, stdout: expect.not.stringContaining('voters_abroad') });
  const none = diffSnapshots([abroad], { before: compared.before, after: compared.before }, async (result) => {
    const found: unknown[] = [];
    for await (const group of result.groups()) found.push(...group);
    return found;
  });
  expect(await none).toEqual([]);
});

it('a sync of an older dataset begins the new one as never read; a sync of the new one carries the others over', async () => {
  const { warehouse, sync } = await withThree();
  const { manifest, run } = await sync({ datasets: ['voters'] });
  expect(manifest.datasets['voting_rights_users']).toMatchObject({ rows: 15, carried_over: 15 });
  expect(manifest.datasets['voters_abroad']).toMatchObject({ rows: 0, carried_over: 0, partitions: [] });
  expect((await verifyPublished(warehouse, run)).problems).toEqual([]);
  const ofNew = await sync({ datasets: ['voters_abroad'], partitions: ['1101'] });
  expect(ofNew.manifest.datasets['voters']).toMatchObject({ rows: 15, carried_over: 15 });
  expect(await countAbroad(warehouse)).toEqual([{ n: 3 }]);
});

it('an older snapshot is served and verified without the new dataset, but a dataset missing from its manifest is found', async () => {
  const { warehouse, known } = await ofTwo();
  const [id] = known;
  const source = await openWarehouseSource(warehouse, three.pipelines);
  onTestFinished(() => source.close());
  expect(three.pipelines.map((pipeline) => source.current(pipeline).records.length)).toEqual([15, 15, 0]);
  expect((await verifyPublished(warehouse, id)).problems).toEqual([]);
  const file = join(warehouse, 'snapshots', id, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
  const { voters: _dropped, ...datasets } = manifest.datasets;
  await writeFile(file, JSON.stringify({ ...manifest, datasets }));
  await writeFile(`${file}.sha256`, manifestHashLine(await readFile(file)));
  expect((await verifyPublished(warehouse, id)).problems).toEqual(['manifest.json: the dataset voters is missing']);
});
