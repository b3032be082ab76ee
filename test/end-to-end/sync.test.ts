/** A sync from the real service that publishes: what it leaves in the warehouse, and what it carries over. */

import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Project } from '../../src/project/declaration.ts';
import { quoteText } from '../../src/runtime/database.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { exported } from '../load/support.ts';
import { nation, preparedSnapshots, publishedNation } from '../support/prepared-snapshots.ts';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { bundledProject, project, syncOptions } from '../support/sync-settings.ts';
import { startTwistedSource } from '../support/twisted-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const published = publishedNation();

describe('a first sync', () => {
  it('leaves current, manifest, Parquet, landing and a line in runs.jsonl, and nothing half-done', async () => {
    const { warehouse, known } = await sampleWarehouse();
    const { run } = JSON.parse(known) as { run: string };
    expect(await readlink(join(warehouse, 'current'))).toBe(`snapshots/${run}`);
    expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'lock', 'runs.jsonl', 'snapshots']);
    expect((await readdir(join(warehouse, 'snapshots', run))).toSorted()).toEqual([
      'datapackage.json',
      'dbt',
      'manifest.json',
      'manifest.json.sha256',
      'parquet',
      'rekap.duckdb',
      'report.html',
    ]);
    expect(await readdir(join(warehouse, 'landing'))).toEqual([run]);
    expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'published', exit_code: 0, snapshot: run }]);
  });

  it('sets a record aside once, of its partition, where list and partition bring it without an id', async () => {
    const warehouse = await temporaryFolder();
    const { url } = await startTwistedSource(smallNation(nation), (response, honest) =>
      response.end(honest.replaceAll(/"IdDapil":"1102"(?=[^}]*KOTA 1102-7)/g, '"IdDapil":null')),
    );
    const { manifest } = await runSync(syncOptions(warehouse, url));
    const requests = await readRows<{ request: string }>(warehouse, 'SELECT DISTINCT request FROM quarantine');
    expect(requests).toHaveLength(2);
    for (const { request } of requests) expect(request).toContain('id_dapil=1102');
    for (const { ledger } of Object.values(manifest.datasets))
      expect(ledger).toEqual({ fetched: 17, published: 15, quarantined: 1, duplicates: 1 });
    await runSync(syncOptions(warehouse, url, { partitions: ['1102'] }));
    expect(await readValue(warehouse, 'SELECT count(*) FROM quarantine')).toBe('2');
  });

  it('says which records are in no table, and why', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    const [record] = data.datapemilihdpr;
    data.datapemilihdpr.push({ ...record!, NamaKabupaten: null }, { ...record!, JumlahSeluruhPemilih: '7' });
    const { url } = await serveData(data);
    const { events, manifest } = await runSync(syncOptions(warehouse, url));
    const brought = events.flatMap((event) =>
      event.kind === 'partition' && event.dataset === 'voters' ? [event.records] : [],
    );
    expect(brought.reduce((sum, records) => sum + records, 0)).toBe(manifest.datasets['voters']!.ledger.fetched);
    const warnings = events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
    const reasons = await readRows<{ reason: string }>(warehouse, 'SELECT reason FROM quarantine ORDER BY reason');
    expect(reasons).toHaveLength(2);
    expect(warnings.filter((message) => message.includes('quarantine'))).toEqual([
      `voters: 2 records are in quarantine and not in the table: ${reasons.map(({ reason }) => `${reason} (1)`).join(', ')}.`,
    ]);
  });

  it('finds every record whatever the page size, with partitions longer than a page', async () => {
    const { url } = await serveData(smallNation({ 1101: 25, 1102: 10, 1103: 1, 1201: 7 }));
    for (const pageSize of [3, 10]) {
      const warehouse = await temporaryFolder();
      const { manifest } = await runSync(syncOptions(warehouse, url, { pageSize }));
      expect(manifest.datasets['voters']?.rows).toBe(43);
    }
  });

  it('leaves the snapshot that it replaces, which somebody may just be opening, until the next one', async () => {
    const warehouse = await temporaryFolder();
    const ids: string[] = [];
    for (const size of [10, 11, 12]) {
      const { url } = await serveData(smallNation({ ...nation, 1101: size }));
      ids.push((await runSync(syncOptions(warehouse, url, { keep: 1, acceptChanges: true }))).run);
    }
    expect((await readdir(join(warehouse, 'snapshots'))).toSorted()).toEqual(ids.slice(1).toSorted());
    expect((await readdir(join(warehouse, 'landing'))).toSorted()).toEqual(ids.slice(1).toSorted());
  });

  it('can be repeated: the same source gives no new snapshot, and the same Parquet bytes in another warehouse', async () => {
    const { warehouse, known } = await published();
    const { url } = await serveData(smallNation(nation));
    const again = await runSync(syncOptions(warehouse, url));
    expect(again).toMatchObject({ outcome: 'unchanged', current: known[0] });
    expect(await readdir(join(warehouse, 'snapshots'))).toEqual(known);
    const settings = { concurrency: 1, pageSize: 4 };
    const elsewhere = await runSync(syncOptions(await temporaryFolder(), url, settings));
    const parquet = ({ files }: Pick<Manifest, 'files'>) => files.filter(({ path }) => path.endsWith('.parquet'));
    expect(parquet(elsewhere.manifest)).toEqual(parquet((await requireCurrent(warehouse)).manifest));
  });
});

