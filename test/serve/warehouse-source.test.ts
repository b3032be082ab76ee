/** A warehouse as a source: records restored from the tables, and following `current`. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lutimes, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openDatabase } from '../../src/database.ts';
import { quoteIdentifier, quoteText } from '../../src/sql-text.ts';
import { ServedDataError, SnapshotNotFoundError, WarehouseError } from '../../src/errors.ts';
import type { AnyPipeline } from '../../src/pipeline.ts';
import type { RecordSet, RecordSource } from '../../src/serve/record-source.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { ask, makeRecord, pipelines, start } from './support.ts';

type Value = string | number | null;
type TableRow = Readonly<Record<string, Value>>;

/** What a snapshot of these tests holds; tables that are not named are empty. */
interface Content {
  readonly tables?: Readonly<Record<string, readonly TableRow[]>>;
  readonly violations?: readonly TableRow[];
  readonly quarantine?: readonly TableRow[];
  readonly without?: string;
}

const first = '20261120T030002Z-1f3a9c';
const second = '20261121T030002Z-000001';
const [voters, users] = pipelines as readonly [AnyPipeline, AnyPipeline];

let warehouse: string;
let source: RecordSource | undefined;
beforeEach(async () => {
  warehouse = await mkdtemp(join(tmpdir(), 'rekap-mirror-'));
});
afterEach(async () => {
  await source?.close();
  source = undefined;
  await rm(warehouse, { recursive: true });
});

/** A row as the loader writes it: counts 100 + n, the rest from the district and the number. */
function makeRow(pipeline: AnyPipeline, district: number, number: number, changes: TableRow = {}): TableRow {
  const entries = Object.entries(pipeline.columns).map(([name, { kind }]): [string, Value] => {
    if (name === pipeline.district) return [name, district];
    return [name, kind === 'text' ? `${name} ${number}` : number];
  });
  return { ...Object.fromEntries(entries), ...changes };
}

/** The columns of `violations` that say which row and what was lost. */
function makeViolation(
  pipeline: AnyPipeline,
  row: TableRow,
  check: string,
  column: string,
  raw: string | null = null,
): TableRow {
  const key = Object.fromEntries(pipeline.key.map((name) => [name, row[name] ?? null]));
  return {
    dataset: pipeline.table,
    ...key,
    check_name: check,
    severity: 'warning',
    column_name: column,
    raw_value: raw,
  };
}

async function writeSnapshot(id: string, content: Content): Promise<void> {
  const folder = join(warehouse, 'snapshots', id);
  await mkdir(folder, { recursive: true });
  const database = await openDatabase(join(folder, 'rekap.duckdb'));
  const place = 'election_year INTEGER, election_type VARCHAR, dapil_id INTEGER, province VARCHAR, regency VARCHAR';
  const tables: Record<string, string> = {
    violations: `dataset VARCHAR, ${place}, check_name VARCHAR, severity VARCHAR, column_name VARCHAR, raw_value VARCHAR, expected VARCHAR, actual VARCHAR, message VARCHAR`,
    quarantine: 'dataset VARCHAR, reason VARCHAR, record VARCHAR, request VARCHAR',
  };
  for (const { table, columns } of pipelines) {
    const list = Object.entries(columns).map(
      ([name, { kind }]) => `${name} ${kind === 'text' ? 'VARCHAR' : 'INTEGER'}`,
    );
    tables[table] = [...list, 'is_consistent BOOLEAN'].join(', ');
  }
  const rowsOf: Readonly<Record<string, readonly TableRow[]>> = {
    ...content.tables,
    violations: content.violations ?? [],
    quarantine: content.quarantine ?? [],
  };
  for (const [table, columns] of Object.entries(tables)) {
    if (table === content.without) continue;
    await database.run(`CREATE TABLE ${table} (${columns})`);
    for (const row of rowsOf[table] ?? []) {
      const values = Object.values(row).map((value) =>
        typeof value === 'string' ? quoteText(value) : String(value ?? 'NULL'),
      );
      await database.run(
        `INSERT INTO ${table} (${Object.keys(row).map(quoteIdentifier).join(', ')}) VALUES (${values.join(', ')})`,
      );
    }
  }
  database.close();
  const manifest = {
    format: 1,
    snapshot: id,
    run: id,
    previous: null,
    definition: '',
    tool: { name: 'rekap', version: '0.0.0' },
    source: 'sample',
    created_at: '2026-11-20T03:00:02Z',
    datasets: {},
    files: [],
    landing: [],
    warnings: [],
  };
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
}

