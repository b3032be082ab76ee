/** Data that a run doesn't request is carried over from the previous snapshot: rows, violations and quarantine, neither lost nor doubled. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, loadOnce, user, voter } from './support.ts';

const second = { dapil_id: '1102', province: 'RIAU' };
const onlyVotersOf1102 = new Map([
  ['voters', { outside: ['1102'] }],
  ['voting_rights_users', { outside: [] }],
]);
const unreadable = { regency: 'B', dpt_male: 'x' };

/** Two partitions in each dataset, each with an unreadable count and a record in quarantine. */
const before = (folder: string) =>
  load(
    {
      voters: [{}, second].map((place) => [
        voter(place),
        voter({ ...place, ...unreadable }),
        voter({ ...place, regency: '' }),
      ]),
      voting_rights_users: [{}, second].map((place) => [
        user(place),
        user({ ...place, ...unreadable }),
        user({ ...place, regency: '' }),
      ]),
    },
    { folder },
  );

/** Reads partition 1102 of the voters again, with other figures. */
const loadAgain = loadOnce(async (folder) => {
  const previous = await before(join(folder, 'before'));
  const voters = [[voter({ ...second, regency: 'NEW' }), voter({ ...second, regency: 'B', grand_total: '7' })]];
  const after = await load(
    { voters },
    {
      carryOver: onlyVotersOf1102,
      previous: previous.file,
      snapshot: '20261121T030002Z-000001',
      folder: join(folder, 'after'),
    },
  );
  return { before: previous, after };
});

describe('a load that carries over', () => {
  it('keeps exactly the rows of the partitions that it does not read', async () => {
    const { before: previous, after } = await loadAgain();
    for (const sql of ['FROM voters WHERE dapil_id = 1101', 'FROM voting_rights_users'])
      expect(await after.rows(sql)).toEqual(await previous.rows(sql));
    expect(
      await after.rows('SELECT dapil_id, regency, grand_total, is_consistent FROM voters WHERE dapil_id <> 1101'),
    ).toEqual([
      { dapil_id: 1102, regency: 'B', grand_total: 7, is_consistent: false },
      { dapil_id: 1102, regency: 'NEW', grand_total: 145_804, is_consistent: true },
    ]);
    expect(await after.rows('SELECT count(*) AS n FROM snapshots_log')).toEqual([{ n: 4n }]);
  });

  it('keeps their violations and quarantined records, and checks across tables again', async () => {
    const { after } = await loadAgain();
    const violations = await after.rows('SELECT dataset, dapil_id, regency, check_name, raw_value FROM violations');
    expect(violations.map((row) => Object.values(row).join(' '))).toEqual([
      'voters 1101 B malformed x',
      'voters 1102 B grand_total_sum ',
      'voters 1102 NEW regency_in_one_dataset ',
      'voting_rights_users 1101 B malformed x',
      'voting_rights_users 1102 ACEH BARAT regency_in_one_dataset ',
      'voting_rights_users 1102 B malformed x',
      'voting_rights_users 1102 B users_above_voters_all ',
    ]);
    expect(await after.rows('SELECT dataset, partition_value FROM quarantine')).toEqual([
      { dataset: 'voters', partition_value: '1101' },
      { dataset: 'voting_rights_users', partition_value: '1101' },
      { dataset: 'voting_rights_users', partition_value: '1102' },
    ]);
  });

  it('counts the carried-over rows, sums and quarantined records', async () => {
    const { after } = await loadAgain();
    const [voters, users] = ['voters', 'voting_rights_users'].map((table) => after.reports.get(table)!);
    expect(voters!.carried).toMatchObject({
      rows: 2,
      sums: { dpt_male: 70_800n, grand_total: 291_608n },
      nulls: { dpt_male: 1, grand_total: 0 },
    });
    expect(users!.carried).toMatchObject({ rows: 4, sums: { grand_total: 583_216n }, nulls: { dpt_male: 2 } });
    expect([voters!, users!].map(({ quarantine }) => quarantine.reduce((sum, { count }) => sum + count, 0))).toEqual([
      1, 2,
    ]);
  });

  it('refuses a key that is both read and carried over', async () => {
    const { before: previous } = await loadAgain();
    await expect(
      load({ voters: [[voter()]] }, { carryOver: onlyVotersOf1102, previous: previous.file }),
    ).rejects.toThrow(/duplicate key/);
  });

  it('lists a violation across tables once, although the previous snapshot lists it too', async () => {
    const previous = await load({ voters: [[voter()], [voter(second)]], voting_rights_users: [[user(second)]] });
    const carryOver = onlyVotersOf1102;
    const after = await load({ voters: [[voter(second)]] }, { carryOver, previous: previous.file });
    for (const { rows } of [previous, after])
      expect(await rows('SELECT dapil_id, check_name FROM violations')).toEqual([
        { dapil_id: 1101, check_name: 'regency_in_one_dataset' },
      ]);
  });

  it('marks a row consistent again when its error across tables is gone', async () => {
    const more = { dpt_male: '70801', dpt_female: '72615', dpk_male: '982', dpk_female: '707' };
    const previous = await load({ voters: [[voter()]], voting_rights_users: [[user(more)]] });
    const carryOver = new Map([['voting_rights_users', { outside: [] }]]);
    const after = await load({ voters: [[voter(more)]] }, { carryOver, previous: previous.file });
    const marks = 'SELECT is_consistent FROM voting_rights_users';
    expect(await previous.rows(marks)).toEqual([{ is_consistent: false }]);
    expect(await after.rows(marks)).toEqual([{ is_consistent: true }]);
    expect(await after.rows("FROM violations WHERE severity = 'error'")).toEqual([]);
  });
});
