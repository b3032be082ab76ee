/** What real services do beside paging: parents in the path, names beside records, headers, other origins, a proxy, and searches by POST. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AnyPipeline, Project } from '../../src/project/declaration.ts';
import { count, date, integer, sum, text } from '../../src/project/define.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { keyOf } from '../../src/source/credentials.ts';
import { answerJson, type FaultServer, type Script, startFaultServer } from '../support/fault-server.ts';
import { readRows } from '../support/read-table.ts';
import { runSync, serveSource } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function pipelineOf(changes: Partial<AnyPipeline>): AnyPipeline {
  const table = changes.table ?? 'items';
  return {
    table,
    title: table,
    comment: 'Items.',
    path: '/items',
    paging: { by: 'none' },
    format: 'json',
    records: '',
    columns: { id: text('id', 'ID.') },
    key: ['id'],
    watch: [],
    checks: [],
    ...changes,
  };
}

type Declared = Project & { readonly reportModule: null };

function projectOf(pipelines: readonly AnyPipeline[], auth: Project['auth'] = null): Declared {
  const texts = { name: 'real', title: 'Real', description: 'Real.' };
  return { ...texts, examples: [], auth, pipelines, models: [], checks: [], reportModule: null };
}

async function start(script: Script): Promise<FaultServer> {
  const server = await startFaultServer(script);
  onTestFinished(() => server.close());
  return server;
}

async function publish(url: string, project: Declared, settings: Parameters<typeof syncOptions>[2] = {}) {
  const warehouse = await temporaryFolder();
  await runSync(syncOptions(warehouse, url, settings), {}, project);
  return warehouse;
}

const regions = pipelineOf({
  table: 'regions',
  path: '/regions',
  columns: { code: text('code', 'Code.') },
  key: ['code'],
});
const places = pipelineOf({
  table: 'places',
  path: '/regions/{region}/places.json',
  partition: { parameter: 'region', column: 'region', values: { from: 'pipeline', column: 'regions.code' } },
  columns: { region: text('region', 'Region.', { from: 'request' }), id: text('id', 'ID.') },
  key: ['region', 'id'],
});

describe('a filter with two parameters', () => {
  const years = ['2023', '2024'];
  const codes = ['11', 'A/B'];
  const results = pipelineOf({
    table: 'results',
    path: '/years/{year}/results',
    partition: {
      parameter: 'year',
      column: 'year',
      values: { from: 'list', values: years },
      and: [{ parameter: 'region', column: 'region', values: { from: 'pipeline', column: 'regions.code' } }],
    },
    columns: {
      year: text('year', 'Year.', { from: 'request' }),
      region: text('region', 'Region.', { from: 'request' }),
      id: text('id', 'ID.'),
    },
    key: ['year', 'region', 'id'],
  });
  /** Answers each combination with the records of `idsOf`. */
  const scriptOf =
    (idsOf: (year: string, region: string | null) => readonly string[]): Script =>
    ({ url = '' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://localhost');
      const [, year] = /^\/years\/([^/]+)\/results$/.exec(pathname) ?? [];
      if (year === undefined)
        return answerJson(
          response,
          codes.map((code) => ({ code })),
        );
      answerJson(
        response,
        idsOf(year, searchParams.get('region')).map((id) => ({ id })),
      );
    };
  const project = projectOf([regions, results]);
  const rowsOf = (warehouse: string) => readRows(warehouse, 'SELECT year, region, id FROM results ORDER BY ALL');
  const combined = years.flatMap((year) => codes.map((region) => ({ year, region, id: `${year} ${region}` })));

  it('has a list for each combination, and a mirror serves them so again', async () => {
    const source = await start(scriptOf((year, region) => [`${year} ${region}`]));
    const warehouse = await publish(source.url, project);
    expect(await rowsOf(warehouse)).toEqual(combined);
    const { url } = await serveSource(await openWarehouseSource(warehouse, project.pipelines), undefined, project);
    expect(await rowsOf(await publish(url, project))).toEqual(combined);
  });

  it.each([
    ['year', (_: string, region: string | null) => [String(region)]],
    ['region', (year: string) => [year]],
  ])('is refused if the source ignores %s', async (name, idsOf) => {
    const source = await start(scriptOf(idsOf));
    await expect(publish(source.url, project)).rejects.toThrow(`ignore "${name}"`);
  });

  it('is read for one combination, and the others stay', async () => {
    let suffix = '';
    const source = await start(scriptOf((year, region) => [`${year} ${region}${suffix}`]));
    const warehouse = await publish(source.url, project);
    suffix = ' new';
    await runSync(syncOptions(warehouse, source.url, { partitions: ['2024/A%2FB'], acceptChanges: true }), {}, project);
    expect(await rowsOf(warehouse)).toEqual(
      combined.map((row) => (row.id === '2024 A/B' ? { ...row, id: '2024 A/B new' } : row)),
    );
    // A table of nothing but its key has changes too.
    expect(
      await readRows(warehouse, 'SELECT kind, column_name, old_value, new_value FROM changes ORDER BY kind'),
    ).toEqual([
      { kind: 'added', column_name: 'id', old_value: null, new_value: '2024 A/B new' },
      { kind: 'removed', column_name: 'id', old_value: '2024 A/B', new_value: null },
    ]);
  });
});

