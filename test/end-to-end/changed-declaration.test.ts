/** After a change of the declaration, the next sync of an unchanged source publishes what a new warehouse would have. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openPublished } from '../../src/warehouse/open-published.ts';
import { readComments, readObjects } from '../../src/runtime/database.ts';
import { loadProject } from '../../src/project/load-project.ts';
import type { Project } from '../../src/project/declaration.ts';
import { storedPart } from '../../src/project/stored.ts';
import { rulesVersion } from '../../src/load/schema.ts';
import { computeSha256 } from '../../src/publish/manifest.ts';
import { definitionFingerprint } from '../../src/publish/describe-snapshot.ts';
import type { SyncOptions } from '../../src/publish/run.ts';
import { databaseFile } from '../../src/warehouse/snapshot-format.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeProject } from '../support/written-project.ts';

const records = ['A', 'B'].flatMap((region) =>
  [1, 2, 3].map((id) => ({
    region,
    name: `Region ${region}`,
    id,
    seen: `2026-03-0${id}T20:00:00`,
    age: id * 60 - 65,
    price: '12.50',
    open: id === 1 ? null : id === 2,
    day: '2026-03-01',
    note: id === 3 ? '' : `note ${id}`,
    people: id * 10,
    men: id * 4,
    women: id * 5,
  })),
);

const visits = {
  table: 'visits',
  title: 'Visits',
  comment: 'Visits by region.',
  unit: 'people',
  path: '/visits',
  parameters: { kind: 'all' },
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  partition: { parameter: 'region', column: 'region', name: 'name', values: { from: 'list', values: ['A', 'B'] } },
  columns: {
    region: { kind: 'text', field: 'region', comment: 'Region.' },
    name: { kind: 'text', field: 'name', comment: 'Its name.' },
    id: { kind: 'integer', field: 'id', comment: 'Number of the visit.' },
    seen: { kind: 'timestamp', field: 'seen', comment: 'When.', offset: '+07:00' },
    age: { kind: 'integer', field: 'age', comment: 'Age in years.', min: -100, max: 200 },
    price: { kind: 'decimal', field: 'price', comment: 'Price.', precision: 8, scale: 2 },
    open: { kind: 'boolean', field: 'open', comment: 'Whether it is open.', nullable: true },
    day: { kind: 'date', field: 'day', comment: 'Day.' },
    note: { kind: 'text', field: 'note', comment: 'Note.', nullable: true },
    people: { kind: 'count', field: 'people', comment: 'People.' },
    men: { kind: 'count', field: 'men', comment: 'Men.' },
    women: { kind: 'count', field: 'women', comment: 'Women.' },
  },
  key: ['region', 'id'],
  watch: ['people'],
  checks: [
    { kind: 'sum', name: 'people_sum', severity: 'error', whole: 'people', parts: ['men', 'women'] },
    { kind: 'range', name: 'age_range', severity: 'warning', column: 'age', min: 0, max: 100 },
    { kind: 'pattern', name: 'note_pattern', severity: 'warning', column: 'note', pattern: 'note [1-2]' },
  ],
  expectedRecords: 6,
};
const base = {
  'rekap.project.json': {
    name: 'visits',
    title: 'Visits',
    description: 'Visits by region.',
    values: { limits: [[20], [30]] },
    examples: ['FROM visits;'],
    sampleNotice: { en: 'Only a sample.' },
  },
  'pipelines/visits.json': visits,
  'models/by_region.sql':
    '-- People by region.\n-- *: visits\n-- people: People.\nSELECT region, sum(people) AS people FROM visits GROUP BY region',
  'checks/limit.sql': `-- Limits.
-- en: {column} is {actual}
SELECT 'visits' AS dataset, region, id, 'warning' AS severity, 'people' AS column_name, '20' AS expected, people::VARCHAR AS actual
FROM visits JOIN (VALUES $limits) AS l(most) ON people >= most`,
  'report.json': [{ title: 'Regions', query: 'FROM by_region' }],
};

type Change = readonly [what: string, files: Readonly<Record<string, unknown>>];

/** A change of the dataset at the place that a message names. */
const at = (place: string, change: object): Change => [place, { 'pipelines/visits.json': { ...visits, ...change } }];
const { columns } = visits;
const { women, ...others } = columns;

/** Changes of the dataset, named by the place where the declarations differ. */
const ofDataset: readonly Change[] = [
  at('columns.seen.offset', { columns: { ...columns, seen: { ...columns.seen, offset: '+08:00' } } }),
  at('columns', { columns: { women, ...others } }),
  at('checks.0.severity', { checks: [{ ...visits.checks[0], severity: 'warning' }, ...visits.checks.slice(1)] }),
];
const project = base['rekap.project.json'];
const ofProject: readonly Change[] = [
  [
    'a value, a comment and a message',
    {
      'rekap.project.json': { ...project, values: { limits: [[20], [10]] } },
      'models/by_region.sql': base['models/by_region.sql'].replace('People.', 'Persons.'),
      'checks/limit.sql': base['checks/limit.sql'].replace('is {actual}', 'has {actual}'),
    },
  ],
];

