/** Two snapshots hold the same tables when one source, one definition and the bytes of every Parquet file say so. */

import { describe, expect, it } from 'vitest';
import { holdsSameTables } from '../../src/publish/manifest.ts';
import type { Manifest, ManifestFile } from '../../src/warehouse.ts';

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
