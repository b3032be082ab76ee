/** A test source serves records as the project declares them, and tells what was requested. */

import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sync } from '../../src/index.ts';
import { isRekapError } from '../../src/errors.ts';
import { openWarehouse } from '../../src/snapshots/open-warehouse.ts';
import type { Auth, ProjectDeclaration } from '../../src/project/declaration.ts';
import { count, definePipeline, endpoint, text } from '../../src/project/define.ts';
import { loadProject } from '../../src/project/load-project.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { type SourceSettings, startSource, type TestSource } from '../../src/testing/start-source.ts';
import { type FaultTrial, tryFaults } from '../../src/testing/try-faults.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const stations = definePipeline({
  table: 'stations',
  path: '/v1/stations',
  partition: {
    parameter: 'region',
    column: 'region',
    values: endpoint('/v1/regions', 'code', { records: '/regions' }),
  },
  columns: { region: text('Region'), name: text('Name'), seats: count('Seats') },
  key: ['region', 'name'],
});
const project: ProjectDeclaration = {
  name: 'stations',
  paging: { by: 'page', page: 'page', size: 'per_page' },
  records: '/results',
  pipelines: [stations],
};
const records = {
  stations: Array.from({ length: 90 }, (_, at) => ({ Region: `AA-${at % 3}`, Name: `N${at}`, Seats: String(at) })),
};

async function start(settings: SourceSettings): Promise<TestSource> {
  const source = await startSource({ project, records, ...settings });
  onTestFinished(() => source.close());
  return source;
}

describe('a test source', () => {
  it.each<[string, Auth]>([
    ['a header', { header: 'x-key' }],
    ['a bearer token', { bearer: true }],
    ['a user and a password', { basic: true }],
    ['a query parameter', { query: 'token' }],
  ])('accepts its key as %s, and never shows it', async (_what, auth) => {
    const own = { ...project, auth };
    const source = await start({ project: own });
    const warehouse = await temporaryFolder();
    await sync({ project: own, baseUrl: source.url, apiKey: source.apiKey, warehouse });
    expect(await (await openWarehouse(warehouse)).query('SELECT count(*) AS n FROM stations')).toEqual([{ n: 90 }]);
    expect(source.requests).toContainEqual(expect.stringMatching(/^\/v1\/regions\?/));
    expect(source.requests.join(' ')).not.toContain(source.apiKey.slice(-20));
    const refused = sync({ project: own, baseUrl: source.url, apiKey: 'another-key:123456', warehouse });
    await expect(refused).rejects.toMatchObject({ code: 'source-refused-key' });
  });

  it('counts its faults, and returns other records after they are replaced', async () => {
    const source = await start({ faults: { clamp: 10, 503: 0.2 } });
    const [warehouse, options] = [await temporaryFolder(), { project, baseUrl: source.url, clock: manualClock() }];
    await sync({ ...options, warehouse });
    expect([...source.faultCounts.keys()].toSorted()).toEqual(['503', 'clamp']);
    source.setFaults({});
    source.setRecords({ stations: records.stations.map((one, at) => (at === 0 ? { ...one, Seats: '1' } : one)) });
    await sync({ ...options, warehouse });
    const { diff } = await openWarehouse(warehouse);
    expect(await diff()).toMatchObject([{ name: 'N0', column_name: 'seats', old_value: '0', new_value: '1' }]);
  });

  it('serves two lists of one path by their parameters', async () => {
    const columns = { name: text('Name') };
    const own = (table: string, id: string) =>
      definePipeline({ table, path: '/list', parameters: { id }, columns, key: ['name'] });
    const both = { ...project, pipelines: [own('first', '1'), own('second', '2')] };
    const source = await start({ project: both, records: { first: [{ Name: 'A' }], second: [{ Name: 'B' }] } });
    const warehouse = await temporaryFolder();
    await sync({ project: both, baseUrl: source.url, warehouse });
    const { query } = await openWarehouse(warehouse);
    expect(await query('SELECT f.name AS first, s.name AS second FROM first f, second s')).toEqual([
      { first: 'A', second: 'B' },
    ]);
  });

  it('refuses records of an unknown table', async () => {
    const starting = startSource({ project, records: { rooms: [] } });
    await expect(starting).rejects.toSatisfy((error) => isRekapError(error, 'usage'));
  });
});

describe('the trial of a sample', () => {
  const template = join(import.meta.dirname, '../../templates/project');

  async function outcomes(change: (declared: Awaited<ReturnType<typeof loadProject>>) => object = () => ({})) {
    const loaded = await loadProject(template);
    const trials: FaultTrial[] = [];
    for await (const trial of tryFaults({
      project: { ...loaded, ...change(loaded) },
      faults: { clamp: 50, 503: 0.02, hide: 0.1, short: 0.02 },
      seed: 1,
      folder: await temporaryFolder(),
      signal: new AbortController().signal,
    }))
      trials.push(trial);
    return trials.map(({ fault, outcome }) => [fault, outcome]);
  }

  it('is exact, or refused, for each fault', async () => {
    const found = await outcomes();
    expect(found.map(([fault]) => fault)).toEqual(['hide', 'clamp', 'short', '503', null]);
    for (const one of found) expect(['exact', 'refused', 'unused'], String(one)).toContain(one[1]);
    for (const fault of ['hide', 'clamp', '503']) expect(found).toContainEqual([fault, 'exact']);
  });

  it('tells a project that only its full listing names the partitions', async () => {
    const listed = await outcomes(({ pipelines }) => ({
      pipelines: pipelines.map((pipeline) => ({ ...pipeline, partition: { parameter: 'region', column: 'region' } })),
    }));
    expect(listed).toContainEqual(['hide', 'unnoticed']);
  });
});
