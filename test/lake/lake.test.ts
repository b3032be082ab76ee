/** Snapshots in an Iceberg catalog: equal row by row, published as a whole or not at all, even if others publish or a connection breaks. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expireTags, readLakeStatus } from '../../src/share/lake/inspect-lake.ts';
import { withLake } from '../../src/share/lake/open-lake.ts';
import type { LakePlace } from '../../src/share/lake/lake-database.ts';
import { publishToLake } from '../../src/share/lake/publish-lake.ts';
import { landRecords } from '../../src/share/spark/land-records.ts';
import { tagOf } from '../../src/share/lake/tags.ts';
import { readSnapshot } from '../../src/warehouse/warehouse.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import {
  type CatalogName,
  catalogs,
  differingTables,
  extensions,
  isCommit,
  startCatalog,
  whySkipped,
} from './support.ts';

const nations = [
  { 1101: 30, 1102: 20 },
  { 1101: 31, 1102: 20 },
  { 1101: 31, 1102: 19 },
] as const;
const prepared = preparedSnapshots(...nations.map(smallNation));
const clock = { now: () => new Date('2026-11-27T12:00:00Z') };

async function setUp(name: CatalogName) {
  const { warehouse, known } = await prepared();
  const catalog = await startCatalog(name);
  const publish = async (index: number, place: LakePlace = catalog.place()) =>
    publishToLake({
      ...place,
      warehouse,
      snapshot: await readSnapshot(warehouse, known[index]!),
      acceptSource: true,
      clock,
    });
  /** Tables of the catalog that differ from a snapshot, by its tag or as they are now. */
  const differences = async (index: number, by: 'tag' | 'now') =>
    differingTables(catalog.place(), await readSnapshot(warehouse, known[index]!), by);
  return { warehouse, known, catalog, publish, differences };
}

