/** A warehouse from before a dataset was declared stays usable: verified, refreshed in part and in whole, served and compared. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { voters } from '../support/bundled.ts';
import type { LoadedProject } from '../../src/project/load-project.ts';
import type { SyncOptions } from '../../src/publish/run.ts';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import { openFolderSource } from '../../src/serve/record-source.ts';
import { startService } from '../../src/serve/service.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { manifestHashLine } from '../../src/publish/manifest.ts';
import { diffSnapshots, loneDatasets } from '../../src/snapshots/diff-snapshots.ts';
import { verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { readSnapshot } from '../../src/warehouse/warehouse.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, smallNation } from '../support/served-source.ts';
import { project, syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const abroad = { ...voters, table: 'voters_abroad', path: '/api/datapemilihln' };
const three: LoadedProject = { ...project, pipelines: [...project.pipelines, abroad] };
const nation = smallNation({ 1101: 3, 1102: 12 });

/** A warehouse with one snapshot of two datasets. */
const ofTwo = preparedSnapshots(nation);

/** The service with the third dataset too, until the present test is over. */
async function serveThree(): Promise<string> {
  const folder = join(await temporaryFolder(), 'served');
  await mkdir(folder);
  const files = { ...nation, datapemilihln: nation.datapemilihdpr.slice(0, 5) };
  for (const [name, records] of Object.entries(files))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(records));
  const { pipelines } = three;
  const source = await openFolderSource(folder, pipelines);
  const keys = new ApiKeys([testKey]);
  const service = await startService({ pipelines, source, keys, host: '127.0.0.1', port: 0 });
  onTestFinished(() => service.close());
  return service.url;
}

/** A sync of the project with three datasets over the warehouse with two. */
async function syncThree(settings: Partial<SyncOptions> = {}) {
  const { warehouse, known } = await ofTwo();
  const [before] = known;
  const url = await serveThree();
  const again = (more: Partial<SyncOptions> = {}) => runSync(syncOptions(warehouse, url, more), {}, three);
  return { warehouse, before, result: await again(settings), again };
}

const countAbroad = (warehouse: string) => readRows(warehouse, 'SELECT count(*)::INTEGER AS n FROM voters_abroad');

describe('a verification', () => {
  it('finds a snapshot from before the dataset whole', async () => {
    const { warehouse, known } = await ofTwo();
    const [id] = known;
    expect((await verifyPublished(warehouse, id)).problems).toEqual([]);
  });

  it('names a dataset that the manifest lacks although the file holds its table', async () => {
    const { warehouse, known } = await ofTwo();
    const [id] = known;
    const file = join(warehouse, 'snapshots', id, 'manifest.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Manifest;
    const { voters: dropped, ...datasets } = manifest.datasets;
    expect(dropped).toBeDefined();
    await writeFile(file, JSON.stringify({ ...manifest, datasets }));
    await writeFile(`${file}.sha256`, manifestHashLine(await readFile(file)));
    const { problems } = await verifyPublished(warehouse, id);
    expect(problems).toEqual(['voters: rekap.duckdb contains the table, but the manifest does not list the dataset']);
  });
});

describe('a sync', () => {
  it('of everything publishes the new dataset beside the others', async () => {
    const { warehouse, result } = await syncThree();
    expect(result.outcome).toBe('published');
    expect(await countAbroad(warehouse)).toEqual([{ n: 5 }]);
    expect((await verifyPublished(warehouse, result.run)).problems).toEqual([]);
  });

  it('of an older dataset carries the rest over, and begins the new one as never read', async () => {
    const { warehouse, result, again } = await syncThree({ datasets: ['voters'] });
    expect(result.outcome).toBe('published');
    expect(result.manifest.datasets['voting_rights_users']).toMatchObject({ rows: 15, carried_over: 15 });
    expect(result.manifest.datasets['voters_abroad']).toMatchObject({ rows: 0, carried_over: 0, partitions: [] });
    expect((await verifyPublished(warehouse, result.run)).problems).toEqual([]);
    expect((await again()).outcome).toBe('published');
    expect(await countAbroad(warehouse)).toEqual([{ n: 5 }]);
  });

  it('of the new dataset carries the others over', async () => {
    const { warehouse, result } = await syncThree({ datasets: ['voters_abroad'], partitions: ['1101'] });
    expect(result.outcome).toBe('published');
    expect(result.manifest.datasets['voters']).toMatchObject({ rows: 15, carried_over: 15 });
    expect(await countAbroad(warehouse)).toEqual([{ n: 3 }]);
  });
});

it('is served, without records of the dataset that it does not have', async () => {
  const { warehouse } = await ofTwo();
  const source = await openWarehouseSource(warehouse, three.pipelines);
  onTestFinished(() => source.close());
  expect(three.pipelines.map((pipeline) => source.current(pipeline).records.length)).toEqual([15, 15, 0]);
});

describe('a comparison', () => {
  it('names the dataset that only one of the two snapshots has, in every format', async () => {
    const { warehouse, before, result } = await syncThree();
    const compared = {
      before: await readSnapshot(warehouse, before),
      after: await readSnapshot(warehouse, result.run),
    };
    expect(loneDatasets(compared)).toEqual([{ table: 'voters_abroad', rows: 5, snapshot: result.run }]);
    const sentence = `Only snapshot ${result.run} contains the dataset voters_abroad (5 rows).\n`;
    const table = await runHere(['diff', '--warehouse', warehouse]);
    expect(table.stdout).toContain(`No figures changed in the datasets that both snapshots contain.\n${sentence}`);
    const csv = await runHere(['diff', '--format', 'csv', '--warehouse', warehouse]);
    expect(csv).toMatchObject({ code: 0, stderr: sentence, stdout: expect.not.stringContaining('voters_abroad') });
  });

  it('of two snapshots without a common dataset finds no difference', async () => {
    const { warehouse, known } = await ofTwo();
    const [id] = known;
    const snapshot = await readSnapshot(warehouse, id);
    const rows = diffSnapshots([abroad], { before: snapshot, after: snapshot }, async (result) => {
      const found: unknown[] = [];
      for await (const group of result.groups()) found.push(...group);
      return found;
    });
    expect(await rows).toEqual([]);
  });
});