describe('children in a path', () => {
  const script =
    (childrenOf: (region: string) => readonly string[]): Script =>
    ({ url = '' }, response) => {
      const [, region] = /^\/regions\/([^/]+)\/places\.json$/.exec(url) ?? [];
      const codes = ['11', 'A/B', '..'];
      if (region === undefined)
        return answerJson(
          response,
          codes.map((code) => ({ code })),
        );
      answerJson(
        response,
        childrenOf(decodeURIComponent(region)).map((id) => ({ id })),
      );
    };

  it('have the value of their parent, also one with a slash, and are served so again', async () => {
    const source = await start(script((region) => [`${region} 1`, `${region} 2`]));
    const warehouse = await publish(source.url, projectOf([regions, places]));
    const rows = await readRows(warehouse, 'SELECT region, id FROM places ORDER BY ALL');
    expect(rows).toEqual(
      ['..', '11', 'A/B'].flatMap((region) => [1, 2].map((id) => ({ region, id: `${region} ${id}` }))),
    );
    expect(source.paths).toContain('/regions/A%2FB/places.json');
    expect(source.paths).toContain('/regions/%2E%2E/places.json');
    const pipelines = [regions, places];
    const served = projectOf(pipelines, { header: 'x-api-key' });
    const mirror = await serveSource(await openWarehouseSource(warehouse, pipelines), undefined, served);
    const page = await fetch(`${mirror.url}/regions/11/places.json`, { headers: { 'x-api-key': testKey } });
    expect(await page.json()).toEqual([{ id: '11 1' }, { id: '11 2' }]);
  });

  it('are refused if all parents have the same ones, unless that is accepted', async () => {
    const source = await start(script(() => ['1', '2']));
    const project = projectOf([regions, places]);
    await expect(publish(source.url, project)).rejects.toThrow('seems to ignore "region"');
    const warehouse = await publish(source.url, project, { acceptChanges: true });
    expect(await readRows(warehouse, 'SELECT count(*)::INTEGER AS n FROM places')).toEqual([{ n: 6 }]);
  });
});

it('a filter whose value the records do not repeat gives each record the value that was requested', async () => {
  const source = await start(({ url }, response) => {
    const region = new URL(url!, 'http://source.test').searchParams.get('region');
    if (region === null) return answerJson(response, { error: 'region is required' }, 400);
    answerJson(response, region === '12' ? [] : [{ id: `${region}01` }]);
  });
  const partition = {
    parameter: 'region',
    column: 'region',
    values: { from: 'list', values: ['11', '12', '13'] },
  } as const;
  const pipeline = { ...places, table: 'filtered', path: '/places', partition };
  const warehouse = await publish(source.url, projectOf([pipeline]));
  expect(await readRows(warehouse, 'SELECT region, id FROM filtered ORDER BY ALL')).toEqual([
    { region: '11', id: '1101' },
    { region: '13', id: '1301' },
  ]);
});

it('a parent that appears while the lists of the others are read for long is not left out', async () => {
  const clock = manualClock();
  const codes = ['11', '12'];
  const source = await start(({ url = '' }, response) => {
    const [, region] = /^\/regions\/([^/]+)\//.exec(url) ?? [];
    if (region === undefined) {
      const named = codes.map((code) => ({ code }));
      return answerJson(response, named);
    }
    if (!codes.includes('13') && region === '12') codes.push('13');
    void clock.sleep(61_000);
    answerJson(response, [{ id: region }]);
  });
  const project = projectOf([regions, places]);
  const sync = async () => runSync(syncOptions(await temporaryFolder(), source.url), { clock }, project);
  await expect(sync()).rejects.toThrow('regions.code has the new value "13"');
  await sync();
});

