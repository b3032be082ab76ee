/** A commit to a catalog is applied exactly once, or refused by name, whatever happens to its response. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { isRekapError } from '../../src/errors.ts';
import { Catalog, type CatalogSettings } from '../../src/share/lake/catalog.ts';
import { parseExactly, writeExactly } from '../../src/share/lake/exchange.ts';
import type { SnapshotId, TableChange } from '../../src/share/lake/iceberg.ts';
import { openRelay } from '../../src/share/lake/relay.ts';
import { tagOthers, withTag } from '../../src/share/lake/tags.ts';
import { Secret } from '../../src/source/secret.ts';
import { startFakeCatalog, type FakeCatalog } from '../support/fake-catalog.ts';

const long = 8_446_007_396_123_690_623n;

async function connect(fake: FakeCatalog, settings: Partial<CatalogSettings> = {}): Promise<Catalog> {
  return Catalog.connect({
    url: fake.url,
    warehouse: null,
    namespace: 'rekap',
    token: null,
    signal: new AbortController().signal,
    clock: { sleep: () => Promise.resolve() },
    ...settings,
  });
}

/** Adds a snapshot to a table whose current snapshot is `parent`, as DuckDB does. */
function append(catalog: Catalog, id: SnapshotId, parent: SnapshotId | null): TableChange {
  return catalog.change('voters', {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': parent }],
    updates: [
      { action: 'add-snapshot', snapshot: { 'snapshot-id': id } },
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id },
    ],
  });
}

describe('a commit', () => {
  it.each([
    ['the response is lost after the commit', 'lose response'],
    ['the request is lost before the commit', 'lose request'],
    ['the catalog answers 503 before the commit', 'answer 503'],
    ['the catalog answers 503 after the commit', 'apply and answer 503'],
    ['the catalog answers 409 to the second of two equal requests, because the first is still applied', 'apply late'],
    ['something else answers 200 instead of the catalog', 'answer 200 without applying'],
    ['the table cannot be loaded right after the commit', 'apply, but fail to load the table once'],
  ] as const)('is applied once, with all digits of its ID, if %s', async (_, fault) => {
    const fake = await startFakeCatalog(['users', 'voters'], { current: { users: 7 } });
    const catalog = await connect(fake);
    fake.faults.push(fault);
    const updates = [{ action: 'remove-snapshot-ref', 'ref-name': 'snap_1' } as const];
    await catalog.commit([append(catalog, long, null), catalog.change('users', { requirements: [], updates })]);
    expect(fake.tables.get('voters')!.snapshots).toEqual([long]);
    expect((await catalog.loadTable('voters'))!.refs!['main']!['snapshot-id']).toBe(long);
  });

  it.each([
    ['at once', []],
    ['after a lost request', ['lose request']],
    ['although something else answers 200', ['answer 200 without applying']],
  ] as const)('is refused %s if another one was first', async (_, faults) => {
    const fake = await startFakeCatalog(['voters']);
    const catalog = await connect(fake);
    for (const [id, parent] of [
      [long, null],
      [long + 1n, long],
    ] as const)
      await catalog.commit([append(catalog, id, parent)]);
    fake.faults.push(...faults);
    const late = catalog.commit([append(catalog, long + 2n, long)]);
    await expect(late).rejects.toMatchObject({ code: 'lake-conflict', exitCode: 5 });
    expect(fake.tables.get('voters')!.snapshots).toEqual([long, long + 1n]);
  });

  it('is called uncertain if the catalog refuses to repeat it, and has dropped its history', async () => {
    const fake = await startFakeCatalog(['voters']);
    const catalog = await connect(fake);
    fake.faults.push('lose response');
    const late = catalog.commit([append(catalog, long, null)]);
    const { snapshots, refs } = fake.tables.get('voters')!;
    fake.whenApplied(() => {
      snapshots.splice(0, 1, long + 1n);
      refs['main'] = long + 1n;
    });
    await expect(late).rejects.toMatchObject({ code: 'lake-uncertain' });
  });

  it.each([
    [
      'says that it is done, but never shows it',
      Array.from({ length: 5 }, () => 'answer 200 without applying' as const),
    ],
    ['disappears', ['lose response and disappear' as const]],
  ])('is called uncertain if the catalog %s', async (_, faults) => {
    const fake = await startFakeCatalog(['voters']);
    const catalog = await connect(fake);
    fake.faults.push(...faults);
    await expect(catalog.commit([append(catalog, long, null)])).rejects.toMatchObject({ code: 'lake-uncertain' });
  });

  it('of tags, columns or removals is sent once, and refused if a table has changed', async () => {
    const fake = await startFakeCatalog(['voters'], { current: { voters: 7 } });
    const catalog = await connect(fake);
    const metadata = new Map([['voters', (await catalog.loadTable('voters'))!]]);
    await catalog.commitOnce(tagOthers(catalog, metadata, 'snap_1', []), 'tag');
    expect(fake.tables.get('voters')!.refs).toEqual({ main: 7, snap_1: 7 });
    const updates = [{ action: 'remove-snapshot-ref', 'ref-name': 'snap_1' } as const];
    await catalog.commitOnce([catalog.change('voters', { requirements: [], updates })], 'remove tags');
    fake.tables.get('voters')!.refs['main'] = 8;
    const late = catalog.commitOnce(tagOthers(catalog, metadata, 'snap_1', []), 'tag');
    await expect(late).rejects.toMatchObject({ code: 'lake-conflict' });
    expect(fake.tables.get('voters')!.refs).toEqual({ main: 8 });
    expect(fake.commits).toBe(2);
  });

  it('is refused in advance by a catalog that commits tables one by one', async () => {
    const fake = await startFakeCatalog(['voters'], { endpoints: ['GET /v1/{prefix}/namespaces'] });
    await expect(connect(fake)).rejects.toMatchObject({ code: 'lake', exitCode: 8 });
  });

  it('renews an expired token once, and shows no token in an error', async () => {
    const fake = await startFakeCatalog(['voters'], { token: 'second-token' });
    const given: (string | null)[] = [];
    const token = (rejected: Secret | null) => {
      given.push(rejected?.reveal() ?? null);
      return Promise.resolve(new Secret(rejected === null ? 'first-token' : 'second-token'));
    };
    await expect(connect(fake, { token })).resolves.toBeInstanceOf(Catalog);
    expect(given).toEqual([null, 'first-token']);
    const refused = connect(fake, { token: () => Promise.resolve(new Secret('first-token')) });
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'lake', status: 401 });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('first-token');
  });
});

