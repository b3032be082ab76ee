/** Every table, sum and violation, reckoned a second time in another language from nothing but the landed answers. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkNames, pipelines } from '../../pipelines/index.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runSync, serveFolder } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';
import { doubtfulNation, inJson } from './doubtful-nation.ts';
import { exportByQuery, exportParquet, noPython, reckon } from './reckon.ts';

beforeEach(({ skip }) => skip(noPython !== null, noPython ?? ''));

const agreement = { status: 0, leftOut: [], differences: [] };

/** Where a test has its warehouse, and the tables written out beside it. */
function within(folder: string) {
  return { warehouse: join(folder, 'warehouse'), query: join(folder, 'query'), parquet: join(folder, 'parquet') };
}

/** Two accounts of a warehouse's tables: what `rekap query` gives of them, and what the Parquet files hold. */
async function reckonBoth(folder: string) {
  const { warehouse, query, parquet } = within(folder);
  await exportByQuery(warehouse, query);
  await exportParquet(warehouse, parquet);
  return [reckon(warehouse, query), reckon(warehouse, parquet)];
}

const doubtful = preparedWarehouse(async (folder) => {
  const { url } = await startTwistedSource(doubtfulNation(), (response, body) => response.end(inJson(body)));
  const { manifest } = await runSync(syncOptions(within(folder).warehouse, url, { pageSize: 1000 }));
  return { manifest, reckoned: await reckonBoth(folder) };
});

describe('a second reckoning', () => {
  it('comes to the tables of the sample', async () => {
    const folder = await temporaryFolder();
    const { url } = await serveFolder(join(import.meta.dirname, '../../data/sample'));
    const { warehouse, query } = within(folder);
    await runSync(syncOptions(warehouse, url));
    await exportByQuery(warehouse, query);
    expect(reckon(warehouse, query)).toMatchObject(agreement);
  });

  it('comes to the tables of a nation with every kind of doubt', async () => {
    const { manifest, reckoned } = (await doubtful()).known;
    expect(reckoned).toMatchObject([agreement, agreement]);
    // There is something of everything to reckon.
    const datasets = Object.values(manifest.datasets);
    const broken = new Set(datasets.flatMap(({ violations }) => Object.keys(violations)));
    const rowChecks = pipelines.flatMap(({ checks }) => checks.map(({ name }) => name));
    const valueChecks = ['missing', 'null', 'empty', 'malformed', 'conflicting_records'];
    expect(broken).toEqual(new Set([...checkNames, ...rowChecks, ...valueChecks]));
    for (const { ledger } of datasets) expect(ledger).toMatchObject({ quarantined: 8, duplicates: 2 });
  });

  type Row = Record<string, unknown>;
  const faults: [string, string, RegExp, (rows: Row[]) => unknown][] = [
    ['a figure is another', 'voters', / dpt_male: /, (rows) => (rows[3]!['dpt_male'] = 1)],
    ['an unknown figure is 0', 'voters', /None, found 0/, (rows) => (rows.find(isUnknown)!['dpt_male'] = 0)],
    [
      'a row counts as consistent',
      'voters',
      /is_consistent: /,
      (rows) => (rows.find(isUnknown)!['is_consistent'] = true),
    ],
    ['a row is lost', 'voting_rights_users', /: keys of all rows/, (rows) => rows.pop()],
    ['rows have lost their order', 'voters', /: keys of all rows/, (rows) => rows.reverse()],
    ['a violation is lost', 'violations', /^violation .* found 0/, (rows) => rows.pop()],
    ['a record is lost from quarantine', 'quarantine', /: quarantine: /, (rows) => rows.shift()],
    [
      'one of two records with one key is lost',
      'quarantine',
      / values, /,
      (rows) => rows.splice(rows.findIndex(isConflict), 1),
    ],
  ];
  const isUnknown = (row: Row): boolean => row['dpt_male'] === null;
  const isConflict = (row: Row): boolean => row['reason'] === 'same key, other values';

  it.each(faults)('finds out where %s', async (_, table, said, alter) => {
    const { warehouse, query } = within((await doubtful()).warehouse);
    const file = join(query, `${table}.json`);
    const rows = JSON.parse(await readFile(file, 'utf8')) as Row[];
    alter(rows);
    await writeFile(file, JSON.stringify(rows));
    const { status, differences } = reckon(warehouse, query);
    expect(status).toBe(1);
    expect(differences.join('\n')).toMatch(new RegExp(said, 'm'));
  });

  it('finds out where the manifest says another sum, or another ledger', async () => {
    const { warehouse, query } = within((await doubtful()).warehouse);
    const file = join(warehouse, 'current', 'manifest.json');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/"dpt_female": "/, '$&1').replace(/"duplicates": 2/, '"duplicates": 1'));
    const { status, differences } = reckon(warehouse, query);
    expect(status).toBe(1);
    expect(differences).toEqual([expect.stringContaining(': ledger'), expect.stringContaining(': sums')]);
  });
});