it('the names of records in an object are a column', async () => {
  const source = await start((_, response) =>
    answerJson(response, { ts: 'now', table: { 11: { votes: 7 }, 'a"b': { votes: 7 }, null: { votes: 0 } } }),
  );
  const columns = { code: text('code', 'Code.', { from: 'name' }), votes: count('votes', 'Votes.') };
  const pipeline = pipelineOf({ records: '/table', columns, key: ['code'] });
  const warehouse = await publish(source.url, projectOf([pipeline]));
  const rows = [
    { code: '11', votes: 7 },
    { code: 'a"b', votes: 7 },
    { code: 'null', votes: 0 },
  ];
  expect(await readRows(warehouse, 'SELECT code, votes FROM items ORDER BY ALL')).toEqual(rows);
  const served = projectOf([pipeline], { header: 'x-api-key' });
  for (const hasLanding of [true, false]) {
    if (!hasLanding) await rm(join(warehouse, 'landing'), { recursive: true });
    const mirror = await serveSource(await openWarehouseSource(warehouse, [pipeline]), undefined, served);
    const again = await publish(mirror.url, served);
    expect(await readRows(again, 'SELECT code, votes FROM items ORDER BY ALL')).toEqual(rows);
  }
});

describe('a table with a row of names', () => {
  const columns = { id: text('id', 'ID.'), votes: count('votes', 'Votes.') };
  const read = async (body: string, changes: Partial<AnyPipeline>, hasLength = true) => {
    const source = await start((_, response) => {
      if (hasLength) response.setHeader('content-length', Buffer.byteLength(body));
      response.write(body);
      response.end();
    });
    const project = projectOf([pipelineOf({ columns, ...changes })]);
    const warehouse = await publish(source.url, project);
    return { rows: await readRows(warehouse, 'SELECT id, votes FROM items ORDER BY ALL'), warehouse };
  };
  const expected = [
    { id: '"a", b', votes: 1 },
    { id: 'c\nd', votes: 2147483647 },
  ];

  it.each<[string, string, Partial<AnyPipeline>]>([
    ['CSV', '\ufeffvotes,id,other\r\n1,"""a"", b",x\r\n2147483647,"c\nd",\r\n', { format: 'csv' }],
    ['CSV with semicolons', 'votes;id\n1;"""a"", b"\n2147483647;"c\nd"', { format: 'csv', delimiter: ';' }],
    ['rows of JSON', '[["votes","id"],["1","\\"a\\", b"],[2147483647,"c\\nd"]]', { format: 'rows' }],
  ])('is read, and served by a mirror: %s', async (_, body, changes) => {
    const { rows, warehouse } = await read(body, changes);
    expect(rows).toEqual(expected);
    const served = projectOf([pipelineOf({ columns, ...changes })], { header: 'x-api-key' });
    const mirror = await serveSource(await openWarehouseSource(warehouse, served.pipelines), undefined, served);
    const again = await publish(mirror.url, served);
    expect(await readRows(again, 'SELECT id, votes FROM items ORDER BY ALL')).toEqual(expected);
  });

  it.each<[string, string, Partial<AnyPipeline>, boolean, string]>([
    ['a quote is open', 'id,votes\n"a,1\n', { format: 'csv' }, true, 'ends in the middle'],
    ['a row is short', 'id,votes\na,1\nb\nc,1\n', { format: 'csv' }, true, 'expect 2, got 1 on line 3'],
    ['a row is long', 'id,votes\na,1,2\n', { format: 'csv' }, true, 'expect 2, got 3 on line 2'],
    ['a name comes twice', 'id,votes,id\na,1,b\n', { format: 'csv' }, true, '"id" twice'],
    ['it is a page', '<html>busy</html>\n', { format: 'csv' }, true, 'HTML or XML'],
    [
      'its length is unknown, and the last line is open',
      'id,votes\na,1\nb,2',
      { format: 'csv' },
      false,
      'ends in the middle',
    ],
    ['the delimiter is another', 'id;votes\na;1\n', { format: 'csv' }, true, 'has the field "id"'],
    ['a row of JSON is short', '[["id","votes"],["a"]]', { format: 'rows' }, true, 'row 2 has 1 values'],
    ['no row has names', '[[1,2],[3,4]]', { format: 'rows' }, true, 'first row has no names'],
  ])('is refused if %s', async (_, body, changes, hasLength, problem) => {
    await expect(read(body, changes, hasLength)).rejects.toThrow(problem);
  });
});

