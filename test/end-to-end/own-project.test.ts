/** Projects of one's own: other ways to page, to name partitions and to give a key, and every kind of column, under the faults that servers have. */

import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject } from '../../src/project/find-project.ts';
import { type LoadedProject, loadProject } from '../../src/project/load-project.ts';
import { Secret } from '../../src/source/secret.ts';
import type { SyncOptions, SyncResult } from '../../src/publish/run.ts';
import { verifyAgainst } from '../../src/publish/check-built.ts';
import { readSnapshot } from '../../src/warehouse/warehouse.ts';
import { type Faults, payments, servePages, stations, token, vessels } from '../support/paged-server.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { writeProject, writeSampleProject } from '../support/written-project.ts';

const folder = (name: string): string => join(import.meta.dirname, '..', 'projects', name);
/** Fails for a room that is too large. */
const range = { kind: 'range', name: 'seats_range', severity: 'error', column: 'seats', max: 100 } as const;
const load = (name: string): Promise<LoadedProject> => loadProject(findProject(folder(name), '/'));

async function sync(name: string, faults: Faults, settings: Partial<SyncOptions> = {}): Promise<SyncResult> {
  const url = await servePages(faults);
  const options = { apiKey: new Secret(token), maxAttempts: 12, ...settings };
  return runSync(syncOptions(await temporaryFolder(), url, options), {}, await load(name));
}

/** What every way of paging must survive. test/source/paging has what a pass takes and refuses. */
const harmless: Faults = { cap: 25, busyEvery: 5 };

describe('page numbers, a bearer token, and partitions of another endpoint', () => {
  it('read every record', async () => {
    const { warehouse, manifest } = await sync('stations', harmless);
    const rows = await readRows<object>(
      warehouse,
      'SELECT region, number::INTEGER AS no, name, seats::VARCHAR AS seats FROM stations',
    );
    expect(rows).toEqual(stations.map(({ region, no, name, seats }) => ({ region, no, name, seats })));
    const grades = new Set(manifest.datasets['stations']!.partitions.map(({ grade }) => grade));
    expect(grades).toEqual(new Set(['repaged']));
  });

  it('make a BIGINT of a sum, run the checks, and give every violation a message', async () => {
    const { warehouse } = await sync('stations', {});
    const sums = await readRows(
      warehouse,
      'SELECT typeof(seats) AS type, sum(seats)::INTEGER AS seats FROM seats_by_region GROUP BY ALL',
    );
    const all = stations.reduce((total, station) => total + Number(station['seats']), 0);
    expect(sums).toEqual([{ type: 'BIGINT', seats: all }]);
    const violations = await readRows(warehouse, 'SELECT DISTINCT check_name, message FROM violations');
    expect(violations).toEqual([{ check_name: 'empty_room', message: 'seats (seats) is 0' }]);
  });
});

describe('partitions that another dataset names', () => {
  it('are read after it, and keys of two shapes stand side by side in the common tables', async () => {
    const { warehouse, manifest } = await sync('linked', { cap: 5, busyEvery: 7 });
    expect(manifest.datasets['regions']).toMatchObject({
      rows: 7,
      partitions: [{ partition: null, grade: 'repaged' }],
    });
    expect(manifest.datasets['stations']!.rows).toBe(stations.length);
    const columns = await readRows<{ column_name: string }>(warehouse, 'DESCRIBE violations');
    expect(columns.slice(0, 4).map(({ column_name }) => column_name)).toEqual(['dataset', 'code', 'region', 'number']);
  });

  it('keep their history when a dataset with another key joins them', async () => {
    const url = await servePages({ largeRoom: 'AA-2' });
    const whole = await load('linked');
    const [regions, own] = whole.pipelines;
    const alone = {
      ...own!,
      partition: { ...own!.partition!, values: { from: 'list', values: ['AA-2', 'AA-3'] } },
    } as const;
    const options = syncOptions(await temporaryFolder(), url, { apiKey: new Secret(token) });
    const first = await runSync(options, {}, { ...whole, pipelines: [{ ...alone, checks: [range] }] });
    const restated = await servePages();
    const next = { ...options, baseUrl: restated };
    const second = await runSync(next, {}, { ...whole, pipelines: [{ ...alone, checks: [range] }] });
    await runSync(
      { ...next, acceptChanges: true },
      {},
      { ...whole, pipelines: [regions!, { ...own!, checks: [range] }] },
    );
    const { warehouse } = options;
    expect(
      await readRows(warehouse, "SELECT code, region, old_value, new_value FROM changes WHERE kind = 'changed'"),
    ).toEqual([{ code: null, region: 'AA-2', old_value: '999', new_value: '0' }]);
    expect(
      await readRows(warehouse, 'SELECT code, region, first_snapshot, resolved_snapshot FROM violations_log'),
    ).toEqual([{ code: null, region: 'AA-2', first_snapshot: first.snapshot, resolved_snapshot: second.snapshot }]);
    const changed = await runHere(['diff', first.snapshot!, '--warehouse', warehouse, '--format', 'csv']);
    expect(changed.stdout).toContain('stations,,AA-2,1,seats,999,0,changed');
  });

  it('brings the dataset that names them along, where only the other one is requested', async () => {
    const { manifest } = await sync('linked', {}, { datasets: ['stations'] });
    expect(manifest.datasets['stations']!.rows).toBe(stations.length);
    expect(manifest.datasets['regions']!.rows).toBe(7);
  });
});

