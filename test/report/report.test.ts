/** The report is one accessible page with the figures of the tables, and sends no requests. */

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { readRows } from '../support/read-table.ts';
import { behaviourOf, chromiumProgram, openBrowser } from '../support/browser.ts';
import { runHere } from '../support/run-here.ts';
import { runBundledSync, serveData, smallNation } from '../support/served-source.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sample = preparedWarehouse(async (warehouse) => {
  const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse]);
  if (code !== 0) throw new Error(stderr);
});

/** A nation that axe-core checks quickly, with one contradictory regency. */
const small = preparedWarehouse(async (warehouse) => {
  const data = smallNation({ 1101: 4, 1102: 4 });
  data.datapemilihdpr[3]!['JumlahSeluruhPemilih'] = '7';
  await runBundledSync(syncOptions(warehouse, (await serveData(data)).url));
});

async function reportIn(warehouse: string, language: string): Promise<string> {
  const file = join(await temporaryFolder(), `${language}.html`);
  const { code, stderr } = await runHere(['report', '--lang', language, '--out', file, '--warehouse', warehouse]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return file;
}

describe('the report', () => {
  it('of the sample is marked, small, and contains the figures of the tables and every violation', async () => {
    const { warehouse } = await sample();
    const file = join(warehouse, 'current', 'report.html');
    expect((await stat(file)).size).toBeLessThan(800_000);
    const page = await readFile(file, 'utf8');
    expect(page).toContain('data-mark="SAMPLE"');
    const [nation] = await readRows<{ voters_all: bigint; users_all: bigint }>(
      warehouse,
      'SELECT voters_all, users_all FROM turnout_national',
    );
    for (const figure of Object.values(nation!)) expect(page).toContain(Number(figure).toLocaleString('en-US'));
    const violations = await readRows<{ regency: string }>(warehouse, 'SELECT regency FROM violations');
    expect(page.match(/<li>\s*<span\s+class="tag (?:error|warning)/g)).toHaveLength(violations.length);
    for (const { regency } of violations) expect(page).toContain(`rekap evidence "${regency}"`);
  });

  it('says after a sync of a part how many rows are from earlier ones', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation({ 1101: 2, 1102: 3 });
    await runBundledSync(syncOptions(warehouse, (await serveData(data)).url));
    const whole = await readFile(join(warehouse, 'current', 'report.html'), 'utf8');
    expect(whole).not.toContain('finding.carried_over');
    data.datapemilihdpr[0]!['JumlahSeluruhPemilih'] = '7';
    const part = { partitions: ['1101'], acceptChanges: true };
    await runBundledSync(syncOptions(warehouse, (await serveData(data)).url, part));
    const page = await readFile(join(warehouse, 'current', 'report.html'), 'utf8');
    const shown = (name: string) => new RegExp(`value="(\\d+)"\\s+data-figure="finding.${name}"`).exec(page)?.[1];
    expect([shown('carried_over'), shown('rows')]).toEqual(['6', '10']);
  });

  it('escapes names from the source', async () => {
    const warehouse = await temporaryFolder();
    const hostile = '<script>alert(1)</script>"\'&';
    const data = smallNation({ 1101: 3 });
    for (const records of Object.values(data))
      for (const record of records) {
        record['NamaDapil'] = hostile;
        record['NamaProvinsi'] = hostile;
        record['JumlahPemilihLakiLakiDalamDPT'] = hostile;
      }
    await runBundledSync(syncOptions(warehouse, (await serveData(data)).url));
    const page = await readFile(join(warehouse, 'current', 'report.html'), 'utf8');
    // The page's own script, and no other.
    expect(page.match(/<script/gi)).toHaveLength(1);
    expect(page).toContain('&lt;script&gt;');
    expect(page).not.toContain('data-mark=');
  });
});

describe.skipIf(chromiumProgram === null)('the report in a browser (skipped without Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it.each([
    ['en', 380, 'dark'],
    ['id', 1400, 'light'],
  ] as const)(
    'in %s, %i pixels wide and %s, is accessible and sends no requests',
    async (language, width, colorScheme) => {
      const { warehouse } = await small();
      const address = pathToFileURL(await reportIn(warehouse, language)).href;
      expect(await behaviourOf(browser, address, { width, colorScheme })).toEqual({
        requests: [],
        errors: [],
        faults: [],
        tooWide: 0,
      });
    },
  );

  it('finds, filters and sorts the regencies', async () => {
    const { warehouse } = await small();
    const page = await browser.newPage();
    await page.goto(pathToFileURL(await reportIn(warehouse, 'en')).href);
    const shown = (): Promise<string[]> =>
      page.$$eval('#all tbody tr:not([hidden]) th', (cells) => cells.map(({ textContent }) => textContent));
    await page.fill('#search', '1102');
    expect(await shown()).toEqual(['Kota 1102-0', 'Kota 1102-1', 'Kota 1102-2', 'Kota 1102-3']);
    await page.fill('#search', '');
    await page.check('#noted');
    expect(await shown()).toEqual(['Kota 1101-3']);
    await page.uncheck('#noted');
    for (const direction of ['DESC', 'ASC']) {
      await page.click('#all thead th:nth-child(6) button');
      const rows = await readRows<{ regency: string }>(
        warehouse,
        `SELECT regency FROM turnout WHERE sex = 'both' ORDER BY users_all ${direction}, regency`,
      );
      expect((await shown()).map((name) => name.toUpperCase()).slice(0, 3)).toEqual(
        rows.map(({ regency }) => regency).slice(0, 3),
      );
    }
    await page.close();
  });

  it('lets people take each chart away, with its values and its source', async () => {
    const { warehouse } = await small();
    const page = await browser.newPage();
    await page.goto(pathToFileURL(await reportIn(warehouse, 'en')).href);
    const charts = await page.$$eval('[data-chart]', (all) =>
      all.map((chart) => ({
        name: chart.getAttribute('data-chart')!,
        title: chart.getAttribute('data-title')!,
        rows: [...chart.querySelectorAll('li[data-name]')].map((row) => [
          row.getAttribute('data-name')!,
          ...[...row.querySelectorAll('data')].map((one) => one.getAttribute('value')!),
        ]),
      })),
    );
    expect(charts.map(({ name }) => name)).toEqual(['provinces', 'map', 'districts-1', 'districts-2', 'lists']);
    const source = await page.getAttribute('#figures', 'data-source');
    expect(source).toContain('Snapshot');
    for (const { name, title, rows } of charts) {
      const take = async (form: string): Promise<Buffer> => {
        const download = page.waitForEvent('download');
        await page.click(`[data-chart="${name}"] + .take button:has-text("${form}")`);
        return readFile(await (await download).path());
      };
      expect(rows, name).not.toEqual([]);
      // A browser asks before a page saves more than ten files.
      await page.reload();
      const lines = String(await take('CSV')).split('\n');
      for (const [place, ...values] of rows)
        expect(lines.some((line) => line.includes(place) && values.every((value) => line.includes(value)))).toBe(true);
      expect(lines).toHaveLength(rows.length + 3);
      const drawing = String(await take('SVG'));
      expect(drawing).toContain(title);
      expect(drawing.replaceAll(/<[^>]*>/g, '').replaceAll(' ', '')).toContain(source!.replaceAll(' ', ''));
      for (const [, value] of rows) expect(drawing).toContain(`>${value}%`);
      expect((await take('PNG')).subarray(1, 4).toString()).toBe('PNG');
    }
    await page.close();
  });

  it('shows the values of a place that has the focus', async () => {
    const { warehouse } = await small();
    const page = await browser.newPage();
    await page.goto(pathToFileURL(await reportIn(warehouse, 'en')).href);
    const shown = (): Promise<string[]> =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('.tip')].filter((tip) => getComputedStyle(tip).clipPath === 'none').map((tip) => tip.textContent)",
      );
    expect(await shown()).toEqual([]);
    await page.focus('.dots[data-list="districts"] li[data-name]');
    expect(await shown()).toEqual([expect.stringMatching(/^Men \d.*%, Women \d.*%$/)]);
    await page.focus('.map li[data-name]');
    expect(await shown()).toEqual([expect.stringMatching(/^Aceh: \d/)]);
    await page.close();
  });

  it('prints on few pages, and everything on request', async () => {
    const { warehouse } = await sample();
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(warehouse, 'current', 'report.html')).href);
    const pages = async () => String(await page.pdf({ preferCSSPageSize: true })).match(/\/Type\s*\/Page\b/g)!.length;
    expect(await pages()).toBeLessThan(8);
    await page.check('#print-all');
    expect(await pages()).toBeGreaterThan(15);
    await page.close();
  });
});