async function pointTo(id: string, time = new Date()): Promise<void> {
  await symlink(`snapshots/${id}`, join(warehouse, 'current.new'));
  await lutimes(join(warehouse, 'current.new'), time, time);
  await rename(join(warehouse, 'current.new'), join(warehouse, 'current'));
}

async function publish(id: string, content: Content, time?: Date): Promise<void> {
  await writeSnapshot(id, content);
  await pointTo(id, time);
}

async function openVoters(content: Content): Promise<RecordSet> {
  await publish(first, content);
  source = await openWarehouseSource(warehouse, pipelines);
  return source.current(voters);
}

function parse(texts: readonly string[] | undefined): unknown[] {
  return (texts ?? []).map((text) => JSON.parse(text) as unknown);
}

it('restores the records in the source’s shape, over HTTP', async () => {
  const tables = Object.fromEntries(
    pipelines.map((pipeline) => [
      pipeline.table,
      [makeRow(pipeline, 12, 2), makeRow(pipeline, 12, 1), makeRow(pipeline, 11, 1)],
    ]),
  );
  await publish(first, { tables });
  source = await openWarehouseSource(warehouse, pipelines);
  const service = await start({ source });
  try {
    for (const pipeline of pipelines) {
      const response = await ask(service, pipeline.endpoint);
      const { count, data } = (await response.json()) as { count: number; data: Record<string, string>[] };
      expect(count).toBe(3);
      // In the order of the key, however the table has them.
      expect(data).toEqual([makeRecord(pipeline, 11, 1), makeRecord(pipeline, 12, 1), makeRecord(pipeline, 12, 2)]);
      expect(Object.keys(data[0]!)).toEqual(Object.values(pipeline.columns).map(({ field }) => field));
      expect(await (await ask(service, `${pipeline.endpoint}?id_dapil=11`)).json()).toEqual({
        count: 1,
        data: makeRecord(pipeline, 11, 1),
      });
    }
  } finally {
    await service.close();
  }
});

it('restores what stood where a count is NULL: nothing, null, the empty text, or what was no number', async () => {
  const row = makeRow(voters, 11, 1, { dpt_male: null, dpt_female: null, dpt_total: null, dptb_male: null });
  const otherRow = makeRow(voters, 11, 2, { dpt_male: null });
  const set = await openVoters({
    tables: { voters: [row, otherRow] },
    violations: [
      makeViolation(voters, row, 'missing', 'dpt_male'),
      makeViolation(voters, row, 'null', 'dpt_female'),
      makeViolation(voters, row, 'empty', 'dpt_total', ''),
      makeViolation(voters, row, 'malformed', 'dptb_male', '144.19"'),
      makeViolation(voters, otherRow, 'malformed', 'dpt_male', '-1'),
      // None of these is about a lost value of this row.
      makeViolation(voters, row, 'dpt_sexes_sum', 'dptb_male', '9'),
      makeViolation(voters, row, 'malformed', 'dpk_male', '9'),
      makeViolation(users, row, 'malformed', 'dpt_male', '9'),
    ],
  });
  const fields = (column: string): string => voters.columns[column]!.field;
  const { [fields('dpt_male')]: _, ...expected } = makeRecord(voters, 11, 1);
  expect(parse(set.records)).toEqual([
    { ...expected, [fields('dpt_female')]: null, [fields('dpt_total')]: '', [fields('dptb_male')]: '144.19"' },
    { ...makeRecord(voters, 11, 2), [fields('dpt_male')]: '-1' },
  ]);
  expect(Object.keys(parse(set.records)[0] as object)).not.toContain(fields('dpt_male'));
});

