/** Beside its records, the service of a warehouse shows pages, the report, how old the data are, and whole tables. */

import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { systemClock } from '../../src/runtime/context.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import type { Service } from '../../src/serve/service.ts';
import { describeSite } from '../../src/serve/describe-site.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import type { Snapshot } from '../../src/warehouse/warehouse.ts';
import { behaviourOf, chromiumProgram, openBrowser } from '../support/browser.ts';
import { runHere } from '../support/run-here.ts';
import { ask, key, start } from './support.ts';

let warehouse: string;

let service: Service;
let snapshot: () => Snapshot;
let folder: string;
let manifest: Manifest;
const hoursLater = 26;

beforeAll(async () => {
  warehouse = await mkdtemp(join(tmpdir(), 'rekap-test-'));
  const { code, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  folder = join(warehouse, 'current');
  manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const { pipelines } = loadProject();
  const source = await openWarehouseSource(warehouse, pipelines);
  afterAll(() => source.close());
  const now = () => new Date(Date.parse(manifest.created_at) + hoursLater * 3_600_000);
  snapshot = source.snapshot!;
  const site = describeSite(warehouse, snapshot, systemClock);
  service = await start({ pipelines, source, site: site, now }, afterAll);
});

afterAll(() => rm(warehouse, { recursive: true, force: true }));

describe('a service of a warehouse', () => {
  it('tells how old its data are', async () => {
    expect(await (await ask(service, '/health')).json()).toEqual({
      status: 'ok',
      snapshot: manifest.snapshot,
      read_at: manifest.created_at,
      age_seconds: hoursLater * 3600,
    });
  });

  it('shows a browser a page and a program JSON at the root', async () => {
    const page = await ask(service, '/', { headers: { accept: 'text/html,*/*' } });
    expect(page.headers.get('content-type')).toContain('text/html');
    const text = await page.text();
    for (const part of ['/docs', '/report', '/dictionary', manifest.snapshot, '26 h']) expect(text).toContain(part);
    expect(await (await ask(service, '/')).json()).toHaveProperty('openapi');
  });

  it('shows the report of the snapshot, and every column in the dictionary', async () => {
    const published = await readFile(join(folder, 'report.html'), 'utf8');
    expect(await (await ask(service, '/report.html')).text()).toBe(published);
    const [before, bar] = (await (await ask(service, '/report')).text()).split(/(?=<style>\s*\.service-bar)/);
    expect(bar).toContain('href="/tables"');
    expect(published.startsWith(before!)).toBe(true);
    expect(published.endsWith(bar!.replace(/^.*?<\/nav>/s, ''))).toBe(true);
    const dictionary = (await (await ask(service, '/dictionary')).text()).replaceAll('<wbr />', '');
    for (const name of ['fact_people', 'regency_key', 'JumlahSeluruhPemilih']) expect(dictionary).toContain(name);
  });

  it('gives whole tables with the key alone, the very Parquet file, and 304 while the copy is good', async () => {
    expect((await fetch(`${service.url}/tables/voters.csv`)).status).toBe(401);
    const parquet = await ask(service, '/tables/voters.parquet');
    const bytes = Buffer.from(await parquet.arrayBuffer());
    expect(bytes).toEqual(await readFile(join(folder, 'parquet/voters/voters.parquet')));
    const csv = (await (await ask(service, '/tables/dim_regency.csv')).text()).trim().split('\n');
    expect(csv).toHaveLength(515);
    const arrow = Buffer.from(await (await ask(service, '/tables/turnout.arrow')).arrayBuffer());
    expect(arrow.subarray(0, 6).toString()).toBe('ARROW1');
    const again = await ask(service, '/tables/voters.parquet', {
      headers: { 'if-none-match': parquet.headers.get('etag')! },
    });
    expect(again.status).toBe(304);
  });

  it('lists every table with its rows, its first rows and its downloads, behind the key', async () => {
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
      const caption = rows! > 20 ? `first 20 of ${rows!.toLocaleString('en')} rows` : rows === 0 ? '' : 'all rows';
      expect(page).toContain(caption === '' ? 'The table has no rows.' : `${name}: ${caption}`);
    }
  });

  it('tells a browser without a key how to fetch the address', async () => {
    const headers = { accept: 'text/html' };
    const response = await fetch(`${service.url}/tables/voters.csv?x='`, { headers });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, expect.any(String)]);
    expect(await response.text()).toContain(`curl -H 'x-api-key: …' '${service.url}/tables/voters.csv?x=%27'`);
  });

  it('is open without a key only while no keys were given and the snapshot is the sample', async () => {
    const { pipelines } = loadProject();
    let source = 'sample';
    const site = describeSite(warehouse, snapshot, systemClock);
    const open = await start({
      pipelines,
      openSample: true,
      site: { ...site, snapshot: () => ({ ...site.snapshot(), source }) },
    });
    const statuses = () =>
      Promise.all(
        ['/tables', '/tables/voters.parquet', '/tables/voters.csv', pipelines[0]!.path].map(
          async (path) => (await fetch(open.url + path)).status,
        ),
      );
    expect(await statuses()).toEqual([200, 200, 200, 401]);
    expect(await (await fetch(`${open.url}/tables`)).text()).toContain('href="/tables/voters.parquet"');
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

  it('says at a HEAD how large a Parquet file is, and of what is made on the fly nothing', async () => {
    const lengthOf = async (file: string) =>
      (await ask(service, `/tables/${file}`, { method: 'HEAD' })).headers.get('content-length');
    const { size } = await stat(join(folder, 'parquet/voters/voters.parquet'));
    expect(await lengthOf('voters.parquet')).toBe(String(size));
    expect(await lengthOf('voters.csv')).toBeNull();
    expect(await lengthOf('voters.arrow')).toBeNull();
  });

  it('makes two tables at a time, and cuts off clients that take nothing', async () => {
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

  it('reads the log of runs for the metrics once, not at each request', async () => {
    const text = await (await ask(service, '/metrics')).text();
    expect(text).toContain('rekap_runs_total{outcome="published"} 1\n');
    const parse = vi.spyOn(JSON, 'parse');
    const again = await Promise.all(Array.from({ length: 20 }, async () => (await ask(service, '/metrics')).text()));
    expect(parse).not.toHaveBeenCalled();
    expect(new Set(again)).toEqual(new Set([text]));
  });

  it('compresses what is long for a client that wants it, with the same ETag', async () => {
    const path = '/api/datapemilihdpr?limit=40';
    const [plain, packed] = await Promise.all([
      ask(service, path),
      ask(service, path, { headers: { 'accept-encoding': 'gzip' } }),
    ]);
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('etag')).toBe(plain.headers.get('etag'));
    expect(await packed.text()).toBe(await plain.text());
  });

  it('lets a page of another origin read, and says so before it asks', async () => {
    const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' };
    const before = await fetch(`${service.url}/api/datapemilihdpr`, { method: 'OPTIONS', headers });
    expect(before.status).toBe(204);
    expect(before.headers.get('access-control-allow-headers')).toContain('x-api-key');
    expect((await ask(service, '/api/datapemilihdpr')).headers.get('access-control-allow-origin')).toBe('*');
  });
});

it('a service of other records has pages, and neither report nor tables', async () => {
  const other = await start();
  for (const path of ['/report', '/report.html', '/dictionary', '/tables', '/tables/voters.csv'])
    expect((await ask(other, path)).status).toBe(404);
  expect((await ask(other, '/docs')).status).toBe(200);
  expect(await (await ask(other, '/health')).json()).toEqual({ status: 'ok' });
});

describe.skipIf(chromiumProgram === null)('in a browser (skipped where there is no Chromium)', () => {
  /** Without keys, and with few rows, because axe-core looks at each cell. */
  const openService = () => {
    const site = describeSite(warehouse, snapshot, systemClock);
    const previews = async () => (await site.previews()).map((each) => ({ ...each, first: each.first.slice(0, 2) }));
    return start({
      pipelines: loadProject().pipelines,
      site: { ...site, previews },
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

  const looks = [
    { width: 380, colorScheme: 'dark' },
    { width: 1200, colorScheme: 'light' },
  ] as const;
  const paths = ['/', '/docs', '/dictionary', '/report', '/tables', '/sql?sql=FROM+voters'];

  it.each(paths.flatMap((path) => looks.map((look) => [path, look.width, look] as const)))(
    '%s, %i pixels wide, asks for nothing and shuts nobody out',
    async (path, _, look) => {
      const browser = await openBrowser();
      const { url } = await openService();
      try {
        expect(await behaviourOf(browser, url + path, look)).toEqual({
          requests: [],
          errors: [],
          faults: [],
          tooWide: 0,
        });
      } finally {
        await browser.close();
      }
    },
  );

  it('a click on the head of a column sorts a table, numbers by their size', async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${(await openService()).url}/tables`);
      const table = page.locator('table').first();
      const rows = async () =>
        (await table.locator('tbody td:nth-child(3)').allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
      const given = await rows();
      const ascending = given.toSorted((one, other) => one - other);
      await table.locator('th button', { hasText: 'Rows' }).click();
      expect(await rows()).toEqual(ascending);
      await table.locator('th button', { hasText: 'Rows' }).click();
      expect(await rows()).toEqual(ascending.toReversed());
      expect(given).not.toEqual(ascending);
    } finally {
      await browser.close();
    }
  });

  it('the form asks with the key in the header, and shows the answer', async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      const asked: (string | undefined)[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/api/')) asked.push(request.headers()['x-api-key'], request.url());
      });
      await page.goto(service.url);
      await page.fill('input[name=partition]', '1101');
      await page.fill('input[name=key]', key);
      await page.click('button');
      await page.locator('output', { hasText: /^200/ }).waitFor();
      expect(asked).toEqual([key, `${service.url}/api/datapemilihdpr?id_dapil=1101&limit=1`]);
    } finally {
      await browser.close();
    }
  });
});
