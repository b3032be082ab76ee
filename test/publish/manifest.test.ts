/** A manifest accounts for each dataset, has its own hash, and shows whether two snapshots are the same. */

import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { voters as pipeline } from '../support/bundled.ts';
import { summedColumns } from '../../src/project/declaration.ts';
import {
  assembleDataset,
  type DatasetFacts,
  differingFigures,
  holdsSameTables,
  writeManifest,
} from '../../src/publish/manifest.ts';
import { checkManifestFile, verifySnapshot } from '../../src/publish/verify-snapshot.ts';
import type { Manifest, ManifestFile } from '../../src/warehouse/snapshot-format.ts';
import { datasetOf, manifestOf, snapshotId, verdictOf } from '../support/manifests.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('a dataset in a manifest', () => {
  const facts: DatasetFacts = {
    pipeline,
    totals: {
      ledger: { fetched: 5, published: 3, quarantined: 1, duplicates: 1 },
      quarantine: '-0-0',
      sums: { dpt_male: 2n ** 40n },
      nulls: { dpt_male: 2 },
    },
    partitions: [verdictOf()],
    reading: { scope: 'whole', from: null, whole_at: '2026-11-20T03:00:02Z', runs: [snapshotId] },
    carried: { rows: 0, sums: {}, nulls: {} },
    quarantine: [{ count: 1 }],
    changes: { added: 1, removed: 2, changed: 3 },
    violations: [],
    schema: [['dapil_id', 'INTEGER']],
  };
  it('adds carried-over counts to fetched ones', () => {
    const carried = { rows: 4, sums: { dpt_male: 1n, dpt_female: 7n }, nulls: { dpt_male: 1, dpt_female: 3 } };
    const dataset = assembleDataset({ ...facts, carried });
    expect(dataset).toMatchObject({ ledger: facts.totals!.ledger, rows: 7, carried_over: 4, quarantined: 1 });
    expect(dataset.sums).toMatchObject({ dpt_male: '1099511627777', dpt_female: '7', dpt_total: '0' });
    expect(dataset.nulls).toMatchObject({ dpt_male: 3, dpt_female: 3, dpt_total: 0 });
    expect(Object.keys(dataset.sums)).toEqual(summedColumns(pipeline));
  });

  it('has an empty ledger if the run did not request the dataset', () => {
    const carried = { rows: 4, sums: { dpt_male: 9n }, nulls: {} };
    const dataset = assembleDataset({ ...facts, totals: null, carried });
    expect(dataset.ledger).toEqual({ fetched: 0, published: 0, quarantined: 0, duplicates: 0 });
    expect(dataset).toMatchObject({ rows: 4, carried_over: 4, sums: { dpt_male: '9' } });
  });

  it('has violations by check', () => {
    const violations = ['malformed', 'null', 'malformed'].map((check, count) => ({ check, count: count + 1 }));
    expect(assembleDataset({ ...facts, violations }).violations).toEqual({ malformed: 4, null: 2 });
  });

  it('has a fingerprint of the names, types and order of its columns', () => {
    const [a, b] = [['a', 'INTEGER'] as const, ['b', 'INTEGER'] as const];
    const schemas: DatasetFacts['schema'][] = [[a], [b], [['a', 'VARCHAR']], [a, b], [b, a], [a]];
    const prints = schemas.map((schema) => assembleDataset({ ...facts, schema }).schema_fingerprint);
    expect(new Set(prints).size).toBe(5);
    expect(prints[5]).toBe(prints[0]);
  });
});

describe('the hash of a manifest', () => {
  const { project, ...rest } = manifestOf({ datasets: { voters: datasetOf({ partitions: [verdictOf()] }) } });
  // A project is long, and every byte of its text is like any other.
  const manifest: Manifest = { ...rest, project: { ...project, models: [], checks: [], pipelines: [] } };
  const names = ['manifest.json', 'manifest.json.sha256'];

  async function written(): Promise<string> {
    const folder = await temporaryFolder();
    expect(await writeManifest(folder, manifest)).toEqual(names);
    return folder;
  }

  it('can be checked by sha256sum', async () => {
    const { stdout } = await promisify(execFile)('sha256sum', ['-c', names[1]!], { cwd: await written() });
    expect(stdout).toBe('manifest.json: OK\n');
  });

  it.each(names)('detects a changed byte of %s, and a missing file', async (name) => {
    const folder = await written();
    const file = join(folder, name);
    const bytes = await readFile(file);
    for (let at = 0; at < bytes.length; at += 7) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1 << (at % 8);
      await writeFile(file, altered);
      expect(await checkManifestFile(folder), `byte ${at}`).toEqual([expect.stringContaining('manifest.json')]);
    }
    await rm(file);
    expect(await checkManifestFile(folder)).toEqual([`${name}: is missing`]);
    expect(await verifySnapshot(folder, manifest)).toContain(`${name}: is missing`);
    await writeFile(file, bytes);
    expect(await checkManifestFile(folder)).toEqual([]);
  });
});

