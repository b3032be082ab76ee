/** Batches become typed, described and sorted tables, views, violations and quarantine in DuckDB. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { allTables } from '../../src/load/tables.ts';
import { allModels } from '../../src/load/schema.ts';
import { load, loadOnce, project, published, user, voter, wholeProject } from './support.ts';

const tables = allTables(project.pipelines).map(({ name }) => name);
const loadWhole = loadOnce((folder) =>
  load(
    {
      voters: [[voter(), voter({ regency: 'B', grand_total: 'x' })]],
      voting_rights_users: [[user({ male_total: '36000' }), user({ regency: 'B' })]],
    },
    { folder, project: wholeProject },
  ),
);

describe('the tables', () => {
  it('have the documented columns and types, and comments', async () => {
    const { rows } = await loadWhole();
    const described = await rows(
      "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index) AS text FROM duckdb_columns() WHERE table_name IN ('voters', 'voting_rights_users') GROUP BY table_name",
    );
    const counts = ['dpt', 'dptb', 'dpk'].flatMap((list) => [`${list}_male`, `${list}_female`, `${list}_total`]);
    const text = [
      'election_year INTEGER, election_type VARCHAR, dapil_id INTEGER, dapil_name VARCHAR, province VARCHAR, regency VARCHAR',
      ...[...counts, 'male_total', 'female_total', 'grand_total'].map((name) => `${name} INTEGER`),
      'is_consistent BOOLEAN',
    ].join(', ');
    expect(described).toEqual([{ text }, { text }]);
    const names = await rows('SELECT table_name AS name FROM duckdb_tables() WHERE comment IS NOT NULL ORDER BY ALL');
    expect(names.map(({ name }) => name)).toEqual(tables.toSorted());
    const uncommented = (kind: string) =>
      rows(
        `SELECT * FROM duckdb_columns() c JOIN duckdb_${kind}s() r ON c.table_name = r.${kind}_name WHERE NOT r.internal AND (coalesce(c.comment, '') = '' OR coalesce(r.comment, '') = '')`,
      );
    expect(await uncommented('table')).toEqual([]);
    const comments = await rows(
      "SELECT column_name AS name, comment FROM duckdb_columns() WHERE table_name = 'voters'",
    );
    for (const [name, { field, comment }] of Object.entries(voters.columns)) {
      const found = String(comments.find((column) => column['name'] === name)?.['comment']);
      expect(found).toContain(field);
      expect(found).toContain(comment);
    }
  });

  it('are in a file that every DuckDB from 1.0 on can open', async () => {
    const { rows } = await loadWhole();
    expect(
      await rows(
        "SELECT tags['storage_version'] AS version FROM duckdb_databases() WHERE NOT internal AND path IS NOT NULL",
      ),
    ).toEqual([{ version: 'v1.0.0+' }]);
  });

  it('are sorted by the key', async () => {
    const keys = [
      ['2024', '1102', 'A', 'Z'],
      ['2024', '1101', 'B', 'A'],
      ['2019', '1103', 'A', 'A'],
      ['2024', '1101', 'A', 'B'],
      ['2024', '1101', 'A', 'A'],
    ];
    const data = keys.map(([year, id, province, regency]) =>
      voter({ election_year: year!, dapil_id: id!, province: province!, regency: regency! }),
    );
    const { rows } = await load({ voters: data.map((record) => [record]) });
    const found = await rows('SELECT election_year, dapil_id, province, regency FROM voters');
    expect(found.map((row) => Object.values(row).map(String))).toEqual(
      keys.toSorted((a, b) => (a.join() < b.join() ? -1 : 1)),
    );
  });

  it('have every view of the project with rows and a comment', async () => {
    const { rows } = await loadWhole();
    const names = allModels(wholeProject).map(({ name }) => name);
    for (const name of names) expect(await rows(`FROM ${name}`), name).not.toEqual([]);
    const views = await rows("SELECT view_name FROM duckdb_views() WHERE NOT internal AND coalesce(comment, '') <> ''");
    expect(new Set(views.map((view) => view['view_name']))).toEqual(new Set(names));
  });

  it('include snapshots_log with one row per dataset and snapshot', async () => {
    const first = await load({ voters: [[voter()]], voting_rights_users: [[user({ dpt_male: 'x' })]] });
    const { rows } = await load({ voters: [] }, { previous: first.file, snapshot: '20261121T030002Z-000001' });
    const log = await rows(
      'SELECT snapshot_id, dataset, row_count, grand_total, violation_count, source, published_at FROM snapshots_log',
    );
    const [one, two] = ['20261120T030002Z-000001', '20261121T030002Z-000001'];
    expect(log.map((row) => Object.values(row))).toEqual([
      [one, 'voters', 1n, 145_804n, 0n, 'sample', published],
      [one, 'voting_rights_users', 1n, 145_804n, 1n, 'sample', published],
      [two, 'voters', 0n, 0n, 0n, 'sample', published],
      [two, 'voting_rights_users', 0n, 0n, 0n, 'sample', published],
    ]);
  });
});

describe('violations and quarantine', () => {
  it('contain users above voters by sex and list', async () => {
    const above = { dpt_male: '70801', dpt_female: '72615', male_total: '72226', female_total: '73578' };
    const { rows, reports } = await load({
      voters: [[voter(), voter({ regency: 'B' })]],
      voting_rights_users: [
        [user(above), user({ regency: 'B', dptb_male: '443', dptb_female: '256', male_total: 'x' })],
      ],
    });
    expect(
      await rows(
        "SELECT regency, check_name, severity, column_name, expected, actual FROM violations WHERE dataset = 'voting_rights_users' AND check_name NOT LIKE '%sum' AND check_name <> 'malformed'",
      ),
    ).toMatchObject([
      { regency: 'ACEH BARAT', check_name: 'users_above_voters_all', severity: 'error', column_name: 'male_total' },
      { regency: 'ACEH BARAT', check_name: 'users_above_voters_dpt', expected: 'at most 70800', actual: '70801' },
      { regency: 'B', check_name: 'users_above_voters_dptb', severity: 'warning', expected: 'at most 442' },
    ]);
    expect(await rows('SELECT DISTINCT is_consistent FROM voters')).toEqual([{ is_consistent: true }]);
    expect(reports.get('voting_rights_users')!.violations).toContainEqual({
      check: 'users_above_voters_dptb',
      severity: 'warning',
      count: 1,
    });
  });

  it('mark a row inconsistent for an error across tables and for a conflicting record, not for a warning', async () => {
    const conflicting = voter({ regency: 'B', dpt_male: '1' });
    const above = user({ dpt_male: '70801', dpt_female: '72615', dpk_male: '982', dpk_female: '707' });
    const dptb = { regency: 'C', dptb_male: '0', dptb_female: '699', male_total: '71783', female_total: '74021' };
    const voterC = voter(dptb);
    const [list, all] = [
      { dpt_male: '70799', dpt_total: '143415' },
      { female_total: '74020', grand_total: '145803' },
    ];
    const aboveInDptb = user({ ...dptb, ...list, ...all, dptb_male: '1', dptb_female: '698' });
    const { rows, reports } = await load({
      voters: [[voter(), voter({ regency: 'B' }), conflicting, voterC, voter({ regency: 'D' }), 5]],
      voting_rights_users: [[above, user({ regency: 'B' }), aboveInDptb]],
    });
    expect(await rows('SELECT regency, is_consistent FROM voters')).toEqual([
      { regency: 'ACEH BARAT', is_consistent: true },
      { regency: 'B', is_consistent: false },
      { regency: 'C', is_consistent: true },
      { regency: 'D', is_consistent: true },
    ]);
    const users = await rows('SELECT regency, is_consistent FROM voting_rights_users');
    expect(users.map((row) => row['is_consistent'])).toEqual([false, true, true]);
    expect(
      await rows("SELECT dataset, regency, severity FROM violations WHERE check_name = 'regency_in_one_dataset'"),
    ).toEqual([{ dataset: 'voters', regency: 'D', severity: 'warning' }]);
    expect(await rows('SELECT dataset, reason, record FROM quarantine ORDER BY record')).toEqual([
      { dataset: 'voters', reason: 'not an object', record: '5' },
      {
        dataset: 'voters',
        reason: 'same key, other values',
        record: JSON.stringify(conflicting),
      },
    ]);
    expect(reports.get('voters')!.quarantine).toEqual([
      { reason: 'not an object', count: 1 },
      { reason: 'same key, other values', count: 1 },
    ]);
  });

  it('contain every row of a regency or partition with contradictory names', async () => {
    const moved = { regency: 'MOVED' };
    const accented = { dapil_id: '1102', regency: 'KOTA CAF\u00C9' };
    const respelled = voter({ dapil_id: '1102', regency: 'Kota  Cafe\u0301 ' });
    const { rows } = await load({
      voters: [
        [voter(), voter(moved), voter({ ...moved, dapil_id: '1102' })],
        // A place of the same name in another province is another place.
        [voter({ province: 'RIAU' }), voter(accented), respelled, voter({ dapil_id: '1102', regency: 'KOTA CAFE' })],
      ],
      voting_rights_users: [[user({ dapil_name: 'ACEH 1' }), user(accented)]],
    });
    const named = async (check: string) =>
      (
        await rows(
          `SELECT dataset, dapil_id, regency, actual FROM violations WHERE check_name = '${check}' AND severity = 'warning'`,
        )
      ).map((row) => Object.values(row));
    expect(await named('regency_in_two_districts')).toEqual(
      [1101, 1102].map((id) => ['voters', id, 'MOVED', '1101, 1102']),
    );
    const spellings = '"KOTA CAF\u00C9, ACEH" and "Kota  Cafe\u0301 , ACEH"';
    expect(await named('regency_names')).toEqual([
      ['voters', 1102, 'KOTA CAF\u00C9', spellings],
      ['voters', 1102, 'Kota  Cafe\u0301 ', spellings],
      ['voting_rights_users', 1102, 'KOTA CAF\u00C9', spellings],
    ]);
    expect((await named('district_names')).map(([, id, , actual]) => [id, actual])).toEqual([[1101, 'ACEH 1, ACEH I']]);
    expect(await rows('SELECT DISTINCT is_consistent FROM voters')).toEqual([{ is_consistent: true }]);
  });
});
