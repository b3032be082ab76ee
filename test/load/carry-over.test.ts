/** What a run does not ask for is taken over from the snapshot before: rows, violations and quarantine, neither lost nor doubled. */

import { describe, expect, it } from 'vitest';
import { load, user, voter } from './support.ts';

const second = { dapil_id: '1102', province: 'RIAU' };
const doubtful = { regency: 'B', dpt_male: 'x' };

/** Two partitions in each dataset, each with a doubtful record and one in quarantine. */
async function loadBefore() {
  const one = { dapil_id: '1101' };
  return load({
    voters: [one, second].map((place) => [
      voter(place),
      voter({ ...place, ...doubtful }),
      voter({ ...place, regency: '' }),
    ]),
    voting_rights_users: [one, second].map((place) => [
      user(place),
      user({ ...place, ...doubtful }),
      user({ ...place, regency: '' }),
    ]),
  });
}

/** Reads partition 1102 of the voters anew: other figures, nothing doubtful. */
async function loadAgain() {
  const before = await loadBefore();
  const after = await load(
    {
      voters: [[voter({ ...second, regency: 'NEW' }), voter({ ...second, regency: 'B', grand_total: '7' })]],
    },
    {
      carryOver: {
        replaced: new Map([
          ['voters', ['1102']],
          ['voting_rights_users', []],
        ]),
      },
      previous: before.file,
      snapshot: '20261121T030002Z-000001',
    },
  );
  return { before, after };
}

describe('a load that carries over', () => {
  it('keeps the rows of the partitions it does not read, and no other', async () => {
    const { before, after } = await loadAgain();
    const rest = 'SELECT * FROM voters WHERE dapil_id = 1101';
    expect(await after.rows(rest)).toEqual(await before.rows(rest));
    expect(
      await after.rows('SELECT dapil_id, regency, grand_total, is_consistent FROM voters WHERE dapil_id <> 1101'),
    ).toEqual([
      { dapil_id: 1102, regency: 'B', grand_total: 7, is_consistent: false },
      { dapil_id: 1102, regency: 'NEW', grand_total: 145_804, is_consistent: true },
    ]);
    const users = 'SELECT * FROM voting_rights_users';
    expect(await after.rows(users)).toEqual(await before.rows(users));
    expect(await after.rows('SELECT count(*) AS n FROM snapshots_log')).toEqual([{ n: 4n }]);
  });

  it('keeps their violations, and finds those across tables anew', async () => {
    const { after } = await loadAgain();
    expect(await after.rows('SELECT dataset, dapil_id, regency, check_name, raw_value FROM violations')).toEqual([
      { dataset: 'voters', dapil_id: 1101, regency: 'B', check_name: 'malformed', raw_value: 'x' },
      { dataset: 'voters', dapil_id: 1102, regency: 'B', check_name: 'grand_total_sum', raw_value: null },
      { dataset: 'voters', dapil_id: 1102, regency: 'NEW', check_name: 'regency_in_one_dataset', raw_value: null },
      { dataset: 'voting_rights_users', dapil_id: 1101, regency: 'B', check_name: 'malformed', raw_value: 'x' },
      {
        dataset: 'voting_rights_users',
        dapil_id: 1102,
        regency: 'ACEH BARAT',
        check_name: 'regency_in_one_dataset',
        raw_value: null,
      },
      { dataset: 'voting_rights_users', dapil_id: 1102, regency: 'B', check_name: 'malformed', raw_value: 'x' },
      {
        dataset: 'voting_rights_users',
        dapil_id: 1102,
        regency: 'B',
        check_name: 'users_above_voters_all',
        raw_value: null,
      },
    ]);
  });

  it('names a violation across tables once, though the snapshot before named it too', async () => {
    const only = {
      voters: [[voter()], [voter(second)]],
      voting_rights_users: [[user(second)]],
    };
    const before = await load(only);
    const replaced = new Map([
      ['voters', ['1102']],
      ['voting_rights_users', []],
    ]);
    const carryOver = { replaced };
    const after = await load({ voters: [[voter(second)]] }, { carryOver, previous: before.file });
    const violations = 'SELECT dapil_id, check_name FROM violations';
    expect(await after.rows(violations)).toEqual([{ dapil_id: 1101, check_name: 'regency_in_one_dataset' }]);
    expect(await after.rows(violations)).toEqual(await before.rows(violations));
  });

  it('names a regency that moved between the partitions where only one of them was read again', async () => {
    const regency = { regency: 'MOVED' };
    const before = await load({ voters: [[voter(), voter(regency)], [voter(second)]] });
    const carryOver = { replaced: new Map([['voters', ['1102']]]) };
    const moved = voter({ ...regency, dapil_id: '1102' });
    const after = await load({ voters: [[voter(second), moved]] }, { carryOver, previous: before.file });
    expect(await after.rows('SELECT dapil_id, regency, check_name, actual FROM violations')).toEqual(
      [1101, 1102].map((dapil_id) => ({
        dapil_id,
        ...regency,
        check_name: 'regency_in_two_districts',
        actual: '1101, 1102',
      })),
    );
  });

  it('keeps what is in quarantine from their requests', async () => {
    const { after } = await loadAgain();
    expect(await after.rows('SELECT dataset, partition_value FROM quarantine')).toEqual([
      { dataset: 'voters', partition_value: '1101' },
      { dataset: 'voting_rights_users', partition_value: '1101' },
      { dataset: 'voting_rights_users', partition_value: '1102' },
    ]);
  });

  it('counts what it carried over', async () => {
    const { after } = await loadAgain();
    const voters = after.reports.get('voters')!;
    expect(voters.carried).toMatchObject({
      rows: 2,
      sums: { dpt_male: 70_800n, grand_total: 291_608n },
      nulls: { dpt_male: 1, grand_total: 0 },
    });
    expect(voters.quarantine.map(({ count }) => count)).toEqual([1]);
    const users = after.reports.get('voting_rights_users')!;
    expect(users.carried).toMatchObject({ rows: 4, sums: { grand_total: 583_216n }, nulls: { dpt_male: 2 } });
    expect(users.quarantine.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  });

  it('refuses a key that stands in what was read and in what is carried over', async () => {
    const before = await loadBefore();
    const carryOver = {
      replaced: new Map([
        ['voters', ['1102']],
        ['voting_rights_users', []],
      ]),
    };
    await expect(
      load({ voters: [[voter({ dapil_id: '1101' })]] }, { carryOver, previous: before.file }),
    ).rejects.toThrow(/duplicate key/);
  });

  it('no longer calls a row inconsistent when the error across tables is gone', async () => {
    const above = user({ dpt_male: '70801', dpt_female: '72615', dpk_male: '982', dpk_female: '707' });
    const before = await load({ voters: [[voter()]], voting_rights_users: [[above]] });
    const mended = voter({ dpt_male: '70801', dpt_female: '72615', dpk_male: '982', dpk_female: '707' });
    const replaced = new Map([
      ['voters', null],
      ['voting_rights_users', []],
    ]);
    const after = await load({ voters: [[mended]] }, { carryOver: { replaced }, previous: before.file });
    expect(await before.rows('SELECT is_consistent FROM voting_rights_users')).toEqual([{ is_consistent: false }]);
    expect(await after.rows("SELECT * FROM violations WHERE severity = 'error'")).toEqual([]);
    expect(await after.rows('SELECT is_consistent FROM voting_rights_users')).toEqual([{ is_consistent: true }]);
  });
});