describe('the relay', () => {
  async function relay(fake: FakeCatalog, tag: string | null = null) {
    const catalog = await connect(fake);
    const voters = (await catalog.loadTable('voters'))!;
    const users = (await catalog.loadTable('users'))!;
    const known = new Map([
      ['voters', voters],
      ['users', users],
    ]);
    const opened = await openRelay(catalog, (changes) =>
      tag === null ? changes : [...withTag(changes, tag), ...tagOthers(catalog, known, tag, changes)],
    );
    onTestFinished(() => opened.close());
    const post = (body: string, token = opened.token): Promise<Response> =>
      fetch(`${opened.url}/v1/transactions/commit`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body,
      });
    const body = writeExactly({ 'table-changes': [append(catalog, long, null)] });
    return { opened, post, body };
  }

  it('tags all tables in the commit of the changed ones, and none if it is refused', async () => {
    const fake = await startFakeCatalog(['voters', 'users'], { current: { users: 7 } });
    const { post, body } = await relay(fake, 'snap_1');
    expect((await post(body)).status).toBe(204);
    expect(fake.tables.get('voters')!.refs).toEqual({ main: long, snap_1: long });
    expect(fake.tables.get('users')!.refs).toEqual({ main: 7, snap_1: 7 });
    expect(fake.commits).toBe(1);
    const late = await relay(fake, 'snap_2');
    fake.tables.get('users')!.refs['main'] = 8;
    expect((await late.post(late.body)).status).toBe(409);
    expect(fake.tables.get('voters')!.refs).toEqual({ main: long, snap_1: long });
  });

  it('reports a commit as done to DuckDB if it may be, so that DuckDB keeps the data files', async () => {
    const fake = await startFakeCatalog(['voters', 'users']);
    const { opened, post, body } = await relay(fake);
    fake.faults.push('lose response and disappear');
    expect((await post(body)).status).toBe(204);
    expect(isRekapError(opened.commitError(), 'lake-uncertain')).toBe(true);
  });

  it('sends a commit that DuckDB repeats only once', async () => {
    const fake = await startFakeCatalog(['voters', 'users']);
    const { post, body } = await relay(fake);
    expect((await Promise.all([post(body), post(body)])).map(({ status }) => status)).toEqual([204, 204]);
    expect(fake.commits).toBe(1);
  });

  it('refuses everyone else on the machine', async () => {
    const fake = await startFakeCatalog(['voters', 'users']);
    const { post, body } = await relay(fake);
    expect((await post(body, 'guess')).status).toBe(401);
    expect(fake.commits).toBe(0);
  });
});

it('writes what it parses, without changing texts that look like numbers', () => {
  const text = `{"a":${long},"b":[-${long},1,1.25],"c":": ${long},","d":"\\"${long}\\"","e":0.12345678901234567890}`;
  const parsed = parseExactly(text) as Record<string, unknown>;
  expect(parsed).toEqual({
    a: long,
    b: [-long, 1, 1.25],
    c: `: ${long},`,
    d: `"${long}"`,
    e: 0.123_456_789_012_345_68,
  });
  expect(parseExactly(writeExactly(parsed))).toEqual(parsed);
});