describe.skipIf(catalogs.length === 0)(`a catalog (${whySkipped})`, () => {
  it('has every row of every snapshot, by tag, and writes only the changed rows', async () => {
    const { known, catalog, publish, differences } = await setUp('iceberg');
    expect(await publish(0)).toMatchObject({ outcome: 'published', tag: tagOf(known[0]!) });
    const second = await publish(1);
    // One regency is new in each dataset.
    expect(second.tables).toContainEqual({ table: 'voters', added: 1, removed: 0 });
    expect(await publish(1)).toMatchObject({ outcome: 'unchanged' });
    await publish(2);
    for (const index of [0, 1, 2]) expect(await differences(index, 'tag')).toEqual([]);
    expect(await differences(2, 'now')).toEqual([]);
    expect(await differences(0, 'now')).toContain('voters');
    // The first one begins the table of publications.
    expect(catalog.commits).toHaveLength(4);
    const { tags, ...status } = await readLakeStatus(catalog.place());
    expect(tags.map(({ snapshot }) => snapshot)).toEqual(known);
    const names = status.tables.map(({ table }) => table);
    for (const { tables } of tags) expect(Object.keys(tables)).toEqual(names);
    expect(status.last).toMatchObject({ snapshot_id: known[2], sequence: 3 });
    expect(status.tables.find(({ table }) => table === 'voters')!.rows).toBe(50);
    expect((await expireTags(catalog.place(), 1)).map(({ snapshot }) => snapshot)).toEqual(known.slice(0, 2));
    expect(await differences(2, 'tag')).toEqual([]);
  }, 120_000);

  it.runIf(catalogs.includes('nessie'))(
    'reports that a catalog keeps no tags',
    async () => {
      const { publish, differences } = await setUp('nessie');
      for (const index of [0, 1, 2]) expect(await publish(index)).toMatchObject({ outcome: 'published', tag: null });
      expect(await publish(2)).toMatchObject({ outcome: 'unchanged', tag: null });
      expect(await differences(2, 'now')).toEqual([]);
    },
    120_000,
  );

  it.each(catalogs.flatMap((name) => [[name, 'first'] as const, [name, 'later'] as const]))(
    'refuses the second of two publishers that began together (%s, %s publication)',
    async (name, which) => {
      const { publish, differences, catalog } = await setUp(name);
      if (which === 'later') await publish(0);
      let release = (): void => undefined;
      const mayPass = new Promise<'pass'>((resolve) => (release = () => resolve('pass')));
      const arrived = new Promise<void>((resolve) => {
        catalog.fault = (request, text) => {
          // Before the first publication, another commit prepares the namespace.
          if (!isCommit(request) || !text.includes('"voters"')) return 'pass';
          catalog.fault = () => 'pass';
          resolve();
          return mayPass;
        };
      });
      const slow = publish(1).catch((error: unknown) => error);
      await arrived;
      await publish(2);
      release();
      expect(await slow).toMatchObject({ code: 'lake-conflict', exitCode: 5 });
      expect(await differences(2, 'now')).toEqual([]);
      // The next attempt publishes it.
      await publish(1);
      expect(await differences(1, 'now')).toEqual([]);
    },
    120_000,
  );

  it.each(
    catalogs.flatMap((name) =>
      (['lose request', 'lose response', 503] as const).map((fault) => [name, fault] as const),
    ),
  )(
    'is published once if the connection breaks during the commit (%s, %s)',
    async (name, fault) => {
      const { publish, differences, catalog } = await setUp(name);
      await publish(0);
      catalog.fault = (request) => {
        if (!isCommit(request)) return 'pass';
        catalog.fault = () => 'pass';
        return fault;
      };
      expect(await publish(1)).toMatchObject({ outcome: 'published' });
      expect(await differences(1, 'now')).toEqual([]);
      expect((await readLakeStatus(catalog.place())).last).toMatchObject({ sequence: 2 });
    },
    120_000,
  );

  it.each(catalogs)(
    'stays readable if it disappears after the commit, and the next publication finds it done (%s)',
    async (name) => {
      const { publish, differences, catalog } = await setUp(name);
      await publish(0);
      catalog.fault = (request) => {
        if (!isCommit(request)) return 'pass';
        catalog.fault = () => 'lose request';
        return 'lose response';
      };
      await expect(publish(1)).rejects.toMatchObject({ code: 'lake-uncertain' });
      catalog.fault = () => 'pass';
      expect(await differences(1, 'now')).toEqual([]);
      expect(await publish(1)).toMatchObject({ outcome: 'unchanged' });
    },
    120_000,
  );

  it.each(catalogs)(
    'contains one snapshot or the other after a kill at any request (%s)',
    async (name) => {
      const { warehouse, known, publish, differences, catalog } = await setUp(name);
      const hasTags = name === 'iceberg';
      await publish(0);
      let isWhole = false;
      let kills = 0;
      for (let at = 1; !isWhole; at += 3) {
        const words = ['lake', 'publish', '--warehouse', warehouse, '--snapshot', known[1]!, '--catalog', catalog.url];
        const child = spawn(process.execPath, [cli, ...words, '--extensions', extensions], {
          stdio: 'ignore',
          env: { ...process.env, ...catalog.place().environment },
        });
        let requests = 0;
        catalog.fault = () => {
          requests += 1;
          if (requests === at) child.kill('SIGKILL');
          return requests > at ? 'hold' : 'pass';
        };
        const [code] = (await once(child, 'exit')) as [number | null];
        catalog.fault = () => 'pass';
        isWhole = code === 0;
        kills += code === 0 ? 0 : 1;
        // A failure isn't a kill.
        expect([0, null]).toContain(code);
        const [before, after] = [await differences(0, 'now'), await differences(1, 'now')];
        expect([before.length, after.length]).toContain(0);
        expect(hasTags ? await differences(after.length === 0 ? 1 : 0, 'tag') : []).toEqual([]);
        if (!isWhole && after.length === 0) await publish(0);
      }
      expect(kills).toBeGreaterThan(5);
      expect(await differences(1, 'now')).toEqual([]);
    },
    300_000,
  );

  it('never shows a reader two snapshots by a tag while others are published', async () => {
    const { warehouse, known, publish, catalog } = await setUp('iceberg');
    await publish(0);
    const sums = await Promise.all(
      known.map(async (id) =>
        Object.values((await readSnapshot(warehouse, id)).manifest.datasets).map(({ rows }) => rows),
      ),
    );
    let isDone = false;
    const reading = (async () => {
      let reads = 0;
      for (; !isDone; reads += 1)
        for (const { tag, snapshot } of (await readLakeStatus(catalog.place())).tags) {
          const rows = await countByTag(catalog.place(), tag);
          expect(rows).toEqual(sums[known.indexOf(snapshot)]);
        }
      return reads;
    })();
    for (const index of [1, 2, 0, 1, 2]) await publish(index);
    isDone = true;
    expect(await reading).toBeGreaterThan(0);
  }, 120_000);

  it('has the accepted records of a run as received, also after landing them twice', async () => {
    const { warehouse, known, catalog } = await setUp('iceberg');
    const land = () => landRecords({ warehouse, run: known[1]! }, { ...catalog.place(), acceptSource: false });
    expect(await land()).toMatchObject({ records: { voters: 51, voting_rights_users: 51 } });
    await land();
    const raw = catalog.place({ namespace: 'raw' });
    const rows = await withLake(raw, { tables: ['records'], files: [] }, ({ database }) =>
      database.rows<{ dataset: string; records: bigint; regencies: string; fields: string }>(
        `SELECT dataset, count(*) AS records, string_agg(record->>'NamaKabupaten', ',' ORDER BY position) AS regencies,
           string_agg(substr(fields->>'regency', 2), ',' ORDER BY position) AS fields
         FROM lake.raw.records WHERE run_id = '${known[1]}' GROUP BY dataset ORDER BY dataset`,
      ),
    );
    expect(rows.map(({ dataset, records }) => [dataset, records])).toEqual([
      ['voters', 51n],
      ['voting_rights_users', 51n],
    ]);
    for (const { regencies, fields } of rows) expect(fields).toBe(regencies);
  }, 120_000);

  it('refuses to land records for a namespace of published snapshots', async () => {
    const { warehouse, known, catalog, publish } = await setUp('iceberg');
    await publish(0);
    const land = landRecords({ warehouse, run: known[1]! }, { ...catalog.place(), acceptSource: false });
    await expect(land).rejects.toMatchObject({ code: 'lake-conflict' });
  }, 120_000);

  it('refuses to land a run that the gate refused', async () => {
    const { warehouse, catalog } = await setUp('iceberg');
    const { url } = await serveData(smallNation({ 1101: 2, 1102: 1 }));
    await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({ exitCode: 3 });
    const land = landRecords({ warehouse, run: null }, { ...catalog.place(), acceptSource: false });
    await expect(land).rejects.toMatchObject({ code: 'landing', message: expect.stringContaining('was refused') });
  }, 120_000);

  it('refuses columns that it has with another type, and adds new ones', async () => {
    const { warehouse, known, catalog } = await setUp('iceberg');
    const run = (...words: string[]) =>
      runHere(['lake', ...words, '--catalog', catalog.url, '--extensions', extensions], {});
    const publish = () => run('publish', '--warehouse', warehouse, '--snapshot', known[0]!);
    await fetch(`${catalog.url}/v1/namespaces`, post({ namespace: ['rekap'] }));
    const dapil = (type: string) => ({ id: 1, name: 'dapil_id', required: true, type });
    const make = (type: string) =>
      fetch(
        `${catalog.url}/v1/namespaces/rekap/tables`,
        post({
          name: 'voters',
          schema: { type: 'struct', fields: [dapil(type)] },
          properties: { 'format-version': '2' },
        }),
      );
    await make('string');
    expect(await publish()).toMatchObject({ code: 8, stderr: expect.stringContaining('dapil_id') });
    await fetch(`${catalog.url}/v1/namespaces/rekap/tables/voters`, { method: 'DELETE' });
    await make('int');
    expect(await publish()).toMatchObject({ code: 0, stderr: '' });
    expect(await differingTables(catalog.place(), await readSnapshot(warehouse, known[0]!), 'now')).toEqual([]);
  }, 120_000);
});

const cli = join(import.meta.dirname, '../../dist/src/cli/main.js');

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** Returns the rows of both datasets by tag. */
async function countByTag(place: LakePlace, tag: string): Promise<number[]> {
  const tables = ['voters', 'voting_rights_users'];
  return withLake(place, { tables, files: [] }, async ({ database, metadata }) =>
    Promise.all(
      tables.map(async (table) => {
        const version = metadata.get(table)!.refs![tag]!['snapshot-id'];
        const [found] = await database.rows<{ n: bigint }>(
          `SELECT count(*) AS n FROM lake.rekap.${table} AT (VERSION => ${version})`,
        );
        return Number(found!.n);
      }),
    ),
  );
}
