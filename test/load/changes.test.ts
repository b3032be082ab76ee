/** The table `changes`: every record that came, went or was restated since the snapshot before, column by column, with its history. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { ask, load, user, voter, type Row } from './support.ts';

const columns = 'dataset, dapil_id, regency, column_name, old_value, new_value, kind, snapshot_id';
const first = '20261120T030002Z-000001';
const second = '20261121T030002Z-000001';
const third = '20261122T030002Z-000001';

const before = { voters: [[voter(), voter({ regency: 'GONE' })]], voting_rights_users: [[user()]] };

async function changesAfter(records: readonly Row[]) {
  const previous = await load(before, { snapshot: first });
  const next = await load({ ...before, voters: [records] }, { snapshot: second, previous: previous.file });
  return { previous, next, changes: await next.rows(`SELECT ${columns} FROM changes`) };
}

describe('changes', () => {
  it('holds nothing in a first snapshot, nor where nothing differs', async () => {
    const one = await load(before);
    expect(await one.rows('FROM changes')).toEqual([]);
    const same = await load(before, { snapshot: second, previous: one.file });
    expect(await same.rows('FROM changes')).toEqual([]);
    expect(same.reports.get('voters')!.changes).toEqual({ added: 0, removed: 0, changed: 0 });
  });

  it('names each restated figure and text once, with what stood there before', async () => {
    const { changes, next } = await changesAfter([
      voter({ dpt_male: '70801', dapil_name: 'ACEH 1' }),
      voter({ regency: 'GONE' }),
    ]);
    const at = { dataset: 'voters', dapil_id: 1101, regency: 'ACEH BARAT', kind: 'changed', snapshot_id: second };
    expect(changes).toEqual([
      { ...at, column_name: 'dapil_name', old_value: 'ACEH I', new_value: 'ACEH 1' },
      { ...at, column_name: 'dpt_male', old_value: '70800', new_value: '70801' },
    ]);
    expect(next.reports.get('voters')!.changes).toEqual({ added: 0, removed: 0, changed: 1 });
    expect(next.reports.get('voting_rights_users')!.changes).toEqual({ added: 0, removed: 0, changed: 0 });
  });

  it('tells a figure that can no longer be read from 0', async () => {
    const { changes } = await changesAfter([voter({ dpt_male: '' }), voter({ regency: 'GONE', dpk_male: '0' })]);
    expect(changes.map(({ column_name, new_value }) => [column_name, new_value])).toEqual([
      ['dpt_male', null],
      ['dpk_male', '0'],
    ]);
  });

  it('has every column of a record that came or went', async () => {
    const { changes, next } = await changesAfter([voter(), voter({ regency: 'NEW', dpt_male: '' })]);
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

  it('keeps what earlier snapshots changed, under their ids', async () => {
    const { next } = await changesAfter([voter({ dpt_male: '1' }), voter({ regency: 'GONE' })]);
    const last = await load(
      { ...before, voters: [[voter({ dpt_male: '2' }), voter({ regency: 'GONE' })]] },
      { snapshot: third, previous: next.file },
    );
    expect(await last.rows('SELECT old_value, new_value, snapshot_id FROM changes')).toEqual([
      { old_value: '70800', new_value: '1', snapshot_id: second },
      { old_value: '1', new_value: '2', snapshot_id: third },
    ]);
    expect(last.reports.get('voters')!.changes).toEqual({ added: 0, removed: 0, changed: 1 });
  });

  it('compares what both snapshots have, where the one before has fewer columns or no history', async () => {
    const previous = await load(before, { snapshot: first });
    const database = await openDatabase(join(previous.folder, 'rekap.duckdb'));
    // Views hold on to the columns that go.
    await database.run('DROP VIEW IF EXISTS turnout_national; DROP TABLE changes; ALTER TABLE voters DROP dpt_male');
    database.close();
    const records = [voter({ dpt_male: '5', dpk_male: '6' }), voter({ regency: 'GONE' })];
    const next = await load({ ...before, voters: [records] }, { snapshot: second, previous: previous.file });
    expect(await ask(next.file, 'SELECT column_name FROM changes')).toEqual([{ column_name: 'dpk_male' }]);
  });
});
