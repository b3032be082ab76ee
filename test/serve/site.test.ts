/** Beside its records, the service of a warehouse shows pages, the report, how old the data are, and whole tables. */

import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadProject } from '../../pipelines/index.ts';
import { systemClock } from '../../src/runtime/context.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import type { Service } from '../../src/serve/service.ts';
import { describeSite } from '../../src/snapshots/describe-site.ts';
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
    for (const part of ['/docs', '/report', '/dictionary', manifest.snapshot, '26 hours']) expect(text).toContain(part);
    expect(await (await ask(service, '/')).json()).toHaveProperty('openapi');
  });

  it('shows the report of the snapshot, and every column in the dictionary', async () => {
    expect(await (await ask(service, '/report')).text()).toBe(await readFile(join(folder, 'report.html'), 'utf8'));
    const dictionary = await (await ask(service, '/dictionary')).text();
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
  for (const path of ['/report', '/dictionary', '/tables/voters.csv'])
    expect((await ask(other, path)).status).toBe(404);
  expect((await ask(other, '/docs')).status).toBe(200);
  expect(await (await ask(other, '/health')).json()).toEqual({ status: 'ok' });
});

describe.skipIf(chromiumProgram === null)('in a browser (skipped where there is no Chromium)', () => {
  it.each(['/', '/docs', '/dictionary', '/report'])('%s asks for nothing and shuts nobody out', async (path) => {
    const browser = await openBrowser();
    try {
      for (const look of [{ width: 380, colorScheme: 'dark' } as const, { width: 1200, colorScheme: 'light' } as const])
        expect(await behaviourOf(browser, service.url + path, look)).toEqual({
          requests: [],
          errors: [],
          faults: [],
          tooWide: 0,
        });
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
      await page.fill('input[name=key]', key);
      await page.click('button');
      await page.waitForFunction("document.querySelector('output').textContent.startsWith('200')");
      expect(asked).toEqual([key, `${service.url}/api/datapemilihdpr?id_dapil=1101&limit=1`]);
    } finally {
      await browser.close();
    }
  });
});