describe('a later sync', () => {
  it('publishes what the source restated, and keeps the snapshot before', async () => {
    const { warehouse, known } = await published();
    const data = smallNation(nation);
    data.datapemilihdpr[0]!['NamaDapil'] = 'DAPIL 1101 A';
    const after = await runSync(syncOptions(warehouse, (await serveData(data)).url));
    expect(after.outcome).toBe('published');
    expect((await readdir(join(warehouse, 'snapshots'))).toSorted()).toEqual([...known, after.run].toSorted());
    expect(await readValue(warehouse, 'SELECT count(DISTINCT snapshot_id) FROM snapshots_log')).toBe('2');
  });

  it('of some partitions carries the rest over and says when each was last read', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    data.datapemilihdpr[1]!['JumlahSeluruhPemilih'] = '';
    data.datapemilihdpr[4]!['JumlahSeluruhPemilih'] = 'x';
    const first = await runSync(syncOptions(warehouse, (await serveData(data)).url), {
      clock: manualClock(new Date('2026-01-01T00:00:00Z')),
    });
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '999';
    data.datapemilihdpr[1]!['JumlahSeluruhPemilih'] = '2063';
    data.datapemilihdpr[15]!['JumlahPemilihLakiLakiDalamDPT'] = '777';
    const second = await runSync(syncOptions(warehouse, (await serveData(data)).url, { partitions: ['1101'] }));
    expect(second.manifest.datasets['voters']).toMatchObject({
      rows: 16,
      carried_over: 13,
      ledger: { fetched: 3, published: 3 },
    });
    expect(await readValue(warehouse, "SELECT dpt_male FROM voters WHERE regency = 'KOTA 1101-0'")).toBe('999');
    expect(await readValue(warehouse, "SELECT dpt_male FROM voters WHERE regency = 'KOTA 1201-0'")).toBe('1000');
    const empties = await readRows(
      warehouse,
      "SELECT regency, check_name FROM violations WHERE check_name IN ('empty', 'malformed')",
    );
    expect(empties).toEqual([{ regency: 'KOTA 1102-1', check_name: 'malformed' }]);
    const readAt = ({ manifest }: typeof first, partition: string) =>
      manifest.datasets['voters']!.partitions.find((one) => one.partition === partition)?.read_at;
    expect(readAt(second, '1102')).toBe(readAt(first, '1102'));
    expect(readAt(second, '1101')).not.toBe(readAt(first, '1101'));
  });

  it('of one dataset carries the other over whole', async () => {
    const { warehouse } = await published();
    const data = smallNation(nation);
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '999';
    const server = await serveData(data);
    const { manifest } = await runSync(syncOptions(warehouse, server.url, { datasets: ['voters'] }));
    expect(manifest.datasets['voting_rights_users']).toMatchObject({
      rows: 16,
      carried_over: 16,
      ledger: { fetched: 0 },
    });
    expect(await readValue(warehouse, 'SELECT count(*) FROM voting_rights_users')).toBe('16');
  });

  it('of a part is refused where other checks were declared when the rest was read', async () => {
    const { warehouse } = await published();
    const { url } = await serveData(smallNation(nation));
    const pipelines = project.pipelines.map((pipeline) => ({ ...pipeline, checks: [] }));
    // The project's own report shows its sum checks, which are not there.
    const other = { ...project, pipelines, reportModule: null };
    const again = (synced: Project) => runSync(syncOptions(warehouse, url, { partitions: ['1201'] }), {}, synced);
    expect((await again(project)).warnings).toEqual([]);
    await expect(again(other)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/the declaration of \w+ has changed: checks\.0/),
    });
  });

  it('is refused where the source has nothing of the part, not where it has some of it', async () => {
    const { warehouse } = await published();
    const { url } = await serveData(smallNation(nation));
    const mistyped = runSync(syncOptions(warehouse, url, { partitions: ['1220'] }));
    await expect(mistyped).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('does not have records of the requested'),
    });
    const { outcome, warnings } = await runSync(syncOptions(warehouse, url, { partitions: ['1201', '1220'] }));
    expect(outcome).toBe('unchanged');
    expect(warnings).toEqual(Array(2).fill(expect.stringMatching(/requested: 1220\.$/)));
  });

  it('says so where its answers are not kept', async () => {
    const warehouse = await temporaryFolder();
    const { url } = await serveData(smallNation(nation));
    const first = await runSync(syncOptions(warehouse, url, { keepLanding: 0 }));
    // Those of the current snapshot are kept always.
    expect(first.landing).toBe(join(warehouse, 'landing', first.run));
    const second = await runSync(syncOptions(warehouse, url, { keepLanding: 0 }));
    expect(second).toMatchObject({ outcome: 'unchanged', landing: null });
    expect(await readdir(join(warehouse, 'landing'))).toEqual([first.run]);
  });
});

