/** The last rows of a published table cannot be read: every command gives an error, and nothing that looks whole. */

import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import type { Bucket } from '../../src/share/bucket.ts';
import { isRekapError } from '../../src/errors.ts';
import { buildRecordSet } from '../../src/serve/record-source.ts';
import { startService } from '../../src/serve/service.ts';
import { pushSnapshot } from '../../src/share/push-snapshot.ts';
import { requireCurrent } from '../../src/warehouse/warehouse.ts';
import { readApiKeys } from '../../src/serve/api-keys.ts';
import { alterFile } from '../support/alter-file.ts';
import { damageLastRows } from '../support/damage-rows.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { project } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const clientKey = 'a-key-of-a-client';
/** More than a row group, so that the last rows lie in another block than the first. */
const rows = 130_000;

const twoSnapshots = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }));

/** A warehouse whose current snapshot has so many voters that the damaged rows lie far behind the first ones. */
const damagedWarehouse = preparedWarehouse(async (warehouse) => {
  await cp((await twoSnapshots()).warehouse, warehouse, { recursive: true, verbatimSymlinks: true });
  const { folder } = await requireCurrent(warehouse);
  const file = join(folder, 'rekap.duckdb');
  await alterFile(file, (bytes) => bytes);
  const database = await openDatabase(file);
  await database.run(
    `INSERT INTO voters SELECT v.* REPLACE ('R' || i AS regency) FROM range(${rows - 21}) t(i), (FROM voters LIMIT 1) v`,
  );
  database.close();
  await damageLastRows(file, 'voters');
  await alterFile(join(folder, 'manifest.json'), (bytes) => {
    const manifest = JSON.parse(bytes.toString()) as { files: { path: string; rows: number }[] };
    manifest.files.find((each) => each.path === 'parquet/voters/voters.parquet')!.rows = rows;
    return Buffer.from(JSON.stringify(manifest));
  });
});

describe('a table whose last rows are damaged', () => {
  it.each([
    ['query', 'FROM voters', '--format', 'csv'],
    ['diff', '--format', 'csv'],
    ['evidence', 'R7'],
    ['serve', '--port', '0'],
    ['snapshots', 'verify'],
  ])('makes "%s %s" fail', async (...words) => {
    const { warehouse } = await damagedWarehouse();
    // Without its landing, serve reads the records from the tables.
    if (words[0] === 'serve') await rm(join(warehouse, 'landing'), { recursive: true });
    const environment = { REKAP_API_KEYS: clientKey };
    const { code, stderr } = await runHere([...words.filter(Boolean), '--warehouse', warehouse], environment);
    expect(code).toBeGreaterThan(0);
    expect(stderr).not.toContain('unexpected error');
  });

  it.each(['csv', 'parquet'])('leaves no file of a query for %s', async (format) => {
    const { warehouse } = await damagedWarehouse();
    const into = await temporaryFolder();
    const words = ['query', 'FROM voters', '--format', format, '--out', join(into, 'out'), '--warehouse', warehouse];
    expect((await runHere(words)).code).toBeGreaterThan(0);
    expect(await readdir(into)).toEqual([]);
  });

  it('leaves no file in an export', async () => {
    const { warehouse } = await damagedWarehouse();
    const into = join(await temporaryFolder(), 'files');
    await mkdir(into);
    const words = ['export', '--format', 'csv', '--out', into, '--warehouse', warehouse];
    expect((await runHere(words)).code).toBeGreaterThan(0);
    expect(await readdir(into)).toEqual([]);
  });

  it('is neither exported nor reported from a Parquet file that was altered', async () => {
    const { warehouse } = await damagedWarehouse();
    const { folder } = await requireCurrent(warehouse);
    await alterFile(join(folder, 'parquet/voters/voters.parquet'), (bytes) => bytes.subarray(0, -1));
    const into = join(await temporaryFolder(), 'files');
    const { code } = await runHere(['export', '--format', 'parquet', '--out', into, '--warehouse', warehouse]);
    expect(code).toBeGreaterThan(0);
    const report = await runHere(['report', '--out', join(into, 'report.html'), '--warehouse', warehouse]);
    expect(report).toMatchObject({ stderr: expect.not.stringContaining('unexpected error') });
    expect(report.code).toBeGreaterThan(0);
    expect(await readdir(into)).toEqual([]);
  });

  it('is not pushed', async () => {
    const { warehouse } = await damagedWarehouse();
    const snapshot = await requireCurrent(warehouse);
    const written: string[] = [];
    // No other method may be reached.
    const bucket = {
      url: 's3://bucket',
      read: async () => null,
      upload: async (path: string) => void written.push(path),
    } as unknown as Bucket;
    const options = { warehouse, snapshot, bucket, keep: 3, acceptSource: false, clock: { now: () => new Date() } };
    const pushing = pushSnapshot({ ...options, warn: () => undefined, report: () => undefined });
    await expect(pushing).rejects.toSatisfy((error) => isRekapError(error, 'verification'));
    expect(written).toEqual([]);
  });

  it('is not served as CSV', async () => {
    const { warehouse } = await damagedWarehouse();
    const snapshot = await requireCurrent(warehouse);
    const service = await startService({
      pipelines: project.pipelines,
      source: { current: () => buildRecordSet([], new Date(0)), close: () => undefined },
      keys: readApiKeys(clientKey, 'the test'),
      host: '127.0.0.1',
      port: 0,
      site: { published: { warehouse, snapshot: () => snapshot } },
    });
    try {
      const answer = await fetch(`${service.url}/current/voters.csv`, { headers: { 'x-api-key': clientKey } });
      expect(answer.status).toBe(500);
    } finally {
      await service.close();
    }
  });
});