it('sends declared headers, the key with its prefix, and names of parameters as they are written', async () => {
  const source = await start((_, response) => answerJson(response, [{ id: '1' }]));
  const pipeline = pipelineOf({
    headers: { 'accept-version': '2' },
    parameters: { $filter: "a eq 'b c'", 'x[]': '1,2' },
  });
  await publish(source.url, projectOf([pipeline], { header: 'authorization', prefix: 'Token ' }));
  expect(source.headers[0]).toMatchObject({ authorization: `Token ${testKey}`, 'accept-version': '2' });
  expect(source.paths[0]).toBe("/items?$filter=a%20eq%20'b%20c'&x[]=1,2");
});

it('a header with a secret has it from a variable, which goes nowhere else and is in no file', async () => {
  const secret = 'Bearer another-secret';
  const source = await start(({ headers }, response) =>
    answerJson(response, [{ id: `${String(headers.authorization)} ${String(headers['x-api-key'])}` }]),
  );
  const pipeline = pipelineOf({ headers: { Authorization: { variable: 'OTHER_TOKEN' } } });
  const apiKey = keyOf(testKey, null, { OTHER_TOKEN: secret });
  const warehouse = await publish(source.url, projectOf([pipeline], { header: 'x-api-key' }), { apiKey });
  expect(source.headers[0]).toMatchObject({ authorization: secret, 'x-api-key': testKey });
  expect(await readRows(warehouse, 'SELECT id FROM items')).toEqual([{ id: '[redacted] [redacted]' }]);
});

it('a service with its parameters, its page and its key in the path, and the total in an array, is read whole', async () => {
  const items = Array.from({ length: 23 }, (_, index) => ({ id: `v${index}` }));
  let fails = false;
  const source = await start(({ url = '' }, response) => {
    const [, domain, page, given] = /^\/list\/model\/var\/domain\/(\d+)\/page\/(\d+)\/key\/([^/]+)\/$/.exec(url) ?? [];
    if (fails && page === '2') return answerJson(response, { status: 'OK', data: '' });
    if (given !== testKey || domain !== '3100') return answerJson(response, { status: 'Error' }, 401);
    const part = items.slice((Number(page) - 1) * 10, Number(page) * 10);
    const head = { page: Number(page), pages: 3, per_page: 10, count: part.length, total: items.length };
    answerJson(response, part.length === 0 ? { status: 'OK', data: '' } : { status: 'OK', data: [head, part] });
  });
  const pipeline = pipelineOf({
    path: '/list/model/var/domain/{domain}/page/{page}/key/{key}/',
    parameters: { domain: '3100' },
    paging: { by: 'page', page: 'page' },
    records: '/data/1',
    reportedCount: '/data/0/total',
  });
  const warehouse = await publish(source.url, projectOf([pipeline], { query: 'key' }));
  expect(await readRows(warehouse, 'SELECT count(*)::INTEGER AS n FROM items')).toEqual([{ n: 23 }]);
  fails = true;
  await expect(publish(source.url, projectOf([pipeline], { query: 'key' }))).rejects.toThrow('could not be proved');
  const [run] = await readdir(join(warehouse, 'landing'));
  expect(await readFile(join(warehouse, 'landing', run!, 'responses.jsonl'), 'utf8')).not.toContain(testKey);
  const served = await serveSource(
    await openWarehouseSource(warehouse, [pipeline]),
    undefined,
    projectOf([pipeline], { query: 'key' }),
  );
  const path = (key: string) => `/list/model/var/domain/3100/page/1/key/${key}/`;
  const refused = await fetch(served.url + path('wrong'));
  expect([refused.status, (await fetch(served.url + path(testKey))).status]).toEqual([401, 200]);
  expect(await refused.json()).toMatchObject({ instance: path('{key}') });
});

