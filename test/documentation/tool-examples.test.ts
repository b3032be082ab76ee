/** The SQL and the script that readers paste into other tools give the rates of the warehouse. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { expect, it, onTestFinished } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { readRows } from '../support/read-table.ts';
import { startCli } from '../support/run-cli.ts';
import { testKey } from '../support/sync-settings.ts';
import { readBlocks } from './page-blocks.ts';

interface Rate {
  readonly province: string;
  readonly pct: number;
}

const folder = join(import.meta.dirname, '../../docs/how-to');
const blocks = ['use-in-bi-tools.md', 'use-in-spreadsheets-and-code.md'].flatMap((page) =>
  readBlocks(readFileSync(join(folder, page), 'utf8')),
);
const rates = `SELECT province, users_per_dpt_and_dpk_pct AS pct FROM turnout_sums
               WHERE level = 'province' AND sex = 'both' ORDER BY pct`;

it('returns one rate per province from each query', async () => {
  const { warehouse } = await sampleWarehouse();
  const expected = await readRows<Rate>(warehouse, rates);
  expect(expected).toHaveLength(38);
  const queries = blocks.filter(({ language, content }) => language === 'sql' && content.includes('AS pct'));
  expect(queries).toHaveLength(3);
  for (const { content } of queries)
    expect(await readRows(warehouse, content.replace('/data/warehouse', warehouse))).toEqual(expected);
});

it('writes one rate per province into Google Sheets', async () => {
  const { warehouse } = await sampleWarehouse();
  const service = startCli(['serve', '--warehouse', warehouse, '--port', '0'], { REKAP_API_KEYS: testKey });
  onTestFinished(() => void service.child.kill('SIGKILL'));
  const address = /http:\/\/[^/\s]+/.exec(await service.printed('Ctrl-C'))?.[0];
  const response = await fetch(`${address}/current/turnout_by_province.csv`, { headers: { 'x-api-key': testKey } });
  expect(response.status).toBe(200);
  const csv = await response.text();
  expect(csv).not.toContain('"');

  const { request, cells } = loadIntoSheet(csv);
  expect(request).toEqual(['https://HOST/current/turnout_by_province.csv', { headers: { 'x-api-key': testKey } }]);
  const [names, ...rows] = cells;
  expect(names).toEqual(['province', 'pct']);
  const loaded = rows.map(([province, pct]) => ({ province, pct })).sort((a, b) => Number(a.pct) - Number(b.pct));
  expect(loaded).toEqual(await readRows(warehouse, rates));
});

it('keeps an unknown rate empty in Google Sheets', () => {
  const lines = ['election_year,province,users_per_dpt_and_dpk_pct', '2019,A,70'];
  const { cells } = loadIntoSheet([...lines, '2024,A,'].join('\n'));
  expect(cells).toEqual([
    ['province', 'pct'],
    ['A', ''],
  ]);
});

/** Runs the script of the page with stand-ins for Google's services. */
function loadIntoSheet(csv: string): { request: unknown; cells: unknown[][] } {
  const script = blocks.find(({ content }) => content.startsWith('function loadTurnout'))!.content;
  let request: unknown;
  let cells: unknown[][] = [];
  const range = { setValues: (values: unknown[][]) => (cells = values) };
  const sheet = { clearContents: () => {}, getRange: () => range };
  runInNewContext(`${script}\nloadTurnout();`, {
    PropertiesService: { getScriptProperties: () => ({ getProperty: () => testKey }) },
    UrlFetchApp: { fetch: (...words: unknown[]) => ((request = words), { getContentText: () => csv }) },
    Utilities: {
      parseCsv: (text: string) =>
        text
          .trim()
          .split(/\r?\n/)
          .map((line) => line.split(',')),
    },
    SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheets: () => [sheet] }) },
  });
  // Objects of another context have other prototypes.
  return structuredClone({ request, cells });
}
