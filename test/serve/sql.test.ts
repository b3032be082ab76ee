/** SQL over HTTP: bounded processes of their own, one statement that reads, and nothing for pages of other sites. */

import { EventEmitter, once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { queryRows, queriesAtOnce } from '../../src/serve/limits.ts';
import { type RunQuery, queryProcesses, type QueryProcessesOptions } from '../../src/serve/query-processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, emptySite, expectProblem, key, sendRaw, start } from './support.ts';

const program = fileURLToPath(new URL('../../dist/src/cli/query-child.js', import.meta.url));
const never = 'SELECT count(*) FROM range(1000000000000) a, range(1000000)';

/** A service over a DuckDB file with the table `numbers`, which holds 1 to 3. */
async function serve(options: Partial<QueryProcessesOptions> = {}, onlyLoopback = true) {
  const file = join(await temporaryFolder(), 'one.duckdb');
  const database = await openDatabase(file);
  await database.run('CREATE TABLE numbers AS SELECT range::INTEGER AS n FROM range(1, 4)');
  database.close();
  const answer = queryProcesses({ program, database: async () => file, ...options });
  const service = await start({ site: emptySite, sql: { answer, onlyLoopback } });
  const get = (sql: string, ending = '.json', headers: Record<string, string> = {}) =>
    ask(service, `/sql${ending}?${new URLSearchParams({ sql }).toString()}`, { headers });
  return { service, answer, get };
}

/** A child that does what the text says instead of answering. */
async function childThat(does: string): Promise<string> {
  const file = join(await temporaryFolder(), 'child.mjs');
  await writeFile(file, does);
  return file;
}

describe('SQL over HTTP', () => {
  it('gives rows as JSON, as CSV and as a page', async () => {
    const { get } = await serve();
    const sql = "SELECT n, '<b>' AS text FROM numbers WHERE n > 1";
    expect(await (await get(sql)).json()).toEqual({
      ok: true,
      truncated: false,
      columns: [
        { name: 'n', type: 'INTEGER' },
        { name: 'text', type: 'VARCHAR' },
      ],
      rows: [
        { n: 2, text: '<b>' },
        { n: 3, text: '<b>' },
      ],
    });
    expect(await (await get(sql, '.csv')).text()).toBe('n,text\n2,<b>\n3,<b>\n');
    const page = await (await get(sql, '')).text();
    expect(page).toContain('2 rows');
    expect(page).toContain('&lt;b&gt;');
    expect(page).not.toContain('<b>');
    expect(await (await get('FROM\r\n\tnumbers', '')).text()).toContain('FROM\n\tnumbers</textarea');
  });

  it('says that a result is truncated, and refuses to truncate CSV', async () => {
    const { get } = await serve();
    const rows = async (count: number) => (await (await get(`FROM range(${count})`)).json()) as object;
    expect(await rows(queryRows)).toMatchObject({ truncated: false, rows: { length: queryRows } });
    expect(await rows(queryRows + 1)).toMatchObject({ truncated: true, rows: { length: queryRows } });
    expect(await (await get(`FROM range(${queryRows + 1})`, '')).text()).toContain('The result has more rows');
    await expectProblem(await get(`FROM range(${queryRows + 1})`, '.csv'), 413);
  });

  it.each([
    ['a statement that writes', 'DROP TABLE numbers'],
    ['two statements', 'SELECT 1; SELECT 2'],
    ['a file', "FROM read_text('/etc/hostname')"],
    ['a setting', 'SET memory_limit = 1'],
    ['no such table', 'FROM nothing'],
  ])('refuses %s with 422, in the page too', async (_what, sql) => {
    const { get } = await serve();
    expect(await expectProblem(await get(sql), 422)).toMatchObject({ parameter: 'sql' });
    const page = await get(sql, '', { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
  });

  it('needs a key, and exactly one statement', async () => {
    const { service } = await serve();
    expect((await fetch(`${service.url}/sql.json?sql=SELECT+1`)).status).toBe(401);
    for (const path of ['/sql.json', '/sql.json?sql=', '/sql.json?sql=SELECT+1&sql=SELECT+1', '/sql.csv?q=SELECT+1'])
      await expectProblem(await ask(service, path), 400);
    expect((await ask(service, '/sql')).status).toBe(200);
  });

  it('takes no request that a page of another site sends, under whatever name', async () => {
    const { service, get } = await serve();
    const read = await get('SELECT 1');
    expect(read.headers.get('access-control-allow-origin')).toBeNull();
    expect(read.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    const escaped = await ask(service, '/%73ql%2ejson?sql=SELECT+1');
    expect([escaped.status, escaped.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    const path = '/sql.json?sql=SELECT+1';
    await expectProblem(await get('SELECT 1', '.json', { origin: 'https://example.org' }), 403);
    await expectProblem(await get('SELECT 1', '.json', { origin: 'null' }), 403);
    await expectProblem(await get('SELECT 1', '.json', { 'sec-fetch-site': 'cross-site' }), 403);
    const preflight = { origin: 'https://example.org', 'access-control-request-method': 'GET' };
    expect((await fetch(service.url + path, { method: 'OPTIONS', headers: preflight })).status).toBe(405);
    // The name that DNS rebinding gives to 127.0.0.1.
    expect(await statusUnder('evil.example', await serve())).toBe(421);
    expect(await statusUnder('localhost.evil.example', await serve())).toBe(421);
    expect(await statusUnder('localhost:8080', await serve())).toBe(200);
    expect(await statusUnder('evil.example', await serve({}, false))).toBe(200);
  });
});

/** The status of a request with another name in Host, which fetch doesn't allow. */
async function statusUnder(host: string, { service }: Awaited<ReturnType<typeof serve>>): Promise<number | undefined> {
  const lines = ['GET /sql.json?sql=SELECT+1 HTTP/1.1', `host: ${host}`, `x-api-key: ${key}`, 'connection: close'];
  return (await sendRaw(service, `${lines.join('\r\n')}\r\n\r\n`))?.status;
}

describe('a query in a process of its own', () => {
  it('is killed when it takes too long, and the service goes on', async () => {
    const { get } = await serve({ time: 1_000 });
    expect(await expectProblem(await get(never), 422)).toMatchObject({ detail: expect.stringContaining('1 s') });
    expect((await get('', '', { accept: 'text/html' })).status).toBe(200);
  });

  it.each([
    ['sorts', 'SELECT * FROM range(3000) a, range(3000) b ORDER BY hash(a.range + b.range)'],
    ['makes a list', 'SELECT list(range) FROM range(1000000000)'],
    ['makes a text', "SELECT repeat('x', 400000000)"],
  ])('gets 413 when it %s beyond its memory', async (_what, sql) => {
    const { get } = await serve({ memory: 32 * 1024 ** 2 });
    await expectProblem(await get(sql), 413);
    expect((await get('FROM numbers')).status).toBe(200);
  });

  it.each([
    ['exits', 'process.exit(3)', 422],
    ['aborts', 'process.abort()', 413],
    ['throws', "throw new Error('broken')", 422],
  ])('that %s gets a problem', async (_what, does, status) => {
    const { get } = await serve({ program: await childThat(does) });
    await expectProblem(await get('SELECT 1'), status);
  });

  it('sees nothing of the environment of the service', async () => {
    const says = `process.once('message', () => process.send({ columns: [], text: JSON.stringify([process.env]), rows: 1, truncated: false }))`;
    const { get } = await serve({ program: await childThat(says) });
    const { rows } = (await (await get('SELECT 1')).json()) as { rows: object[] };
    expect(Object.keys(rows[0]!).filter((name) => !name.startsWith('NODE_CHANNEL'))).toEqual([]);
  });

  it('shares a fixed number of places, which are free again when a process has ended', async () => {
    const { answer, get } = await serve({ time: 3_600_000 });
    const closing = new AbortController();
    const running = Array.from({ length: queriesAtOnce }, () => answer(never, 'json', closing.signal));
    const refused = await get('SELECT 1');
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await expectProblem(refused, 503);
    closing.abort(new Error('closed'));
    for (const { status } of await Promise.allSettled(running)) expect(status).toBe('rejected');
    expect((await get('SELECT 1')).status).toBe(200);
  });

  it('is killed when its client goes away', async () => {
    const events = new EventEmitter();
    const answer: RunQuery = async (_sql, _format, signal) => {
      signal.addEventListener('abort', () => events.emit('killed'));
      events.emit('begun');
      await once(signal, 'abort');
      throw signal.reason as Error;
    };
    const [begun, killed] = ['begun', 'killed'].map((name) => once(events, name));
    const service = await start({ site: emptySite, sql: { answer, onlyLoopback: true } });
    const leaving = new AbortController();
    const response = ask(service, '/sql.json?sql=SELECT+1', { signal: leaving.signal }).catch(() => null);
    await begun;
    leaving.abort();
    await killed;
    expect(await response).toBeNull();
  });
});
