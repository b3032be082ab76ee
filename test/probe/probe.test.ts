/** A probe finds how a list is paged, and drafts a project that syncs every record, for each way of paging. */

import { writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sync } from '../../src/index.ts';
import { openWarehouse } from '../../src/snapshots/open-warehouse.ts';
import { draftProject } from '../../src/probe/draft.ts';
import { type Probe, probe } from '../../src/probe/probe.ts';
import { maxRequests } from '../../src/probe/prober.ts';
import { writeDraft } from '../../src/probe/write-draft.ts';
import { loadProject } from '../../src/project/load-project.ts';
import { maxColumns } from '../../src/project/validate.ts';
import { Secret } from '../../src/source/secret.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { answerJson, type Script, startFaultServer } from '../support/fault-server.ts';
import { listingPaths, type ListedRecord, serveListing } from '../support/listing-server.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const records: readonly ListedRecord[] = Array.from({ length: 137 }, (_, at) => ({
  region: `AA-${at % 3}`,
  stationNo: Math.floor(at / 3) + 1,
  name: at % 9 === 0 ? null : `ROOM ${at}`,
  seats: String((at * 7) % 60),
  share: (at / 7).toFixed(2),
  isOpen: at % 2 === 0,
  day: `2024-02-1${at % 9}`,
  moment: `2024-02-14T0${at % 9}:30:00+07:00`,
  postcode: `0${1000 + at}`,
  place: { id: at, tags: ['a'] },
  id: `i${at * 7}`,
}));

async function probeUrl(url: string, maxDuration = 60_000): Promise<Probe> {
  const { signal } = new AbortController();
  return probe({ url, auth: null, apiKey: new Secret(''), clock: manualClock(), signal, maxDuration });
}

/** Sends a byte every 100 ms, and never ends. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write(' '), 100);
  response.on('close', () => clearInterval(timer));
}

/** Writes the draft and loads it, as `rekap check` does. */
async function draft(found: Probe): Promise<string> {
  const folder = join(await temporaryFolder(), 'drafted');
  await writeDraft(draftProject(found, 'drafted'), { folder, project: null, origin: found.origin });
  await loadProject(folder);
  return folder;
}

const found: Readonly<Record<string, object>> = {
  '/page': { by: 'page', page: 'page', size: 'per_page' },
  '/page-from-0': { by: 'page', page: 'page', size: 'size', first: 0 },
  '/offset': { by: 'offset', limit: 'limit', offset: 'offset' },
  '/dollar': { by: 'offset', limit: '$limit', offset: '$offset' },
  '/brackets': { by: 'next', url: '/links/next', size: 'page[size]' },
  '/cursor': { by: 'next', cursor: '/meta/next_cursor', parameter: 'cursor', size: 'limit' },
  '/next': { by: 'next', url: '/next' },
  '/link': { by: 'next', link: true },
  '/links': { by: 'next', url: { rel: 'next', in: '/links' } },
  '/header': { by: 'next', cursor: { header: 'x-next-cursor' }, parameter: 'cursor' },
  '/from-1': { by: 'offset', limit: 'rows', offset: 'start', first: 1 },
  '/arcgis': { by: 'offset', limit: 'resultRecordCount', offset: 'resultOffset' },
  '/after': { by: 'after', field: 'id', parameter: 'starting_after', size: 'limit', hasMore: '/has_more' },
  '/by-key': { by: 'none' },
  '/pair': { by: 'none' },
  '/all': { by: 'none' },
  '/lines.ndjson': { by: 'none' },
};

describe.each([
  ['a quiet source', undefined],
  ['a source that is busy at every fifth request', 5],
])('from %s', (_what, busyEvery) => {
  it.each(listingPaths)('%s becomes a project that syncs every record', async (path) => {
    const url = await serveListing({ records, ...(busyEvery !== undefined && { busyEvery }) });
    const probed = await probeUrl(url + path);
    expect(probed.requests.length).toBeLessThanOrEqual(maxRequests);
    expect(probed.paging.paging).toEqual(found[path]);
    const warehouse = await temporaryFolder();
    await sync({ project: await draft(probed), warehouse, clock: manualClock() });
    const { query } = await openWarehouse(warehouse);
    const table = path.replaceAll(/^\/|\.ndjson$/g, '').replaceAll('-', '_');
    const sums = 'SELECT count(*) AS n, sum(seats) AS seats, count(name) AS names, count(DISTINCT postcode) AS codes';
    const seats = records.reduce((sum, record) => sum + Number(record['seats']), 0);
    expect(await query(`${sums} FROM "${table}"`)).toEqual([
      { n: 137, seats, names: records.filter((record) => record['name'] !== null).length, codes: 137 },
    ]);
    expect(await query('FROM violations')).toEqual([]);
  });
});

