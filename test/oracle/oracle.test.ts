/** Python recomputes every table, sum and violation from the stored responses alone. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkNames, pipelines } from '../support/bundled.ts';
import { type Language, languages } from '../../src/project/sql-file.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { runBundledSync, serveFolder } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startTwistedSource } from '../support/twisted-source.ts';
import { doubtfulNation, inJson } from './doubtful-nation.ts';
import { exportByQuery, exportParquet, noPython, recomputeTables, recomputeReport } from './recompute.ts';

if (noPython !== null) process.stdout.write(`Nothing is recomputed: ${noPython}.\n`);
beforeEach(({ skip }) => skip(noPython !== null, noPython ?? ''));

const agreement = { status: 0, leftOut: [], differences: [] };

/** The folders of a warehouse and its exports. */
function within(folder: string) {
  return { warehouse: join(folder, 'warehouse'), query: join(folder, 'query'), parquet: join(folder, 'parquet') };
}

/** Recomputes the tables, and compares them with the results of `rekap query` and with the Parquet files. */
async function recomputeBoth(folder: string) {
  const { warehouse, query, parquet } = within(folder);
  await exportByQuery(warehouse, query);
  await exportParquet(warehouse, parquet);
  return [recomputeTables(warehouse, query), recomputeTables(warehouse, parquet)];
}

/** Recomputes each number of the report in these languages. */
async function recomputeReports(folder: string, ofLanguages: readonly Language[] = languages) {
  const { warehouse, query } = within(folder);
  const reports = [];
  for (const language of ofLanguages) {
    const file = join(folder, `${language}.html`);
    const { code, stderr } = await runHere(['report', '--lang', language, '--out', file, '--warehouse', warehouse]);
    if (code !== 0) throw new Error(stderr);
    reports.push(recomputeReport(warehouse, query, language, file));
  }
  return reports;
}

const doubtful = preparedWarehouse(async (folder) => {
  const { url } = await startTwistedSource(doubtfulNation(), (response, body) => response.end(inJson(body)));
  const { manifest } = await runBundledSync(syncOptions(within(folder).warehouse, url, { pageSize: 1000 }));
  return { manifest, recomputed: await recomputeBoth(folder), reports: await recomputeReports(folder) };
});

describe('recomputation', () => {
  it('agrees with the tables and the report of the sample', async () => {
    const folder = await temporaryFolder();
    const { url } = await serveFolder(join(import.meta.dirname, '../../data/sample'));
    const { warehouse, query } = within(folder);
    await runBundledSync(syncOptions(warehouse, url));
    await exportByQuery(warehouse, query);
    expect(recomputeTables(warehouse, query)).toMatchObject(agreement);
    for (const report of await recomputeReports(folder, ['en'])) {
      expect(report).toMatchObject({ status: 0, differences: [] });
      // Five figures of each of 514 regencies, and more.
      expect(report.figures).toBeGreaterThan(3000);
    }
  });

  it('agrees with the tables and reports of a nation with every kind of violation', async () => {
    const { manifest, recomputed, reports } = (await doubtful()).known;
    expect(recomputed).toMatchObject([agreement, agreement]);
    for (const report of reports) expect(report).toMatchObject({ status: 0, differences: [] });
    // Every check is broken.
    const datasets = Object.values(manifest.datasets);
    const broken = new Set(datasets.flatMap(({ violations }) => Object.keys(violations)));
    const rowChecks = pipelines.flatMap(({ checks }) => checks.map(({ name }) => name));
    const valueChecks = ['missing', 'null', 'empty', 'malformed', 'conflicting_records'];
    expect(broken).toEqual(new Set([...checkNames, ...rowChecks, ...valueChecks]));
    for (const { ledger } of datasets) expect(ledger).toMatchObject({ quarantined: 9, duplicates: 2 });
  });

  it('names every wrong value in a table or in the manifest', async () => {
    const { warehouse, query } = within((await doubtful()).warehouse);
    const alter = async (path: string, change: (text: string) => string): Promise<void> =>
      writeFile(path, change(await readFile(path, 'utf8')));
    const alterRows = (table: string, change: (rows: Record<string, unknown>[]) => Record<string, unknown>[]) =>
      alter(join(query, `${table}.json`), (text) => JSON.stringify(change(JSON.parse(text))));

    await alterRows('voters', (rows) => {
      const unknown = rows.find((row) => row['dpt_male'] === null)!;
      Object.assign(unknown, { dpt_male: 0, is_consistent: true });
      rows[30]!['grand_total'] = 1;
      return rows.toReversed();
    });
    await alterRows('voting_rights_users', (rows) => rows.slice(1));
    // The last record has the key of another, and the first one has no key.
    await alterRows('quarantine', (rows) => rows.slice(1, -1));
    await alterRows('violations', (rows) => rows.slice(0, -1));
    await alter(join(warehouse, 'current', 'manifest.json'), (text) =>
      text.replace(/"dpt_female": "/, '$&1').replace(/"duplicates": 2/, '"duplicates": 1'),
    );

    const { status, differences } = recomputeTables(warehouse, query);
    expect(status).toBe(1);
    for (const difference of [
      /^voters .* dpt_male: recomputed None, found 0$/,
      /^voters .* is_consistent: recomputed False, found True$/,
      /^voters .* grand_total: recomputed \d+, found 1$/,
      /^voters: keys of all rows in their order: /,
      /^voting_rights_users: keys of all rows in their order: /,
      /^voters: quarantine: /,
      /^voting_rights_users .*: 3 values, 1 in quarantine$/,
      /^violation .*: recomputed 1, found 0$/,
      /^voters: sums in manifest.json: /,
      /^voters: ledger: /,
    ])
      expect(differences).toContainEqual(expect.stringMatching(difference));
  });
});