it('appends what is in quarantine to its district, byte for byte', async () => {
  const quarantined = [
    '{"IdDapil": "11", "n": 12345678901234567890}',
    '{"IdDapil":12}',
    '"no record"',
    '{"IdDapil":"eleven"}',
    '[11]',
    '{"IdDapil":"11","again":1}',
  ];
  const set = await openVoters({
    tables: { voters: [makeRow(voters, 11, 1)] },
    quarantine: [
      ...quarantined.map((record) => ({ dataset: 'voters', reason: 'test', record, request: 'test' })),
      { dataset: users.table, reason: 'test', record: '{"IdDapil":"11","other":1}', request: 'test' },
    ],
  });
  expect(set.records.slice(1)).toEqual(quarantined);
  expect(set.byDistrict.get(11)?.slice(1)).toEqual([quarantined[0], quarantined[5]]);
  expect(set.byDistrict.get(12)).toEqual([quarantined[1]]);
  expect(new Set(set.byDistrict.keys())).toEqual(new Set([11, 12]));
});

it('closes the file: another process may write to it while it is served', async () => {
  await openVoters({ tables: { voters: [makeRow(voters, 11, 1)] } });
  const program = `
    import { DuckDBInstance } from '@duckdb/node-api';
    const connection = await (await DuckDBInstance.create(process.argv[1])).connect();
    await connection.run('DROP TABLE voters');
  `;
  const file = join(warehouse, 'snapshots', first, 'rekap.duckdb');
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, file], {
    cwd: import.meta.dirname,
  });
  expect(source?.current(voters).records).toHaveLength(1);
});

it('opens the file for reading only: another process may read it at the same time', async () => {
  await publish(first, { tables: { voters: [makeRow(voters, 1101, 1)] } });
  const file = join(warehouse, 'snapshots', first, 'rekap.duckdb');
  const program = `
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(process.argv[1], { access_mode: 'READ_ONLY' });
    process.stdout.write('open');
    setInterval(() => instance, 1000);`;
  const reader = spawn(process.execPath, ['--input-type=module', '--eval', program, file], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void reader.kill('SIGKILL'));
  expect(String((await once(reader.stdout, 'data'))[0])).toBe('open');
  source = await openWarehouseSource(warehouse, pipelines);
  expect(source.current(voters).records).toHaveLength(1);
});

it('needs a published snapshot', async () => {
  await expect(openWarehouseSource(warehouse, pipelines)).rejects.toThrow(SnapshotNotFoundError);
  await writeSnapshot(first, {});
  await symlink('elsewhere', join(warehouse, 'current'));
  await expect(openWarehouseSource(warehouse, pipelines)).rejects.toThrow(WarehouseError);
});

it('says what a snapshot lacks', async () => {
  await publish(first, { without: 'voters' });
  const failure: unknown = await openWarehouseSource(warehouse, pipelines).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ServedDataError);
  expect((failure as ServedDataError).message).toContain(join(warehouse, 'snapshots', first, 'rekap.duckdb'));
  expect((failure as ServedDataError).message).toContain('voters');
  expect((failure as ServedDataError).next).not.toBe('');
});

/** For a slow machine; each wait ends as soon as what it waits for is there. */
const patience = { timeout: 4_000, interval: 10 };

/** A source whose clock the test moves. */
async function openFollowing() {
  const clock = { now: 0 };
  const failures: unknown[] = [];
  const opened = await openWarehouseSource(warehouse, pipelines, {
    monotonic: () => clock.now,
    onFailure: (error) => failures.push(error),
  });
  source = opened;
  /** Lets a second pass for every look, and waits until the records of both datasets are the new ones. */
  const waitFor = (count: number): Promise<void> =>
    vi.waitFor(() => {
      clock.now += 1_000;
      const counts = pipelines.map((pipeline) => opened.current(pipeline).records.length);
      expect(counts).toEqual([count, count]);
    }, patience);
  return { opened, clock, failures, waitFor };
}

