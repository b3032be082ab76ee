/** The service of a warehouse also serves pages, the report, the age of the data, metrics and whole tables. */

import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/context.ts';
import { describeSite } from '../../src/serve/describe-site.ts';
import type { Service } from '../../src/serve/service.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import type { Snapshot } from '../../src/warehouse/warehouse.ts';
import { behaviourOf, chromiumProgram, openBrowser } from '../support/browser.ts';
import { loadProject } from '../support/bundled.ts';
import { runHere } from '../support/run-here.ts';
import { ask, key, start } from './support.ts';

const { pipelines } = loadProject();
const hoursLater = 26;
let warehouse: string;
let folder: string;
let manifest: Manifest;
let snapshot: () => Snapshot;
let service: Service;

beforeAll(async () => {
  warehouse = await mkdtemp(join(tmpdir(), 'rekap-test-'));
  const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  folder = join(warehouse, 'current');
  manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const source = await openWarehouseSource(warehouse, pipelines);
  snapshot = source.snapshot!;
  const now = () => new Date(Date.parse(manifest.created_at) + hoursLater * 3_600_000);
  service = await start({ pipelines, source, site: describeSite(warehouse, snapshot, systemClock), now }, afterAll);
  afterAll(async () => {
    await source.close();
    await rm(warehouse, { recursive: true, force: true });
  });
});

describe('a service of a warehouse', () => {
  it('reports the age of its data and the metrics of its runs', async () => {
    expect(await (await ask(service, '/health')).json()).toEqual({
      status: 'ok',
      snapshot: manifest.snapshot,
      read_at: manifest.created_at,
      age_seconds: hoursLater * 3600,
    });
    expect(await (await ask(service, '/metrics')).text()).toContain('rekap_runs_total{outcome="published"} 1\n');
  });

  it('shows a browser a page and a program JSON at the root', async () => {
    const page = await (await ask(service, '/', { headers: { accept: 'text/html,*/*' } })).text();
    for (const part of ['/docs', '/report', '/dictionary', manifest.snapshot, '26 h']) expect(page).toContain(part);
    expect(await (await ask(service, '/')).json()).toHaveProperty('openapi');
  });

  it('shows the report of the snapshot below a bar with links, and every column in the dictionary', async () => {
    const published = await readFile(join(folder, 'report.html'), 'utf8');
    expect(await (await ask(service, '/report.html')).text()).toBe(published);
    const [before, bar] = (await (await ask(service, '/report')).text()).split(/(?=<style>\s*\.service-bar)/);
    expect(bar).toContain('href="/tables"');
    expect(before! + bar!.replace(/^.*?<\/nav>/s, '')).toBe(published);
    const dictionary = (await (await ask(service, '/dictionary')).text()).replaceAll('<wbr />', '');
    for (const name of ['fact_people', 'regency_key', 'JumlahSeluruhPemilih']) expect(dictionary).toContain(name);
  });

  it('serves whole tables with the key only, and 304 while the copy of a client is current', async () => {
    expect((await fetch(`${service.url}/tables/voters.csv`)).status).toBe(401);
    const parquet = await ask(service, '/tables/voters.parquet');
    const bytes = Buffer.from(await parquet.arrayBuffer());
    expect(bytes).toEqual(await readFile(join(folder, 'parquet/voters/voters.parquet')));
    const csv = (await (await ask(service, '/tables/dim_regency.csv')).text()).trim().split('\n');
    expect(csv).toHaveLength(515);
    const arrow = Buffer.from(await (await ask(service, '/tables/turnout.arrow')).arrayBuffer());
    expect(arrow.subarray(0, 6).toString()).toBe('ARROW1');
    const headers = { 'if-none-match': parquet.headers.get('etag')! };
    expect((await ask(service, '/tables/voters.parquet', { headers })).status).toBe(304);
  });

  it('lists every table with its first rows and downloads, with the key only', async () => {
    expect((await fetch(`${service.url}/tables`)).status).toBe(401);
    const response = await ask(service, '/tables');
    expect(response.headers.get('content-security-policy')).toMatch(/script-src 'sha256-[^;]*;/);
    expect(response.headers.get('content-security-policy')).not.toMatch(/script-src[^;]*unsafe/);
    const page = await response.text();
    for (const { path, rows } of manifest.files) {
      const name = /^parquet\/(\w+)\//.exec(path)?.[1];
      if (name === undefined) continue;
      expect(page).toContain(`<h2 id="${name}">`);
      expect(page).toContain(`curl -OH 'x-api-key: …' '${service.url}/tables/${name}.parquet'`);
      const caption = rows! > 20 ? `first 20 of ${rows!.toLocaleString('en')} rows` : 'all rows';
      expect(page).toContain(rows === 0 ? 'The table has no rows.' : `${name}: ${caption}`);
    }
  });

  it('shows a browser without a key how to fetch the address', async () => {
    const response = await fetch(`${service.url}/tables/voters.csv?x='`, { headers: { accept: 'text/html' } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.any(String)]);
    expect(await response.text()).toContain(`curl -H 'x-api-key: …' '${service.url}/tables/voters.csv?x=%27'`);
  });

  it('serves tables without a key only while the snapshot is the sample and no keys are set', async () => {
    let source = 'sample';
    const site = describeSite(warehouse, snapshot, systemClock);
    const open = await start({
      pipelines,
      openSample: true,
      site: { ...site, snapshot: () => ({ ...site.snapshot(), source }) },
    });
    const paths = ['/tables', '/tables/voters.parquet', '/tables/voters.csv', pipelines[0]!.path];
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(open.url + path)).status));
    expect(await statuses()).toEqual([200, 200, 200, 401]);
    source = 'https://host';
    expect(await statuses()).toEqual([401, 401, 401, 401]);
  });

  it.each(['nothing.csv', 'voters.xls', 'voters', '..%2f..%2fmanifest.json', 'voters.csv%00', 'snapshots_log.csv'])(
    'has no table %s',
    async (file) => {
      const { status, headers } = await ask(service, `/tables/${file}`);
      expect([400, 404]).toContain(status);
      expect(headers.get('content-type')).toContain('problem+json');
    },
  );

  it('answers a HEAD with the size of a Parquet file, but not of a file that it generates', async () => {
    const lengthOf = async (file: string) =>
      (await ask(service, `/tables/${file}`, { method: 'HEAD' })).headers.get('content-length');
    const { size } = await stat(join(folder, 'parquet/voters/voters.parquet'));
    expect(await lengthOf('voters.parquet')).toBe(String(size));
    expect(await lengthOf('voters.csv')).toBeNull();
  });

  it('generates two tables at a time, and disconnects clients that read nothing', async () => {
    let wake = (): void => undefined;
    const patience = new Promise<void>((done) => (wake = done));
    const site = describeSite(warehouse, snapshot, { ...systemClock, sleep: () => patience });
    const table = (await site.table('voters', 'csv'))!;
    const slow = [(await table.open())!, (await table.open())!];
    expect(await table.open()).toBeNull();
    const ends = Promise.all(slow.map((stream) => once(stream, 'error')));
    wake();
    for (const [error] of await ends) expect(error).toMatchObject({ message: expect.stringContaining('too slowly') });
    expect((await table.open())?.destroy()).toBeInstanceOf(Readable);
  });

  it('compresses long responses on request, with the same ETag', async () => {
    const path = `${pipelines[0]!.path}?limit=40`;
    const plain = await ask(service, path);
    const compressed = await ask(service, path, { headers: { 'accept-encoding': 'gzip' } });
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('etag')).toBe(plain.headers.get('etag'));
    expect(await compressed.text()).toBe(await plain.text());
  });

  it('lets pages of other origins read', async () => {
    const url = service.url + pipelines[0]!.path;
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' };
    const preflight = await fetch(url, { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('x-api-key'),
    ]);
    expect((await fetch(url)).headers.get('access-control-allow-origin')).toBe('*');
  });
});