describe('client credentials of OAuth 2', () => {
  const items = Array.from({ length: 5 }, (_, index) => ({ id: String(index) }));

  /** A source that takes the newest token, and a server of tokens on another port. `ends` are the requests before which the token ends. */
  async function startOAuth({ ends = [] as number[], life = 3600, basicOnly = false, status = 200 } = {}) {
    let issued = 0;
    let requests = 0;
    const forms: Record<string, string>[] = [];
    const server = await start((request, response) => {
      void readBody(request).then((body) => {
        const form = Object.fromEntries(new URLSearchParams(body));
        forms.push({ ...form, basic: request.headers.authorization ?? '' });
        const basic = `Basic ${Buffer.from('client:s%3Acret-value').toString('base64')}`;
        const isKnown =
          request.headers.authorization === basic || (!basicOnly && form['client_secret'] === 's:cret-value');
        if (!isKnown || status !== 200)
          return answerJson(response, { error: 'invalid_client' }, isKnown ? status : 401);
        issued += 1;
        answerJson(response, { access_token: `token-number-${issued}`, token_type: 'bearer', expires_in: life });
      });
    });
    const source = await start(({ url, headers }, response) => {
      requests += 1;
      const hasEnded = ends.includes(requests);
      if (hasEnded || headers.authorization !== `Bearer token-number-${issued}`)
        return answerJson(response, { error: 'token ended' }, 401);
      const query = new URL(url!, 'http://source.test').searchParams;
      const [offset, limit] = [Number(query.get('offset')), Math.min(2, Number(query.get('limit')))];
      answerJson(response, { items: items.slice(offset, offset + limit), token: headers.authorization });
    });
    const auth = { oauth2: { tokenUrl: `${server.url}/token`, scope: 'read' } };
    const paging = { by: 'offset', limit: 'limit', offset: 'offset' } as const;
    const project = projectOf([pipelineOf({ records: '/items', paging })], auth);
    const apiKey = keyOf('client:s:cret-value', auth);
    const sync = async () => publish(source.url, project, { apiKey, maxAttempts: 2 });
    return { sync, forms, tokens: () => issued };
  }

  it('buy a token, which is hidden in stored responses, and a new one if it ends in the middle of a pass', async () => {
    const { sync, forms, tokens } = await startOAuth({ ends: [4] });
    const warehouse = await sync();
    expect(await readRows(warehouse, 'SELECT id FROM items ORDER BY ALL')).toEqual(items);
    expect(forms[0]).toMatchObject({ grant_type: 'client_credentials', client_id: 'client', scope: 'read' });
    expect(tokens()).toBe(2);
    const [run] = await readdir(join(warehouse, 'landing'));
    const bodies = await readFile(join(warehouse, 'landing', run!, 'bodies.gz'));
    expect(String(gunzipSync(bodies))).not.toContain('token-number');
    expect(String(gunzipSync(bodies))).toContain('[redacted]');
  });

  it('are sent in the header if the server reads them only there, and renewed before the token ends', async () => {
    const { sync, forms, tokens } = await startOAuth({ basicOnly: true, life: 0.000_001 });
    await sync();
    expect(forms[1]!['client_secret']).toBeUndefined();
    expect(tokens()).toBeGreaterThan(2);
  });

  it('are refused without a word about the secret', async () => {
    const { sync } = await startOAuth({ status: 403 });
    const error: unknown = await sync().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'source-refused-key',
      message: expect.stringContaining('status 403 (invalid_client)'),
    });
    expect(JSON.stringify(error)).not.toContain('cret-value');
  });
});

describe('a next page at another origin', () => {
  /** A list whose second page is on a second server. */
  async function startBoth() {
    const other = await start((_, response) => answerJson(response, { items: [{ id: '2' }], next: null }));
    const first = await start((_, response) =>
      answerJson(response, { items: [{ id: '1' }], next: `${other.url}/more?page=2` }),
    );
    return { first, other };
  }
  const listed = (allow: readonly (string | { origin: string; withKey: true })[]) =>
    projectOf([pipelineOf({ records: '/items', paging: { by: 'next', url: '/next', allow } })], {
      header: 'x-api-key',
    });

  it('is refused unless it is declared, and gets the key only if that is declared too', async () => {
    const { first, other } = await startBoth();
    await expect(publish(first.url, listed([]))).rejects.toThrow(other.url);
    expect(other.paths).toEqual([]);
    const warehouse = await publish(first.url, listed([other.url]));
    expect(await readRows(warehouse, 'SELECT id FROM items ORDER BY ALL')).toEqual([{ id: '1' }, { id: '2' }]);
    expect(other.headers.map((headers) => headers['x-api-key'])).toEqual([undefined, undefined]);
    await publish(first.url, listed([{ origin: other.url, withKey: true }]));
    expect(other.headers.at(-1)!['x-api-key']).toBe(testKey);
  });
});

