/** A warehouse as a source: records restored from its tables, from a file that others may use meanwhile. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { RecordSet } from '../../src/serve/record-source.ts';
import { snapshotId as first } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { ask, makeRecord, pipelines, start } from './support.ts';
import {
  makeRow,
  makeViolation,
  openSource,
  publish,
  users,
  voters,
  writeSnapshot,
  type Content,
} from './warehouse-fixture.ts';

/** The voters of a warehouse whose one snapshot holds this. */
async function openVoters(content: Content): Promise<RecordSet> {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, content);
  return (await openSource(warehouse)).current(voters);
}

function parse(texts: readonly string[] | undefined): unknown[] {
  return (texts ?? []).map((text) => JSON.parse(text) as unknown);
}

it('restores the records in the source’s shape, over HTTP', async () => {
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
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, { tables: { voters: [makeRow(voters, 11, 1)] } });
  const source = await openSource(warehouse);
  const program = `
    import { DuckDBInstance } from '@duckdb/node-api';
    const connection = await (await DuckDBInstance.create(process.argv[1])).connect();
    await connection.run('DROP TABLE voters');
  `;
  const file = join(warehouse, 'snapshots', first, 'rekap.duckdb');
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program, file], {
    cwd: import.meta.dirname,
  });
  expect(source.current(voters).records).toHaveLength(1);
});

it('opens the file for reading only: another process may read it at the same time', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, { tables: { voters: [makeRow(voters, 1101, 1)] } });
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
  const source = await openSource(warehouse);
  expect(source.current(voters).records).toHaveLength(1);
});

it('needs a published snapshot', async () => {
  const warehouse = await temporaryFolder();
  await expect(openSource(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'snapshot-not-found' }));
  await writeSnapshot(warehouse, first, {});
  await symlink('elsewhere', join(warehouse, 'current'));
  await expect(openSource(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
});

it('says what a snapshot lacks', async () => {
  const warehouse = await temporaryFolder();
  await publish(warehouse, first, { without: 'voters' });
  const failure: unknown = await openSource(warehouse).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'served-data' });
  expect((failure as RekapError).message).toContain(join(warehouse, 'snapshots', first, 'rekap.duckdb'));
  expect((failure as RekapError).message).toContain('voters');
  expect((failure as RekapError).next).not.toBe('');
});