it('a service of a folder of records has no report and no tables', async () => {
  const other = await start();
  for (const path of ['/report', '/report.html', '/dictionary', '/tables', '/tables/voters.csv'])
    expect((await ask(other, path)).status).toBe(404);
  expect((await ask(other, '/docs')).status).toBe(200);
  expect(await (await ask(other, '/health')).json()).toEqual({ status: 'ok' });
});

describe.skipIf(chromiumProgram === null)('in a browser (skipped without Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openBrowser()));
  afterAll(() => browser.close());

  /** A service without keys and with short pages, because axe-core checks each cell. */
  const openService = () => {
    const site = describeSite(warehouse, snapshot, systemClock);
    return start({
      pipelines,
      site: {
        ...site,
        previews: async () =>
          (await site.previews())
            .filter(({ name }) => ['quarantine', 'voters', 'dim_dapil'].includes(name))
            .map((each) => ({ ...each, first: each.first.slice(0, 2) })),
        dictionary: async () => (await site.dictionary()).slice(0, 3),
        // test/report opens the real report.
        report: async () =>
          Buffer.from(
            '<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Report</title><body><main><h1>Report</h1></main>',
          ),
      },
      openSample: true,
      sql: {
        onlyLoopback: true,
        answer: async () => ({
          columns: [{ name: 'n', type: 'INTEGER' }],
          text: '[{"n":1}]',
          rows: 1,
          truncated: true,
        }),
      },
    });
  };

  it.each([
    ['/', 380, 'dark'],
    ['/docs', 1200, 'light'],
    ['/dictionary', 380, 'light'],
    ['/report', 380, 'dark'],
    ['/tables', 380, 'dark'],
    ['/sql?sql=FROM+voters', 1200, 'dark'],
  ] as const)('%s is accessible and sends no requests, %i pixels wide and %s', async (path, width, colorScheme) => {
    const { url } = await openService();
    expect(await behaviourOf(browser, url + path, { width, colorScheme })).toEqual({
      requests: [],
      errors: [],
      faults: [],
      tooWide: 0,
    });
  });

  it('a click on a column header sorts a table, numbers by their size', async () => {
    const page = await browser.newPage();
    await page.goto(`${(await openService()).url}/tables`);
    const table = page.locator('table').first();
    const rows = async () =>
      (await table.locator('tbody td:nth-child(3)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
    const unsorted = await rows();
    const ascending = unsorted.toSorted((one, other) => one - other);
    expect(unsorted).not.toEqual(ascending);
    for (const expected of [ascending, ascending.toReversed()]) {
      await table.locator('th button', { hasText: 'Rows' }).click();
      expect(await rows()).toEqual(expected);
    }
    await page.close();
  });

  it('the form sends the key in its header, and shows the response', async () => {
    const page = await browser.newPage();
    const requests: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) requests.push(request.headers()['x-api-key'], request.url());
    });
    await page.goto(service.url);
    await page.fill('input[name=partition]', '1101');
    await page.fill('input[name=key]', key);
    await page.click('button');
    await page.locator('output', { hasText: /^200/ }).waitFor();
    expect(requests).toEqual([key, `${service.url}/api/datapemilihdpr?id_dapil=1101&limit=1`]);
    await page.close();
  });
});
