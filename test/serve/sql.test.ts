/** SQL over HTTP runs one read-only statement in a process with limits, and refuses requests from pages of other sites. */

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

/** The path of a child program with this text. */
async function writeChild(text: string): Promise<string> {
  const file = join(await temporaryFolder(), 'child.mjs');
  await writeFile(file, text);
  return file;
}

describe('SQL over HTTP', () => {
  it('returns rows as JSON, as CSV and as a page', async () => {
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

  it('marks a truncated result, and refuses to truncate CSV', async () => {
    const { get } = await serve();
    const [whole, truncated] = [await get(`FROM range(${queryRows})`), await get(`FROM range(${queryRows + 1})`)];
    expect(await whole.json()).toMatchObject({ truncated: false, rows: { length: queryRows } });
    expect(await truncated.json()).toMatchObject({ truncated: true, rows: { length: queryRows } });
    await expectProblem(await get(`FROM range(${queryRows + 1})`, '.csv'), 413);
  });

  it('refuses with 422 what a query must not do, also on the page', async () => {
    const { get } = await serve();
    // test/snapshots/query tries more statements.
    expect(await expectProblem(await get('DROP TABLE numbers'), 422)).toMatchObject({ parameter: 'sql' });
    await expectProblem(await get("FROM read_text('/etc/hostname')"), 422);
    const page = await get('SELECT 1; SELECT 2', '', { accept: 'text/html' });
    expect([page.status, page.headers.get('content-type')]).toEqual([422, 'text/html; charset=utf-8']);
  });

  it('requires a key and exactly one statement', async () => {
    const { service } = await serve();
    expect((await fetch(`${service.url}/sql.json?sql=SELECT+1`)).status).toBe(401);
    for (const path of ['/sql.json', '/sql.json?sql=', '/sql.json?sql=SELECT+1&sql=SELECT+1', '/sql.csv?q=SELECT+1'])
      await expectProblem(await ask(service, path), 400);
    expect((await ask(service, '/sql')).status).toBe(200);
  });

  it('refuses requests from pages of other sites and under other host names', async () => {
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
    // DNS rebinding gives such names to 127.0.0.1.
    const statusUnder = async (host: string, to = service) => {
      const lines = [`GET ${path} HTTP/1.1`, `host: ${host}`, `x-api-key: ${key}`, 'connection: close'];
      return (await sendRaw(to, `${lines.join('\r\n')}\r\n\r\n`))?.status;
    };
    expect(await statusUnder('evil.example')).toBe(421);
    expect(await statusUnder('localhost.evil.example')).toBe(421);
    expect(await statusUnder('localhost:8080')).toBe(200);
    expect(await statusUnder('evil.example', (await serve({}, false)).service)).toBe(200);
  });
});

describe('a query in a process of its own', () => {
  it('is killed when it takes too long', async () => {
    const { get } = await serve({ time: 1_000 });
    expect(await expectProblem(await get(never), 422)).toMatchObject({ detail: expect.stringContaining('1 s') });
    expect((await get('', '', { accept: 'text/html' })).status).toBe(200);
  });

  it('gets 413 beyond its memory limit', async () => {
    const { get } = await serve({ memory: 32 * 1024 ** 2 });
    await expectProblem(await get("SELECT repeat('x', 400000000)"), 413);
    expect((await get('FROM numbers')).status).toBe(200);
  });

  it.each([
    ['exits', 'process.exit(3)', 422],
    ['aborts', 'process.abort()', 413],
    ['throws', "throw new Error('broken')", 422],
  ])('that %s gets a problem', async (_what, does, status) => {
    const { get } = await serve({ program: await writeChild(does) });
    await expectProblem(await get('SELECT 1'), status);
  });

  it('does not see the environment of the service', async () => {
    const child = `process.once('message', () => process.send({ columns: [], text: JSON.stringify([process.env]), rows: 1, truncated: false }))`;
    const { get } = await serve({ program: await writeChild(child) });
    const { rows } = (await (await get('SELECT 1')).json()) as { rows: object[] };
    expect(Object.keys(rows[0]!).filter((name) => !name.startsWith('NODE_CHANNEL'))).toEqual([]);
  });

  it('takes one of a fixed number of slots, and frees it at its end', async () => {
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
