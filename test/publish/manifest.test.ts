/** Two snapshots hold the same tables when one source, one definition and the bytes of every Parquet file say so. */

import { describe, expect, it } from 'vitest';
import { differingFigures, holdsSameTables } from '../../src/publish/manifest.ts';
import type { Manifest, ManifestFile } from '../../src/warehouse/snapshot-format.ts';

const parquet = (table: string, sha256: string): ManifestFile => ({
  path: `parquet/${table}/${table}.parquet`,
  bytes: 1,
  rows: 1,
  sha256,
});
const voters = parquet('voters', 'aa');
const users = parquet('voting_rights_users', 'bb');
const database: ManifestFile = { path: 'rekap.duckdb', bytes: 1, rows: null, sha256: 'cc' };
const before = { source: 'sample', definition: 'one', files: [database, voters, users] } as unknown as Manifest;

describe('two snapshots', () => {
  it.each<[string, Partial<Manifest>]>([
    ['nothing differs', {}],
    [
      'only the DuckDB file differs, which is never the same twice',
      { files: [{ ...database, sha256: 'dd' }, voters, users] },
    ],
    ['only the history of changes has gone on', { files: [database, voters, users, parquet('changes', 'gg')] }],
    ['their files stand in another order', { files: [users, database, voters] }],
    ['they were made at other times by other versions', { created_at: 'later', tool: { name: 'rekap', version: '2' } }],
  ])('hold the same tables where %s', (_, now) => {
    expect(holdsSameTables({ ...before, ...now }, before)).toBe(true);
  });

  it.each<[string, Partial<Manifest>]>([
    ['another source', { source: 'https://elsewhere.test' }],
    ['another definition of its views', { definition: 'two' }],
    ['a Parquet file with other bytes', { files: [database, { ...voters, sha256: 'ee' }, users] }],
    ['one Parquet file less', { files: [database, voters] }],
    ['one Parquet file more', { files: [database, voters, users, parquet('extra', 'ff')] }],
    [
      'the bytes of two Parquet files exchanged',
      { files: [database, { ...voters, sha256: 'bb' }, { ...users, sha256: 'aa' }] },
    ],
  ])('do not where one has %s', (_, now) => {
    expect(holdsSameTables({ ...before, ...now }, before)).toBe(false);
    expect(holdsSameTables(before, { ...before, ...now })).toBe(false);
  });
});

describe('what differs between two that should be equal', () => {
  const dataset = {
    rows: 3,
    sums: { dpt_male: '5' },
    changes: { added: 1, removed: 0, changed: 0 },
    districts: [{ district: 1101, received: 3, read_at: 'then' }],
  };
  const snapshot = (changed: object = {}, files = [database, voters]): Manifest =>
    ({ ...before, files, datasets: { voters: { ...dataset, ...changed } } }) as unknown as Manifest;
  const whole = snapshot();

  it('is nothing where only the time of reading does', () => {
    const later = snapshot({ districts: [{ ...dataset.districts[0], read_at: 'later' }] });
    expect(differingFigures(later, whole, true)).toEqual([]);
  });

  it.each([
    [{ rows: 4 }, 'voters: rows'],
    [{ sums: { dpt_male: '6' } }, 'voters: sums'],
    [{ districts: [{ ...dataset.districts[0], received: 2 }] }, 'voters: districts'],
    [{ districts: [] }, 'voters: districts'],
  ])('is named: %j', (changed, name) => {
    expect(differingFigures(snapshot(changed), whole, false)).toEqual([name]);
    expect(differingFigures(whole, snapshot(changed), true)).toEqual([name]);
  });

  it('counts the history of changes only where that is asked for', () => {
    const other = snapshot({ changes: { added: 2, removed: 0, changed: 0 } }, [
      database,
      voters,
      parquet('changes', 'h'),
    ]);
    expect(differingFigures(other, whole, false)).toEqual([]);
    expect(differingFigures(other, whole, true)).toEqual(['parquet/changes/changes.parquet', 'voters: changes']);
  });

  it('is a dataset or a Parquet file that one of them has not', () => {
    const more = { ...whole, files: [...whole.files, users], datasets: { ...whole.datasets, others: dataset } };
    const named = [users.path, ...Object.keys(dataset).map((part) => `others: ${part}`)];
    expect(differingFigures(more as unknown as Manifest, whole, true).toSorted()).toEqual(named.toSorted());
    expect(differingFigures(whole, more as unknown as Manifest, true).toSorted()).toEqual(named.toSorted());
  });
});