it('a search by POST has its parameters in the body, and is read, stored and served like any list', async () => {
  const items = Array.from({ length: 7 }, (_, index) => ({ id: String(index) }));
  const bodies: unknown[] = [];
  const source = await start((request, response) => {
    void readBody(request).then((body) => {
      const { page } = JSON.parse(body) as { query: string; page: { from: number; size: number } };
      bodies.push(JSON.parse(body));
      const part = items.slice(page.from, page.from + Math.min(page.size, 3));
      answerJson(response, request.method === 'POST' ? { items: part } : {}, request.method === 'POST' ? 200 : 405);
    });
  });
  const paging = { by: 'offset', limit: '/page/size', offset: '/page/from' } as const;
  const request = { method: 'POST', body: { query: 'all', page: { from: 0, size: 0 } } } as const;
  const pipeline = pipelineOf({ records: '/items', paging, request });
  const warehouse = await publish(source.url, projectOf([pipeline]));
  expect(await readRows(warehouse, 'SELECT id FROM items ORDER BY ALL')).toEqual(items);
  expect(bodies[0]).toEqual({ query: 'all', page: { from: 0, size: 1000 } });
  const served = projectOf([pipeline], { header: 'x-api-key' });
  const mirror = await serveSource(await openWarehouseSource(warehouse, [pipeline]), undefined, served);
  const again = await publish(mirror.url, served);
  expect(await readRows(again, 'SELECT id FROM items ORDER BY ALL')).toEqual(items);
});

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) body += String(piece);
  return body;
}

it('goes through the proxy of the environment, but not to this machine', async () => {
  const source = await start((_, response) => answerJson(response, [{ id: '1' }]));
  const { port } = new URL(source.url);
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', (request, socket, head) => {
    tunnels.push(request.url!);
    const upstream = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  const project = projectOf([pipelineOf({})]);
  await publish(source.url, project);
  expect(tunnels).toEqual([]);
  await publish('http://source.test', project);
  expect(new Set(tunnels)).toEqual(new Set(['source.test:80']));
  vi.unstubAllEnvs();
});

it('two datasets may have key columns of the same name and of different kinds', async () => {
  const totals: Record<string, number> = { '/items': 4, '/days': 4 };
  const source = await start(({ url = '' }, response) => {
    const id = url === '/items' ? 7 : '2024-02-14';
    answerJson(response, [{ id, male: 1, female: 2, total: totals[url] }]);
  });
  const figures = { male: count('male', 'Men.'), female: count('female', 'Women.'), total: count('total', 'All.') };
  const checks = [sum('total', ['male', 'female'])];
  const of = (table: string, id: AnyPipeline['columns'][string]) =>
    pipelineOf({ table, path: `/${table}`, columns: { id, ...figures }, checks });
  const project = projectOf([of('items', integer('id', 'ID.')), of('days', date('id', 'Day.'))]);
  const warehouse = await publish(source.url, project);
  totals['/days'] = 5;
  await runSync(syncOptions(warehouse, source.url, { datasets: ['days'] }), {}, project);
  expect(await readRows(warehouse, 'SELECT dataset, id, actual FROM violations ORDER BY ALL')).toEqual([
    { dataset: 'days', id: '2024-02-14', actual: '5' },
    { dataset: 'items', id: '7', actual: '4' },
  ]);
  expect(await readRows(warehouse, 'SELECT dataset, id, new_value FROM changes')).toEqual([
    { dataset: 'days', id: '2024-02-14', new_value: '5' },
  ]);
  const consistency = 'SELECT is_consistent AS ok FROM items UNION ALL SELECT is_consistent FROM days';
  expect(await readRows(warehouse, consistency)).toEqual([{ ok: false }, { ok: false }]);
});

it('a lower bound of a total is no total: a list that only reaches it may be cut off there', async () => {
  let total: object = { value: 20, relation: 'gte' };
  const source = await start(({ url }, response) => {
    const offset = Number(new URL(url!, 'http://source.test').searchParams.get('offset'));
    const hits = Array.from({ length: 20 }, (_, id) => ({ id: String(id) })).slice(offset);
    answerJson(response, { total, hits });
  });
  const paging = { by: 'offset', limit: 'limit', offset: 'offset' } as const;
  const project = projectOf([pipelineOf({ paging, records: '/hits', reportedCount: '/total/value' })]);
  await expect(publish(source.url, project)).rejects.toThrow('reports at least 20 records');
  for (const enough of [
    { value: 20, relation: 'eq' },
    { value: 5, relation: 'gte' },
  ]) {
    total = enough;
    await publish(source.url, project);
  }
});
