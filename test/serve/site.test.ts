/** Beside its endpoints, a service has a start page, the report, the files of the snapshot, its age and metrics. */

import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startMonitor } from '../../src/serve/listen.ts';
import { type Service, startService } from '../../src/serve/service.ts';
import type { SiteOptions } from '../../src/serve/site.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { readSnapshot, type Snapshot } from '../../src/warehouse/warehouse.ts';
import { behaviourOf, chromiumProgram, openBrowser } from '../support/browser.ts';
import { loadProject } from '../support/bundled.ts';
import { runHere } from '../support/run-here.ts';
import { readRows } from '../support/read-table.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';
import { ask, key, makeOptions, requestRaw, start } from './support.ts';

const { pipelines } = loadProject();
const hoursLater = 26;
let folder: string;
let manifest: Manifest;
let published: NonNullable<SiteOptions['published']>;
let service: Service;

beforeAll(async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'rekap-test-'));
  const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  folder = join(warehouse, 'current');
  manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const source = await openWarehouseSource(warehouse, pipelines);
  published = { warehouse, snapshot: source.snapshot! };
  const now = () => new Date(Date.parse(manifest.created_at) + hoursLater * 3_600_000);
  service = await startService(makeOptions({ pipelines, source, site: { published, now } }));
  return async () => {
    await service.close();
    await source.close();
    await rm(warehouse, { recursive: true, force: true });
  };
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

  it('links the report, every table and the API from its start page, and all links work', async () => {
    const page = await (await fetch(service.url)).text();
    const names = manifest.files.flatMap(({ path }) => /^parquet\/(\w+)\//.exec(path)?.slice(1) ?? []);
    for (const name of names) expect(page).toContain(`href="/current/${name}.csv"`);
    expect(page).toContain('26 h');
    const report = await fetch(`${service.url}/report`);
    expect(await report.text()).toBe(await readFile(join(folder, 'report.html'), 'utf8'));
    expect(report.headers.get('content-security-policy')).toMatch(/^sandbox /);
    for (const [, path] of page.matchAll(/href="(\/[^"]*)"/g))
      expect([path, (await ask(service, path!)).status]).toEqual([path, 200]);
  });

  it('serves the published files with the key only, and 304 while the copy of a client is current', async () => {
    expect((await fetch(`${service.url}/current/voters.csv`)).status).toBe(401);
    for (const [file, path] of [
      ['voters.parquet', 'parquet/voters/voters.parquet'],
      ['rekap.duckdb', 'rekap.duckdb'],
    ] as const) {
      const response = await ask(service, `/current/${file}`);
      expect(Buffer.from(await response.arrayBuffer()).equals(await readFile(join(folder, path)))).toBe(true);
      // Not by fetch, which adds cache-control: no-cache.
      const known = `if-none-match: ${response.headers.get('etag')}`;
      expect(await requestRaw(service, 'GET', `/current/${file}`, [known])).toMatchObject({ status: 304 });
    }
    const csv = (await (await ask(service, '/current/dim_regency.csv')).text()).trim().split('\n');
    expect(csv).toHaveLength(515);
  });

  it('serves ranges of a file, as DuckDB reads it, uncompressed', async () => {
    const headers = { range: 'bytes=4-7', 'accept-encoding': 'gzip' };
    const part = await ask(service, '/current/rekap.duckdb', { headers });
    expect([part.status, part.headers.get('content-encoding')]).toEqual([206, null]);
    const { size } = await stat(join(folder, 'rekap.duckdb'));
    expect(part.headers.get('content-range')).toBe(`bytes 4-7/${size}`);
    const whole = await readFile(join(folder, 'rekap.duckdb'));
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(4, 8));
    // A compressed CSV has no ranges that a client could join.
    const csv = await ask(service, '/current/voters.csv', { headers });
    expect([csv.status, csv.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  });

  it('serves files without a key only while the snapshot is the sample and no keys are set', async () => {
    let source = 'sample';
    const { snapshot } = published;
    const changed = (): Snapshot => ({ ...snapshot(), manifest: { ...snapshot().manifest, source } });
    const site = { published: { ...published, snapshot: changed }, openSample: true };
    const open = await start({ pipelines, site });
    const paths = ['/current/rekap.duckdb', '/current/voters.csv', pipelines[0]!.path];
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(open.url + path)).status));
    expect(await statuses()).toEqual([200, 200, 401]);
    source = 'https://host';
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it.each(['nothing.csv', 'voters', '..%2f..%2fmanifest.json', 'voters.csv%00', 'manifest.json', 'a/b.csv'])(
    'has no file %s',
    async (file) => {
      const { status, headers } = await ask(service, `/current/${file}`);
      expect([400, 404]).toContain(status);
      expect(headers.get('content-type')).toContain('problem+json');
    },
  );

  it.each([
    ['gzip', '?limit=40', 'gzip'],
    ['br;q=1, GZIP;q=0.5', '?limit=40', 'gzip'],
    ['gzip', '?limit=1000', 'gzip'],
    ['gzip', '?offset=1000', null],
    ['gzip;q=0', '?limit=40', null],
    ['br', '?limit=40', null],
  ])('compresses long responses for "%s", with the same ETag: %s', async (accepted, query, encoding) => {
    const path = pipelines[0]!.path + query;
    const plain = await ask(service, path);
    // The second response comes from memory.
    for (const _time of [1, 2]) {
      const compressed = await ask(service, path, { headers: { 'accept-encoding': accepted } });
      expect(compressed.headers.get('content-encoding')).toBe(encoding);
      expect(compressed.headers.get('vary')).toBe('accept-encoding');
      expect(compressed.headers.get('etag')).toBe(plain.headers.get('etag'));
      expect(await compressed.text()).toBe(await plain.clone().text());
    }
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

describe('the page of a table', () => {
  const rowsOf = async (query: string): Promise<{ count: number; rows: (string | number | null)[][] }> => {
    const response = await ask(service, `/tables/turnout/rows.json?${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as { count: number; rows: (string | number | null)[][] };
  };

  it.each([
    ['', 'true'],
    ['where.sex=BOTH', "sex = 'both'"],
    ['where.regency=kota%20b&where.users_all=>200000', "contains(regency, 'KOTA B') AND users_all > 200000"],
    ['where.users_per_dpt_and_dpk_pct=null', 'users_per_dpt_and_dpk_pct IS NULL'],
    ['where.regency=%27%3B%20DROP%20TABLE%20voters%3B', 'false'],
    ['where.regency=%25', 'false'],
  ])('gives the rows that a filter says, in an order without gaps: %s', async (query, condition) => {
    const expected = await readRows<{ regency: string; sex: string }>(
      published.warehouse,
      `SELECT regency, sex FROM turnout WHERE ${condition} ORDER BY ALL`,
    );
    const pages: (string | number | null)[][] = [];
    for (let offset = 0; offset <= expected.length; offset += 700) {
      const { count, rows } = await rowsOf(`limit=700&offset=${offset}&sort=-users_all&${query}`);
      expect(count).toBe(expected.length);
      pages.push(...rows);
    }
    const columns = (await (await ask(service, '/tables/turnout/rows.csv')).text()).split('\n', 1)[0]!.split(',');
    const [regency, sex, users] = ['regency', 'sex', 'users_all'].map((name) => columns.indexOf(name));
    const place = (row: readonly unknown[]) => row.map(String).join(' ');
    expect(pages.map((row) => place([row[regency!], row[sex!]])).toSorted()).toEqual(
      expected.map(({ regency: name, sex: one }) => place([name, one])).toSorted(),
    );
    const values = pages.map((row) => row[users!]).filter((value) => value !== null) as number[];
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    const csv = await (await ask(service, `/tables/turnout/rows.csv?${query}`)).text();
    expect(csv.trim().split('\n')).toHaveLength(expected.length + 1);
  });

  it.each([
    'where.nothing=1',
    'sort=nothing',
    'limit=0',
    'limit=2000',
    'offset=-1',
    'where.users_all=many',
    'where.users_all=99999999999999999999',
    'limit=1&limit=2',
    'other=1',
  ])('refuses %s', async (query) => {
    expect((await ask(service, `/tables/turnout/rows.json?${query}`)).status).toBe(400);
  });

  it('needs the key for rows, and has no page for what is no table', async () => {
    for (const form of ['json', 'csv', 'xlsx'])
      expect((await fetch(`${service.url}/tables/turnout/rows.${form}`)).status).toBe(401);
    expect((await fetch(`${service.url}/tables/turnout`)).status).toBe(200);
    for (const path of ['/tables/nothing', '/tables/nothing/rows.json', '/tables/turnout/rows.html'])
      expect((await ask(service, path)).status).toBe(404);
    const workbook = await (await ask(service, '/tables/turnout/rows.xlsx?where.sex=both')).arrayBuffer();
    expect(Buffer.from(workbook).subarray(0, 2).toString()).toBe('PK');
  });
});

it('a service of a folder of records has no report and no files', async () => {
  const other = await start({ site: { published: null } });
  for (const path of ['/report', '/metrics', '/runs', '/current/voters.csv', '/tables/voters'])
    expect((await ask(other, path)).status).toBe(404);
  expect((await ask(other, '/')).status).toBe(200);
  expect(await (await ask(other, '/health')).json()).toEqual({ status: 'ok' });
});

it('a service serves the files of a new snapshot, and of an older one after a rollback', async () => {
  const warehouse = await smallWarehouse(nights);
  const served: { snapshot: Snapshot } = { snapshot: await readSnapshot(warehouse, nights[0]) };
  const site = { published: { warehouse, snapshot: () => served.snapshot } };
  const other = await start({ site });
  for (const night of [...nights.slice(0, 2), nights[0]]) {
    served.snapshot = await readSnapshot(warehouse, night);
    expect(await (await ask(other, '/report')).text()).toBe(`report of ${night}`);
  }
  await mkdir(join(warehouse, 'runs.jsonl'));
  expect((await ask(other, '/metrics')).status).toBe(500);
  await rm(join(warehouse, 'runs.jsonl'), { recursive: true });
  await writeFile(join(warehouse, 'runs.jsonl'), '');
  expect(await (await ask(other, '/metrics')).text()).toContain('rekap_gate_refusals_total 0\n');
});

it('a monitor hides why /metrics failed, and still answers /health', async () => {
  const fail = (): Promise<never> => Promise.reject(new Error('a path of this machine'));
  const answers = { health: () => Promise.resolve({ status: 'ok' }), metrics: fail };
  const monitor = await startMonitor({ host: '127.0.0.1', port: 0 }, answers);
  onTestFinished(() => monitor.close());
  const refused = await fetch(`${monitor.url}/metrics`);
  expect([refused.status, await refused.text()]).toEqual([500, '{"status":500}']);
  expect((await fetch(`${monitor.url}/health?query`)).status).toBe(200);
});

describe.skipIf(chromiumProgram === null)('in a browser (skipped without Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await openBrowser()));
  afterAll(() => browser.close());

  /** The sample needs no key as long as no keys are set. */
  const openService = () => start({ pipelines, site: { published, openSample: true } });

  it.each([
    ['/', 380, 'dark'],
    ['/', 1200, 'light'],
    ['/runs', 380, 'light'],
    ['/tables/turnout', 380, 'light'],
    ['/tables/fact_people', 1200, 'dark'],
  ] as const)(
    'the page %s is accessible and asks only the service, %i pixels wide and %s',
    async (path, width, colorScheme) => {
      const { url } = await openService();
      const { requests, ...behaviour } = await behaviourOf(browser, url + path, { width, colorScheme });
      expect(behaviour).toEqual({ errors: [], faults: [], tooWide: 0 });
      const own = path.startsWith('/tables/') ? ['/assets/table.js', '/assets/grid.mjs', `${path}/rows.json?`] : [];
      expect(requests).toEqual(own.map((one) => url + one));
    },
  );

  it('the page of a table opens as its address says, sorts, filters, and shows the exact value on focus', async () => {
    const { url } = await openService();
    const page = await browser.newPage();
    const address = `${url}/tables/turnout_by_province?sort=-users_per_dpt_and_dpk_pct&where.election_year=2024&limit=20&offset=20`;
    await page.goto(address);
    const cells = (column: number) =>
      page.$$eval(`#rows tbody td:nth-child(${column})`, (all) => all.map(({ textContent }) => textContent));
    await page.waitForSelector('#rows tbody td:nth-child(5)');
    const expected = await readRows<{ province: string; rate: number }>(
      published.warehouse,
      'SELECT province, users_per_dpt_and_dpk_pct AS rate FROM turnout_by_province ORDER BY rate DESC',
    );
    expect(await cells(3)).toEqual(expected.slice(20).map(({ province }) => province));
    expect(await cells(4)).toEqual(expected.slice(20).map(({ rate }) => rate.toFixed(2)));
    await page.focus('#rows tbody td:nth-child(4)');
    expect((await cells(4))[0]).toBe(String(expected[20]!.rate));
    expect(page.url()).toBe(address);
    await page.fill('[data-filter="province"]', 'papua');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#rows tbody tr:nth-child(6):last-child');
    expect(page.url()).toContain('where.province=papua');
    // By keyboard.
    await page.focus('#rows thead th:nth-child(3) [role=button]');
    await page.keyboard.press('Enter');
    await page.locator('#rows tbody tr:first-child td:nth-child(3)', { hasText: /^PAPUA$/ }).waitFor();
    expect(page.url()).toContain('sort=province');
    await page.fill('[data-filter="users_compared"]', 'many');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'number' }).waitFor();
    await page.close();
  });

  it('the page of a table asks for the key', async () => {
    const page = await browser.newPage();
    await page.goto(`${service.url}/tables/voters`);
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.waitForSelector('#rows tbody tr:nth-child(50):last-child');
    expect(page.url()).not.toContain(key);
    await page.close();
  });

  it('the API reference lists the endpoints, and loads nothing from other servers', async () => {
    const page = await browser.newPage();
    const origins = new Set<string>();
    page.on('request', (request) => origins.add(new URL(request.url()).origin));
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${service.url}/docs`);
    for (const { path } of pipelines) await page.getByText(path, { exact: true }).first().waitFor();
    expect([[...origins].filter((origin) => origin !== 'null'), errors]).toEqual([[service.url], []]);
    await page.close();
  });
});