describe('a probe', () => {
  it('guesses the kind of each field, its key and its filter, and names the page cap', async () => {
    const probed = await probeUrl(`${await serveListing({ records })}/page`);
    expect(probed.columns.map(({ name, definition: { kind } }) => [name, kind])).toEqual([
      ['region', 'text'],
      ['station_no', 'integer'],
      ['name', 'text'],
      ['seats', 'count'],
      ['share', 'decimal'],
      ['is_open', 'boolean'],
      ['day', 'date'],
      ['moment', 'timestamp'],
      ['postcode', 'text'],
      ['place_id', 'integer'],
      ['id', 'text'],
    ]);
    expect(probed.skipped).toEqual(['/place/tags']);
    expect(probed.columns.find(({ name }) => name === 'postcode')?.why).toContain('"01000"');
    expect(probed.partition).toMatchObject({ parameter: 'region', column: 'region' });
    expect(probed.keys[0]).toMatchObject({ columns: ['region', 'station_no'] });
    expect(probed.paging.cap?.size).toBe(25);
    expect(probed.envelope).toMatchObject({ records: '/results', reportedCount: { pointer: '/total', value: 137 } });
  });

  it('has a column for the names of records in an object', async () => {
    const server = await startFaultServer((_, response) => answerJson(response, { t: { 11: { n: 7 }, 12: { n: 7 } } }));
    onTestFinished(() => server.close());
    const probed = await probeUrl(`${server.url}/list`);
    expect(probed.keys[0]).toMatchObject({ columns: ['name'], different: 2 });
    expect(JSON.parse(draftProject(probed, 'drafted').sample!.text)).toEqual([
      { name: '11', n: 7 },
      { name: '12', n: 7 },
    ]);
    const warehouse = await temporaryFolder();
    await sync({ project: await draft(probed), warehouse, clock: manualClock() });
    const { query } = await openWarehouse(warehouse);
    expect(await query('SELECT "name", n FROM list ORDER BY ALL')).toEqual([
      { name: '11', n: 7 },
      { name: '12', n: 7 },
    ]);
  });

  it('takes a filter of the URL as the partition, and other parameters as fixed ones', async () => {
    const probed = await probeUrl(`${await serveListing({ records })}/page?region=AA-1&year=2024&per_page=5`);
    expect(probed.partition).toMatchObject({ parameter: 'region', column: 'region' });
    expect(probed.parameters).toEqual({ year: '2024' });
  });

  it('says that a round number of records may be a page, and that a list has pages that it cannot turn', async () => {
    const url = await serveListing({ records: records.slice(0, 100) });
    expect((await probeUrl(`${url}/all`)).paging.guesses).toEqual([expect.stringContaining('100 records')]);
    const guesses = [expect.stringContaining('limit=2'), expect.stringContaining('/has_more')];
    expect((await probeUrl(`${url}/after-last`)).paging.guesses).toEqual(guesses);
  });

  const filled = (of: number, listed: (at: number) => ListedRecord): ListedRecord[] =>
    Array.from({ length: of }, (_, at) => listed(at));

  it.each<[string, ListedRecord[], kind: string, why: string, key: string]>([
    [
      'a code with dots',
      filled(137, (at) => ({ kode: `11.${100 + at}`, day: `2024-${1000 + at}` })),
      'text',
      '"11.100"',
      'kode',
    ],
    [
      'few leading zeros',
      filled(50, (at) => ({ area: at === 7 ? '0123' : String(1000 + at) })),
      'text',
      '"0123"',
      'area',
    ],
    ['texts and numbers', [{ code: 12 }, { code: '12A' }, { code: 14 }], 'text', '2 of 3', 'code'],
    [
      'one odd count',
      filled(137, (at) => ({ seats: at === 100 ? '1.200' : `${at % 60}`, id: at })),
      'count',
      '"1.200"',
      'id',
    ],
  ])('guesses the kind of a field with %s, shows why, and finds the key', async (_what, listed, kind, why, key) => {
    const probed = await probeUrl(`${await serveListing({ records: listed })}/all`);
    expect(probed.columns[0]).toMatchObject({ definition: { kind }, why: expect.stringContaining(why) });
    expect(probed.keys[0]!.columns).toEqual([key]);
  });

  it.each([
    ['whole numbers with a point', ['12.0', '1e3', '1.0E+2'], '1112'],
    ['numbers that are too large for a double', ['9007199254740993', '1'], '9007199254740994'],
    ['decimals under the name of a code', ['11.01', '11.10'], '22.11'],
    ['small exponents', ['1.5e-3', '2'], '2.0015'],
  ])('drafts a kind for %s that a sync accepts', async (_what, numbers, sum) => {
    const rows = numbers.map((number, at) => `{"name":"n${at}","code":${number}}`);
    const server = await startFaultServer((_, response) => void response.end(`[${rows.join(',')}]`));
    onTestFinished(() => server.close());
    const warehouse = await temporaryFolder();
    await sync({ project: await draft(await probeUrl(`${server.url}/list`)), warehouse, clock: manualClock() });
    const { query } = await openWarehouse(warehouse);
    const [row] = await query('SELECT sum(code)::VARCHAR AS code FROM list');
    expect(row).toEqual({ code: expect.stringMatching(new RegExp(`^${sum.replace('.', '\\.')}(\\.0+)?$`)) });
    expect(await query('FROM violations')).toEqual([]);
  });

  it('takes texts under the name of a code for texts, also as a filter', async () => {
    const coded = records.map(({ stationNo }, at) => ({ kodewilayah: `11.${10 + (at % 3)}`, stationNo, at }));
    const server = await startFaultServer((request, response) => {
      const code = new URL(request.url!, 'http://host').searchParams.get('kodewilayah');
      answerJson(response, code === null ? coded : coded.filter(({ kodewilayah }) => kodewilayah === code));
    });
    onTestFinished(() => server.close());
    const probed = await probeUrl(`${server.url}/list`);
    expect(probed.columns[0]!.definition.kind).toBe('text');
    expect(probed.partition).toMatchObject({ parameter: 'kodewilayah' });
  });

  describe('does not take a parameter for a filter that the source ignores', () => {
    const sorted = records.toSorted((a, b) => String(a['region']).localeCompare(String(b['region'])));

    it('in the URL', async () => {
      const one = records.map((record) => ({ ...record, region: 'AA-1' }));
      const probed = await probeUrl(`${await serveListing({ records: one })}/all?region=AA-1`);
      expect(probed).toMatchObject({ partition: null, parameters: { region: 'AA-1' } });
    });

    it('because the first page has only one value', async () => {
      const server = await startFaultServer((request, response) => {
        const page = Number(new URL(request.url!, 'http://host').searchParams.get('page') ?? 1);
        answerJson(response, sorted.slice((page - 1) * 30, page * 30));
      });
      onTestFinished(() => server.close());
      expect((await probeUrl(`${server.url}/list`)).partition).toBeNull();
    });

    it('but takes one of a sorted list', async () => {
      const url = await serveListing({ records: sorted });
      expect((await probeUrl(`${url}/page`)).partition).toMatchObject({ parameter: 'region' });
      expect((await probeUrl(`${url}/page?region=AA-2`)).partition).toMatchObject({ parameter: 'region' });
    });
  });

  it.each([
    ['records may be missing', '/after-last', records.slice(0, 100), /^\/\/ Check this before you sync: .*has_more/],
    [
      'a key repeats',
      '/all',
      [...records, ...records.slice(0, 1)],
      /^\/\/ Check this before you sync: .*137 of 138.*key/,
    ],
    ['all is proved', '/page', records, /^import/],
  ])('says in the first line of the draft that %s', async (_what, path, listed, line) => {
    const probed = await probeUrl((await serveListing({ records: listed })) + path);
    expect(draftProject(probed, 'drafted').pipeline.split('\n')[0]).toMatch(line);
  });

  it('drafts valid code from field names and values that could end a comment or a string', async () => {
    const hostile = [
      "'",
      '\u2028process.exit(3)//',
      '*/',
      '`${1}`',
      '\\',
      '\nprocess.exit(4)//',
      '\u202e',
      '__proto__',
    ];
    const named = Array.from({ length: 30 }, (_, at) =>
      Object.fromEntries([['id', `x${at}`] as const, ...hostile.map((text) => [text, text] as const)]),
    );
    const folder = await draft(await probeUrl(`${await serveListing({ records: named })}/all`));
    const { pipelines } = await loadProject(folder);
    const fields = Object.values(pipelines[0]!.columns).map(({ field }) => field);
    expect(fields).toEqual(['id', ...hostile]);
  });

  it('drafts columns that a check accepts for fields with unusual names, and leaves out a field that no column can name', async () => {
    const unusual = [1, 2].map((id) => ({ id, '': `e${id}`, ' ': `b${id}`, inner: { '': `i${id}`, '-': 'x' } }));
    const probed = await probeUrl(`${await serveListing({ records: unusual })}/all`);
    expect(probed.columns.map(({ name, definition: { field } }) => [name, field])).toEqual([
      ['id', 'id'],
      ['field', '/'],
      ['field_2', '/ '],
      ['inner', '/inner/'],
    ]);
    expect(probed.skipped).toEqual(['/inner/-']);
    const project = await draft(probed);
    expect(await runHere(['check', '--project', project])).toMatchObject({ code: 0, stderr: '' });
    const warehouse = await temporaryFolder();
    await sync({ project, warehouse, clock: manualClock() });
    const { query } = await openWarehouse(warehouse);
    const rows = await query('SELECT id, field, field_2, "inner" FROM "all" ORDER BY id');
    expect(rows.map((row) => Object.values(row).map(String))).toEqual(
      [1, 2].map((id) => [`${id}`, `e${id}`, `b${id}`, `i${id}`]),
    );
  });

  it('drafts a sample and names of bounded lengths', async () => {
    const long = 'x'.repeat(50_000);
    const many = Array.from({ length: 100 }, (_, id) => ({ id, ['field '.repeat(50)]: long }));
    const drafted = draftProject(await probeUrl(`${await serveListing({ records: many })}/all`), 'drafted');
    expect(drafted.sample!.text.length).toBeLessThan(1.1e6);
    expect(drafted.pipeline).toMatch(/\n {4}(field_){9}\w*: text\(/);
    expect(drafted.pipeline).not.toMatch(/\n {4}\w{61}/);
  });

  it('drafts at most as many columns as a check accepts', async () => {
    const wide = (fields: number): ListedRecord =>
      Object.fromEntries(Array.from({ length: fields }, (_, at) => [`f${at}`, at]));
    const probed = await probeUrl(`${await serveListing({ records: [wide(maxColumns)] })}/all`);
    await draft(probed);
    await expect(probeUrl(`${await serveListing({ records: [wide(maxColumns + 1)] })}/all`)).rejects.toMatchObject({
      code: 'envelope',
      message: expect.stringContaining('1,001 fields'),
    });
    await expect(probeUrl(`${await serveListing({ records: [{ tags: ['a'] }] })}/all`)).rejects.toMatchObject({
      code: 'envelope',
      message: expect.stringContaining('0 fields'),
    });
  });

  it.each<[string, Script]>([
    ['a response that never ends', (_, response) => drip(response)],
    [
      'slow pages',
      (request, response) => (request.url!.includes('?') ? drip(response) : answerJson(response, records.slice(0, 10))),
    ],
  ])('ends after its maximum duration for %s', async (_what, script) => {
    const server = await startFaultServer(script);
    onTestFinished(() => server.close());
    const startedAt = performance.now();
    await expect(probeUrl(`${server.url}/list`, 1000)).rejects.toMatchObject({
      code: 'run-timeout',
      message: expect.stringMatching(/did not finish within 1 s\. .* [01] requests?/),
      next: expect.stringContaining('--max-duration'),
    });
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  it('writes no file over another', async () => {
    const probed = await probeUrl(`${await serveListing({ records })}/all`);
    const folder = await draft(probed);
    await writeFile(join(folder, 'pipelines/all.ts'), 'mine');
    await expect(
      writeDraft(draftProject(probed, 'drafted'), { folder, project: await loadProject(null), origin: probed.origin }),
    ).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('already exists') });
  });

  it.each([
    ['http://127.0.0.1:1/v1/list?token=abc', 'usage'],
    ['http://user:secret@127.0.0.1:1/v1/list', 'usage'],
    ['not a url', 'usage'],
    ['http://127.0.0.1:1/', 'usage'],
    ['http://127.0.0.1:1/list', 'source-unreachable'],
  ])('refuses %s', async (url, code) => {
    await expect(probeUrl(url)).rejects.toMatchObject({ code });
  });

  it.each<[string, Script, object]>([
    [
      'a redirect',
      (_, response) => void response.writeHead(301, { location: '/list/?x=1' }).end(),
      {
        code: 'source-status',
        message: expect.stringMatching(/redirects to http\S+\/list\/ /),
        next: expect.stringMatching(/http\S+\/list\/\?year=2024/),
      },
    ],
    [
      'Latin-1',
      (_, response) => void response.end(Buffer.from('[{"name":"CAFÉ"}]', 'latin1')),
      { code: 'envelope', message: expect.stringContaining('byte 13 is 0xc9') },
    ],
    [
      'NaN',
      (_, response) => void response.end('[{"id":1,"share":NaN}]'),
      { code: 'envelope', message: expect.stringMatching(/not valid JSON.*byte 17.*NaN/) },
    ],
    [
      'an image',
      (_, response) => void response.end(Buffer.from('\x89PNG\r\n\x1a\n\0\0', 'latin1')),
      { code: 'envelope', message: expect.stringMatching(/^[\x20-\x7e]*binary data[\x20-\x7e]*$/) },
    ],
  ])('explains %s', async (_what, script, error) => {
    const server = await startFaultServer(script);
    onTestFinished(() => server.close());
    await expect(probeUrl(`${server.url}/list?year=2024`)).rejects.toMatchObject(error);
  });

  it('refuses a response without records', async () => {
    const url = await serveListing({ records: [] });
    await expect(probeUrl(`${url}/all`)).rejects.toMatchObject({ code: 'envelope' });
    await expect(probeUrl(`${url}/nowhere`)).rejects.toMatchObject({ code: 'source-status', status: 404 });
  });
});