const fileOf = (path: string, sha256: string): ManifestFile => ({ path, bytes: 1, rows: 1, sha256 });
const parquet = (table: string, sha256: string) => fileOf(`parquet/${table}/${table}.parquet`, sha256);
const [voters, users] = [parquet('voters', 'aa'), parquet('voting_rights_users', 'bb')];
const database = fileOf('rekap.duckdb', 'cc');

describe('two snapshots', () => {
  const before = manifestOf({ definition: 'one', files: [database, voters, users] });

  it.each<[isSame: boolean, string, Partial<Manifest>]>([
    [true, 'nothing differs', {}],
    [
      true,
      'the DuckDB file differs, which is never the same twice',
      { files: [{ ...database, sha256: '' }, voters, users] },
    ],
    [true, 'the history is longer', { files: [database, voters, users, parquet('changes', 'gg')] }],
    [true, 'their files are in another order', { files: [users, database, voters] }],
    [true, 'another version made one', { created_at: 'later', tool: { name: 'rekap', version: '2' } }],
    [false, 'one has another source', { source: 'https://elsewhere.test' }],
    [false, 'one has another definition of its views', { definition: 'two' }],
    [false, 'a Parquet file has other bytes', { files: [database, { ...voters, sha256: 'ee' }, users] }],
    [false, 'one has a Parquet file fewer', { files: [database, voters] }],
    [false, 'one has a Parquet file more', { files: [database, voters, users, parquet('extra', 'ff')] }],
    [
      false,
      'the bytes of two files are exchanged',
      { files: [database, { ...voters, sha256: 'bb' }, { ...users, sha256: 'aa' }] },
    ],
  ])('have the same tables: %s, if %s', (isSame, _, now) => {
    expect(holdsSameTables({ ...before, ...now }, before)).toBe(isSame);
    expect(holdsSameTables(before, { ...before, ...now })).toBe(isSame);
  });
});

describe('a difference between two snapshots', () => {
  const dataset = datasetOf({ partitions: [verdictOf()] });
  const snapshot = (changed: object = {}, more: ManifestFile[] = []): Manifest =>
    manifestOf({ files: [database, voters, ...more], datasets: { voters: { ...dataset, ...changed } } });
  const whole = snapshot();

  it.each([
    [{ partitions: [verdictOf({ read_at: 'later' })] }, []],
    [{ rows: 4 }, ['voters: rows']],
    [{ sums: { dpt_male: '6' } }, ['voters: sums']],
    [{ partitions: [verdictOf({ received: 2 })] }, ['voters: partitions']],
    [{ partitions: [] }, ['voters: partitions']],
  ])('is named: %j', (changed, names) => {
    expect(differingFigures(snapshot(changed), whole, false)).toEqual(names);
    expect(differingFigures(whole, snapshot(changed), true)).toEqual(names);
  });

  it('includes the history of changes only on request', () => {
    const other = snapshot({ changes: { added: 2, removed: 0, changed: 0 } }, [parquet('changes', 'h')]);
    expect(differingFigures(other, whole, false)).toEqual([]);
    expect(differingFigures(other, whole, true)).toEqual(['parquet/changes/changes.parquet', 'voters: changes']);
  });

  it('includes datasets and Parquet files that only one of them has', () => {
    const more = { ...snapshot({}, [users]), datasets: { ...whole.datasets, others: dataset } };
    const named = [users.path, ...Object.keys(dataset).map((part) => `others: ${part}`)].toSorted();
    expect(differingFigures(more, whole, true).toSorted()).toEqual(named);
    expect(differingFigures(whole, more, true).toSorted()).toEqual(named);
  });
});
