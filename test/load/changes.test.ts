/** The `changes` table lists every record that was added, removed or restated since the previous snapshot, column by column. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, loadOnce, user, voter, type Row } from './support.ts';

const [first, second, third] = ['20261120T030002Z-000001', '20261121T030002Z-000001', '20261122T030002Z-000001'];
const unchanged = { added: 0, removed: 0, changed: 0 };
const before = { voters: [[voter(), voter({ regency: 'GONE' })]], voting_rights_users: [[user()]] };
const loadFirst = loadOnce((root) => load(before, { snapshot: first, folder: join(root, 'first') }));

async function loadNext(records: readonly Row[]) {
  const next = await load({ ...before, voters: [records] }, { snapshot: second, previous: (await loadFirst()).file });
  return { next, changes: await next.rows('FROM changes') };
}

describe('changes', () => {
  it('is empty in a first snapshot, and if nothing differs', async () => {
    expect(await (await loadFirst()).rows('FROM changes')).toEqual([]);
    const { next, changes } = await loadNext(before.voters[0]!);
    expect(changes).toEqual([]);
    expect(next.reports.get('voters')!.changes).toEqual(unchanged);
  });

  it('lists each restated value once with its old value, across snapshots', async () => {
    const { changes, next } = await loadNext([
      voter({ dpt_male: '70801', dapil_name: 'ACEH 1' }),
      // A missing value is not 0.
      voter({ regency: 'GONE', dpt_female: '', dpk_male: '0' }),
    ]);
    const place = { dataset: 'voters', dapil_id: 1101, kind: 'changed', snapshot_id: second };
    const one = { ...place, regency: 'ACEH BARAT' };
    const other = { ...place, regency: 'GONE' };
    expect(changes).toMatchObject([
      { ...one, column_name: 'dapil_name', old_value: 'ACEH I', new_value: 'ACEH 1', old_number: null },
      { ...one, column_name: 'dpt_male', old_value: '70800', new_value: '70801', old_number: 70800, new_number: 70801 },
      { ...other, column_name: 'dpk_male', new_value: '0' },
      { ...other, column_name: 'dpt_female', new_value: null },
    ]);
    expect(next.reports.get('voters')!.changes).toEqual({ ...unchanged, changed: 2 });
    expect(next.reports.get('voting_rights_users')!.changes).toEqual(unchanged);

    const restated = [
      voter({ dpt_male: '2', dapil_name: 'ACEH 1' }),
      voter({ regency: 'GONE', dpt_female: '', dpk_male: '0' }),
    ];
    const last = await load({ ...before, voters: [restated] }, { snapshot: third, previous: next.file });
    expect(
      await last.rows("SELECT old_value, new_value, snapshot_id FROM changes WHERE column_name = 'dpt_male'"),
    ).toEqual([
      { old_value: '70800', new_value: '70801', snapshot_id: second },
      { old_value: '70801', new_value: '2', snapshot_id: third },
    ]);
    expect(last.reports.get('voters')!.changes).toEqual({ ...unchanged, changed: 1 });
  });

  it('has every column of an added or removed record', async () => {
    const { changes, next } = await loadNext([voter(), voter({ regency: 'NEW', dpt_male: '' })]);
    for (const [kind, regency, empty] of [
      ['added', 'NEW', 'old_value'],
      ['removed', 'GONE', 'new_value'],
    ] as const) {
      const rows = changes.filter((row) => row['kind'] === kind);
      expect(rows).toHaveLength(13);
      expect(new Set(rows.map((row) => row['regency']))).toEqual(new Set([regency]));
      expect(rows.every((row) => row[empty] === null)).toBe(true);
    }
    expect(changes).toHaveLength(26);
    expect(next.reports.get('voters')!.changes).toEqual({ added: 1, removed: 1, changed: 0 });
  });

  it('compares common columns with a previous snapshot that has fewer of them', async () => {
    const previous = await load(before, { snapshot: first });
    // Views depend on the dropped column.
    await previous.change('DROP VIEW regency_figures; ALTER TABLE voters DROP dpt_male');
    const records = [voter({ dpt_male: '5', dpk_male: '6' }), voter({ regency: 'GONE' })];
    const next = await load({ ...before, voters: [records] }, { snapshot: second, previous: previous.file });
    expect(await next.rows('SELECT column_name FROM changes')).toEqual([{ column_name: 'dpk_male' }]);
  });
});
