/** Serves records restored from the tables of a warehouse, without locking the file, and follows `current`. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RecordSet } from '../../src/serve/record-source.ts';
import { snapshotId as first } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, makeRecord, pipelines, start } from './support.ts';
import {
  makeRow,
  makeViolation,
  openSource,
  pointTo,
  publish,
  users,
  voters,
  type Content,
} from './warehouse-fixture.ts';

const second = '20261121T030002Z-000001';

/** The voters of a warehouse whose one snapshot holds this. */
async function openVoters(content: Content): Promise<RecordSet> {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, content);
  return (await openSource(warehouse)).current(voters);
}

function parse(texts: readonly string[] | undefined): unknown[] {
  return (texts ?? []).map((text) => JSON.parse(text) as unknown);
}

it('serves records in the shape of the source', async () => {
  const warehouse = await temporaryFolder();
  const tables = Object.fromEntries(
    pipelines.map((pipeline) => [
      pipeline.table,
      [makeRow(pipeline, 12, 2), makeRow(pipeline, 12, 1), makeRow(pipeline, 11, 1)],
    ]),
  );
  await publish(warehouse, first, { tables });
  const source = await openSource(warehouse);
  const service = await start({ source });
  for (const pipeline of pipelines) {
    const { count, data } = (await (await ask(service, pipeline.path)).json()) as {
      count: number;
      data: Record<string, string>[];
    };
    expect(count).toBe(3);
    // In the order of the key, however the table has them.
    expect(data).toEqual([makeRecord(pipeline, 11, 1), makeRecord(pipeline, 12, 1), makeRecord(pipeline, 12, 2)]);
    expect(Object.keys(data[0]!)).toEqual(Object.values(pipeline.columns).map(({ field }) => field));
  }
});

it('restores a missing, null, empty or malformed count', async () => {
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
      // These are not about a lost value of this row.
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

it('appends quarantined records to their partition, byte for byte', async () => {
  const quarantined = [
    '{"IdDapil": "11", "n": 12345678901234567890}',
    '{"IdDapil":12}',
    '"no record"',
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
  expect(set.byPartition.get('11')?.slice(1)).toEqual([quarantined[0], quarantined[4]]);
  expect(set.byPartition.get('12')).toEqual([quarantined[1]]);
  expect(new Set(set.byPartition.keys())).toEqual(new Set(['11', '12']));
});

it('reads the file while others read it, and releases it for others to write', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, { tables: { voters: [makeRow(voters, 11, 1)] } });
  const file = join(warehouse, 'snapshots', first, 'rekap.duckdb');
  const program = `
    import { DuckDBInstance } from '@duckdb/node-api';
    const reader = await DuckDBInstance.create(process.argv[1], { access_mode: 'READ_ONLY' });
    process.stdout.write('open');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    reader.closeSync();
    const connection = await (await DuckDBInstance.create(process.argv[1])).connect();
    await connection.run('DROP TABLE voters');
    process.exit();`;
  const other = spawn(process.execPath, ['--input-type=module', '--eval', program, file], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void other.kill('SIGKILL'));
  expect(String((await once(other.stdout, 'data'))[0])).toBe('open');
  const source = await openSource(warehouse);
  const ended = once(other, 'exit');
  other.stdin.write('go on');
  expect(await ended).toEqual([0, null]);
  expect(source.current(voters).records).toHaveLength(1);
});

it('requires a published snapshot with all tables', async () => {
  const warehouse = await temporaryFolder();
  await expect(openSource(warehouse)).rejects.toMatchObject({ code: 'snapshot-not-found' });
  await publish(warehouse, first, { without: 'voters' });
  const opening = openSource(warehouse);
  await expect(opening).rejects.toMatchObject({ code: 'served-data', message: expect.stringContaining('voters') });
  await expect(opening).rejects.toThrow(join(warehouse, 'snapshots', first, 'rekap.duckdb'));
});

describe('a source that follows current', () => {
  /** A warehouse with one record per dataset, its source, and what the source reports; the test moves its timers. */
  async function following() {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const warehouse = await temporaryFolder();
    await publish(warehouse, first, rows(1), times[0]);
    const failures: unknown[] = [];
    const source = await openSource(warehouse, { onFailure: (error) => failures.push(error) });
    return { warehouse, source, failures };
  }

  const times = ['01', '02', '03'].map((hour) => new Date(`2026-12-01T${hour}:00:00Z`));
  const rows = (count: number): Content => ({
    tables: Object.fromEntries(
      pipelines.map((pipeline) => [
        pipeline.table,
        Array.from({ length: count }, (_, index) => makeRow(pipeline, 11, index)),
      ]),
    ),
  });

  /** Lets milliseconds pass, and waits until a check has the expected result. */
  async function pass(milliseconds: number, isDone: () => boolean): Promise<void> {
    vi.advanceTimersByTime(milliseconds);
    while (!isDone()) await new Promise((resolve) => setImmediate(resolve));
    // The next check is scheduled when this one ends.
    await new Promise((resolve) => setImmediate(resolve));
  }

  it('serves both datasets of a new snapshot at once, and the old ones after a rollback', async () => {
    const { warehouse, source, failures } = await following();
    const seen = [source.current(voters)];
    await publish(warehouse, second, rows(2), times[1]);
    await pass(1_000, () => source.current(voters).records.length === 2);
    expect(source.current(users).records).toHaveLength(2);
    seen.push(source.current(voters));
    await pointTo(warehouse, first, times[2]);
    await pass(1_000, () => source.current(voters).records.length === 1);
    seen.push(source.current(voters));
    expect(seen[1]!.etag).not.toBe(seen[0]!.etag);
    expect(seen[2]!.etag).toBe(seen[0]!.etag);
    // To a client that has the newer snapshot, the older one is what changed last.
    expect(seen.map(({ lastModified }) => lastModified)).toEqual(times);
    expect(failures).toEqual([]);
  });

  it('reports an unusable snapshot, and serves the previous one until the next', async () => {
    const { warehouse, source, failures } = await following();
    const before = source.current(voters);
    // The first dataset's table can be read, the second one's is not there: neither may be swapped alone.
    await publish(warehouse, second, { ...rows(2), without: users.table });
    await pass(1_000, () => failures.length === 1);
    expect(failures).toMatchObject([{ code: 'served-data' }]);
    expect(source.current(voters)).toBe(before);
    await publish(warehouse, '20261122T030002Z-000002', rows(3));
    await pass(2_000, () => source.current(users).records.length === 3);
    expect(source.current(voters).records).toHaveLength(3);
  });

  it('checks less often after failures, and stops when it is closed', async () => {
    const { warehouse, source, failures } = await following();
    await rm(join(warehouse, 'current'));
    await pass(1_000, () => failures.length === 1);
    vi.advanceTimersByTime(1_999);
    await pass(1, () => failures.length === 2);
    expect(failures[0]).toMatchObject({ code: 'snapshot-not-found' });
    vi.advanceTimersByTime(4_000);
    await source.close(); // waits for the pending check
    vi.advanceTimersByTime(600_000);
    await source.close();
    expect(failures).toHaveLength(3);
  });
});