function rows(count: number): Content {
  return {
    tables: Object.fromEntries(
      pipelines.map((pipeline) => [
        pipeline.table,
        Array.from({ length: count }, (_, index) => makeRow(pipeline, 11, index)),
      ]),
    ),
  };
}

it('follows current to another snapshot and back again, and says when that changed', async () => {
  const times = ['01', '02', '03'].map((hour) => new Date(`2026-12-01T${hour}:00:00Z`));
  await publish(first, rows(1), times[0]);
  const { opened, failures, waitFor } = await openFollowing();
  const before = opened.current(voters);
  await publish(second, rows(2), times[1]);
  await waitFor(2);
  const after = opened.current(voters);
  await pointTo(first, times[2]);
  await waitFor(1);
  const back = opened.current(voters);
  expect(after.etag).not.toBe(before.etag);
  expect(back.etag).toBe(before.etag);
  // To a client that has the newer snapshot, the older one is what changed last.
  expect([before, after, back].map(({ lastModified }) => lastModified)).toEqual(times);
  expect(failures).toEqual([]);
});

it('looks once a second at most, and never after it is closed', async () => {
  await publish(first, rows(1));
  const { opened, clock, failures } = await openFollowing();
  // From here on every look is a failure, so looks can be counted; close() waits for one that is under way.
  await rm(join(warehouse, 'current'));
  for (clock.now = 0; clock.now < 1_000; clock.now += 1) opened.current(voters);
  clock.now = 1_000;
  for (let request = 0; request < 100; request += 1) opened.current(voters);
  clock.now = 2_000;
  opened.current(voters); // the look of before is still under way
  await vi.waitFor(() => expect(failures).toHaveLength(1), patience);
  clock.now = 2_500;
  opened.current(voters);
  await vi.waitFor(() => expect(failures).toHaveLength(2), patience);
  clock.now = 3_499; // not a second after the last look
  opened.current(voters);
  await opened.close();
  expect(failures).toHaveLength(2);
  clock.now = 9_000;
  opened.current(voters);
  await opened.close();
  expect(failures).toHaveLength(2);
});

it('waits on closing for a look that is under way', async () => {
  await publish(first, rows(1));
  const { opened, clock, failures } = await openFollowing();
  await rm(join(warehouse, 'current'));
  clock.now = 1_000;
  opened.current(voters);
  await opened.close();
  expect(failures).toHaveLength(1);
});

it('does not look before a second has passed', async () => {
  await publish(first, rows(1));
  const { opened, clock, failures } = await openFollowing();
  await rm(join(warehouse, 'current'));
  clock.now = 999;
  opened.current(voters);
  await opened.close();
  expect(failures).toEqual([]);
});

it('keeps serving what it has while the next snapshot is unusable, reports that, and goes on later', async () => {
  await publish(first, rows(1));
  const { opened, clock, failures, waitFor } = await openFollowing();
  const before = opened.current(voters);
  // The first dataset's table can be read, the second one's is not there: neither may be swapped alone.
  await publish(second, { ...rows(2), without: users.table });
  await vi.waitFor(() => {
    clock.now += 1_000;
    opened.current(voters);
    expect(failures.length).toBeGreaterThan(0);
  }, patience);
  expect(failures[0]).toBeInstanceOf(ServedDataError);
  expect(opened.current(voters)).toBe(before);
  await publish('20261122T030002Z-000002', rows(3));
  await waitFor(3);
});

it('serves on without current, and reports it', async () => {
  await publish(first, rows(1));
  const { opened, clock, failures } = await openFollowing();
  await rm(join(warehouse, 'current'));
  await vi.waitFor(() => {
    clock.now += 1_000;
    expect(opened.current(voters).records).toHaveLength(1);
    expect(failures[0]).toBeInstanceOf(SnapshotNotFoundError);
  }, patience);
});