const twenty = preparedSnapshots(smallNation({ 1101: 20 }));

it('the manifest has the number of rows of every Parquet file', async () => {
  const { warehouse } = await twenty();
  const doubtful = smallNation({ 1101: 20 });
  const [first, second] = doubtful.datapemilihdpr;
  first!['JumlahPemilihLakiLakiDalamDPT'] = 'x';
  second!['JumlahPemilihLakiLakiDalamDPK'] = '7';
  doubtful.datahakpilihdpr.push({ ...doubtful.datahakpilihdpr[0]!, NamaKabupaten: null });
  const { url } = await serveData(doubtful);
  const { manifest } = await runSync(syncOptions(warehouse, url, { acceptChanges: true }), {}, bundledProject);
  const folder = join(warehouse, 'snapshots', manifest.snapshot);
  const [database, ...others] = manifest.files;
  const files = others.filter(({ path }) => path.endsWith('.parquet'));
  expect(database).toMatchObject({ path: 'rekap.duckdb', rows: null });
  expect(files).toHaveLength(exported.length);
  for (const { path, rows } of files) {
    const [row] = await readRows<{ n: number }>(
      warehouse,
      `SELECT count(*)::INTEGER AS n FROM read_parquet(${quoteText(join(folder, path))})`,
    );
    expect(row!.n, path).toBeGreaterThan(0);
    expect(rows, path).toBe(row!.n);
  }
});