let url = '';

beforeAll(async () => {
  const server = createServer((request, response) => {
    const query = new URL(request.url!, 'http://localhost').searchParams;
    const [region, offset] = [query.get('region'), Number(query.get('offset') ?? 0)];
    const found = records.filter((record) => region === null || record.region === region);
    response.end(JSON.stringify(found.slice(offset, offset + Number(query.get('limit') ?? 10))));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => void server.close();
});

async function sync(warehouse: string, files: Change[1], settings: Partial<SyncOptions> = {}) {
  const loaded = await loadProject(await writeProject({ ...base, ...files }));
  return runSync(syncOptions(warehouse, url, { acceptChanges: true, ...settings }), {}, loaded);
}

const prepared = preparedWarehouse((warehouse) => sync(warehouse, {}));

/** A warehouse with the snapshot of the base declaration. */
const publishedCopy = async (): Promise<string> => (await prepared()).warehouse;

/** Everything that a snapshot says, except what depends on earlier snapshots. */
async function contentOf(warehouse: string) {
  const { folder, manifest } = await requireCurrent(warehouse);
  const database = await openPublished(join(folder, databaseFile));
  try {
    const tables = Object.keys(manifest.datasets).concat(manifest.project.models.map(({ name }) => name));
    const rows: Record<string, unknown> = {};
    for (const table of tables) rows[table] = await database.rows(`FROM ${table}`);
    rows['violations'] = await database.rows('SELECT * EXCLUDE (first_snapshot, since) FROM violations');
    rows['snapshots_log'] = await database.rows(
      `SELECT dataset, row_count, grand_total, violation_count FROM snapshots_log WHERE snapshot_id = '${manifest.snapshot}'`,
    );
    const { project: declared, datasets } = manifest;
    const figures = Object.values(datasets).map(({ sums, nulls, violations }) => ({ sums, nulls, violations }));
    return { rows, declared, figures, objects: await readObjects(database), comments: await readComments(database) };
  } finally {
    database.close();
  }
}

it('publishes nothing if nothing has changed', async () => {
  const warehouse = await publishedCopy();
  expect(await sync(warehouse, {})).toMatchObject({ outcome: 'unchanged' });
});

describe('publishes what a new warehouse would have after a change of', () => {
  it.each([ofDataset[0]!, ...ofProject])('%s', async (_what, files) => {
    const [warehouse, fresh] = [await publishedCopy(), await temporaryFolder()];
    await sync(warehouse, files);
    await sync(fresh, files);
    expect(await contentOf(warehouse)).toEqual(await contentOf(fresh));
  });
});

describe('carries no rows over after a change of', () => {
  it.each(ofDataset)('%s', async (place, files) => {
    await expect(sync(await publishedCopy(), files, { partitions: ['A'] })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`the declaration of visits has changed: ${place}.`),
      next: expect.stringContaining('Run one sync without --partition'),
    });
  });
});

it('carries rows over after a change outside the dataset', async () => {
  const warehouse = await publishedCopy();
  const files = { 'models/by_region.sql': base['models/by_region.sql'].replace('sum', 'max') };
  expect(await sync(warehouse, files, { partitions: ['A'] })).toMatchObject({ outcome: 'published' });
});

it('has the tables of this version of the rules', async () => {
  const { rows, figures } = await contentOf((await prepared()).warehouse);
  const text = JSON.stringify({ rows, figures }, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  );
  // If this differs because a rule has changed, increase `rulesVersion` and write down both. Otherwise old rows would be mixed with new ones.
  expect(`${rulesVersion}: ${computeSha256(text).slice(0, 16)}`).toBe('1: ffa59dbf3649ce96');
});

/** Copies of a value, each without one of its properties or elements, or with another text, number or flag. */
function* changesOf(value: unknown): Generator {
  if (typeof value !== 'object' || value === null) {
    yield typeof value === 'string' ? `${value}x` : typeof value === 'number' ? value + 1 : typeof value !== 'boolean';
    return;
  }
  const rebuild = (entries: [string, unknown][]): unknown =>
    Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
  const entries = Object.entries(value);
  for (const [place, [name, part]] of entries.entries()) {
    yield rebuild(entries.toSpliced(place, 1));
    for (const changed of changesOf(part)) yield rebuild(entries.with(place, [name, changed]));
  }
}

it('has another definition after a change of any property', async () => {
  const loaded = storedPart(await loadProject(await writeProject(base)));
  const original = definitionFingerprint(loaded);
  const same: unknown[] = [];
  let changes = 0;
  for (const changed of changesOf(loaded)) {
    let found: string | null = null;
    try {
      found = definitionFingerprint(changed as Project);
    } catch {
      // A declaration without tables is refused before.
    }
    if (found !== null) changes += 1;
    if (found === original) same.push(changed);
  }
  expect(same).toEqual([]);
  expect(changes).toBeGreaterThan(150);
});