describe('a cursor, and decimals, dates, times and nulls', () => {
  it('read every record and every digit', async () => {
    const { warehouse, manifest } = await sync('payments', harmless);
    const rows = await readRows<Record<string, unknown>>(warehouse, 'SELECT COLUMNS(*)::VARCHAR FROM payments');
    expect(rows).toEqual(
      payments.map((payment) => ({
        id: String(payment['id']),
        payee: payment['payee'],
        paid_on: payment['paid_on'],
        // +07:00 where the source says nothing else.
        booked_at: String(payment['booked_at']).endsWith('Z') ? '2024-02-14 07:30:00.25' : '2024-02-14 00:30:00',
        net: payment['net'],
        tax: payment['tax'],
        gross: payment['gross'],
        is_final: payment['final'] === null ? null : `${payment['final'] as boolean}`,
        is_consistent: 'true',
      })),
    );
    expect(manifest.datasets['payments']!.partitions).toMatchObject([{ partition: null, grade: 'rechained' }]);
    const gross = payments.reduce((sum, payment) => sum + BigInt(String(payment['gross']).replace('.', '')), 0n);
    expect(manifest.datasets['payments']!.sums['gross']!.replace('.', '')).toBe(String(gross));
  });

  it('refuse a weaker proof than is demanded', async () => {
    await expect(sync('payments', {}, { requireProof: 'repaged' })).rejects.toThrow('--require-proof');
  });
});

describe('a dump of lines, declared in JSON', () => {
  it('is read whole though every third response is 503', async () => {
    const { warehouse, manifest } = await sync('vessels', { busyEvery: 3 });
    const rows = await readRows(
      warehouse,
      'SELECT port, sign, built::VARCHAR AS built, crew FROM vessels ORDER BY ALL',
    );
    const inOrder = vessels.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    expect(rows).toEqual(inOrder);
    expect(manifest.datasets['vessels']!.partitions).toMatchObject([
      { partition: null, grade: 'single', received: 400 },
    ]);
  });

  it('is refused where it ends in the middle of a line', async () => {
    await expect(sync('vessels', { cutAt: 5000 })).rejects.toThrow(expect.objectContaining({ code: 'incomplete' }));
  });
});

it('a snapshot is verified and built again without its project', async () => {
  const { warehouse, snapshot } = await sync('stations', {});
  expect(await verifyAgainst(await readSnapshot(warehouse, snapshot!))).toEqual([]);
  expect((await runReplay(warehouse, { reportModule: null })).equals).toBe(snapshot);
});

describe('a project that nobody named', () => {
  const files = {
    'rekap.project.ts': "export default { name: 'own', paging: { by: 'none' } };",
    'pipelines/things.ts':
      "import { columns } from '../lib/deep/columns';\nexport default { table: 'things', path: '/things', key: ['id'], columns };",
    'lib/deep/columns.ts': "import kind from '../kind.json';\nexport const columns = { id: { ...kind, field: 'id' } };",
    'lib/kind.json': '{ "kind": "integer" }',
    'models/all_things.sql': '-- All things.\nSELECT id FROM things',
    'checks/negative.sql':
      "-- No thing is negative.\nSELECT 'things' AS dataset, id, 'warning' AS severity, 'id' AS column_name, 'It is negative.' AS message FROM things WHERE id < 0",
    'report.ts': "export default [{ title: 'Things', query: 'FROM things' }];",
  };

  /** Other files are harmless, even if others can write them. */
  const others = { 'other.ts': 'throw new Error();', 'data.json': '[]', 'pipelines/notes.txt': '' };

  it('is not loaded if others could have written one of its files, or a folder with them', async () => {
    const own = await writeProject({ ...files, ...others });
    for (const name of Object.keys(others)) await chmod(join(own, name), 0o666);
    expect(await runHere(['check'], {}, own)).toMatchObject({ code: 0, stderr: '' });
    for (const name of ['', 'pipelines', 'lib', 'lib/deep', 'models', 'checks', ...Object.keys(files)]) {
      const path = join(own, name);
      const { mode } = await stat(path);
      await chmod(path, 0o777);
      const stderr = expect.stringContaining(`${path} is writable by other users`);
      expect(await runHere(['check'], {}, own), name).toMatchObject({ code: 2, stderr });
      await chmod(path, mode);
    }
    await chmod(own, 0o777);
    expect(await runHere(['check', '--project', own], {}, own)).toMatchObject({ code: 0 });
  });

  it('is not loaded if others could have written one of its pipelines next to rekap.project.json', async () => {
    const own = await writeSampleProject();
    await chmod(join(own, 'people.json'), 0o666);
    expect(await runHere(['check'], {}, own)).toMatchObject({ code: 2 });
  });
});
