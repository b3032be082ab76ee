/** Batches become tables, views, violations and quarantine in DuckDB: typed, described and sorted. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { allTables } from '../../src/load/tables.ts';
import { allModels } from '../../src/load/schema.ts';
import { load, project, published, user, voter } from './support.ts';

const tables = allTables(project.pipelines).map(({ name }) => name);

describe('the tables', () => {
  it('have the columns and types that others rely on, and a comment each', async () => {
    const { rows } = await load({ voters: [[voter()]], voting_rights_users: [[user()]] });
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
    const names = await rows(
      "SELECT table_name AS name FROM duckdb_tables() WHERE coalesce(comment, '') <> '' ORDER BY ALL",
    );
    expect(names.map(({ name }) => name)).toEqual(tables.toSorted());
    expect(await rows("SELECT table_name FROM duckdb_tables() WHERE coalesce(comment, '') = ''")).toEqual([]);
    expect(
      await rows(
        "SELECT table_name, column_name FROM duckdb_columns() JOIN duckdb_tables() USING (table_name) WHERE NOT duckdb_columns.internal AND coalesce(duckdb_columns.comment, '') = ''",
      ),
    ).toEqual([]);
    const comments = await rows(
      "SELECT column_name AS name, comment FROM duckdb_columns() WHERE table_name = 'voters'",
    );
    for (const [name, { field, comment }] of Object.entries(voters.columns)) {
      const found = String(comments.find((column) => column['name'] === name)?.['comment']);
      expect(found).toContain(field);
      expect(found).toContain(comment);
    }
  });

  it('lie in a file that every DuckDB from 1.0 on can open', async () => {
    const { rows } = await load({ voters: [[voter()]], voting_rights_users: [[user()]] });
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

  it('are what the views answer from', async () => {
    const { rows } = await load({
      voters: [[voter(), voter({ regency: 'B', grand_total: 'x' })]],
      voting_rights_users: [[user({ male_total: '36000' }), user({ regency: 'B' })]],
    });
    for (const { name } of allModels(project)) expect(await rows(`SELECT * FROM ${name}`), name).not.toEqual([]);
    const views = await rows("SELECT view_name FROM duckdb_views() WHERE NOT internal AND coalesce(comment, '') <> ''");
    expect(new Set(views.map((view) => view['view_name']))).toEqual(
      new Set(allModels(project).map(({ name }) => name)),
    );
  });

  it('may be read by a view of which no column is explained', async () => {
    const model = { name: 'plain', sql: 'SELECT 1 AS one', comment: "The model's comment.", columns: {} };
    const { rows } = await load({ voters: [[voter()]] }, { project: { ...project, models: [model], checks: [] } });
    expect(await rows('FROM plain')).toEqual([{ one: 1 }]);
    expect(await rows("SELECT comment FROM duckdb_views() WHERE view_name = 'plain'")).toEqual([
      { comment: model.comment },
    ]);
  });

  it('hold a line in snapshots_log for this snapshot and for those before', async () => {
    const first = await load({ voters: [[voter()]], voting_rights_users: [[user({ dpt_male: 'x' })]] });
    const { rows } = await load({ voters: [] }, { previous: first.file, snapshot: '20261121T030002Z-000001' });
    const log = await rows(
      'SELECT snapshot_id, dataset, row_count, grand_total, violation_count, source, published_at FROM snapshots_log',
    );
    const common = { source: 'sample', published_at: published };
    const [one, two] = ['20261120T030002Z-000001', '20261121T030002Z-000001'];
    expect(log).toEqual([
      { snapshot_id: one, dataset: 'voters', row_count: 1n, grand_total: 145_804n, violation_count: 0n, ...common },
      {
        snapshot_id: one,
        dataset: 'voting_rights_users',
        row_count: 1n,
        grand_total: 145_804n,
        violation_count: 1n,
        ...common,
      },
      { snapshot_id: two, dataset: 'voters', row_count: 0n, grand_total: 0n, violation_count: 0n, ...common },
      {
        snapshot_id: two,
        dataset: 'voting_rights_users',
        row_count: 0n,
        grand_total: 0n,
        violation_count: 0n,
        ...common,
      },
    ]);
  });
});

describe('violations and quarantine', () => {
  it('name users above voters by sex and list', async () => {
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
    ).toEqual([
      {
        regency: 'ACEH BARAT',
        check_name: 'users_above_voters_all',
        severity: 'error',
        column_name: 'male_total',
        expected: 'at most 72225',
        actual: '72226',
      },
      {
        regency: 'ACEH BARAT',
        check_name: 'users_above_voters_dpt',
        severity: 'error',
        column_name: 'dpt_male',
        expected: 'at most 70800',
        actual: '70801',
      },
      {
        regency: 'B',
        check_name: 'users_above_voters_dptb',
        severity: 'warning',
        column_name: 'dptb_male',
        expected: 'at most 442',
        actual: '443',
      },
    ]);
    expect(await rows('SELECT regency, is_consistent FROM voters')).toEqual([
      { regency: 'ACEH BARAT', is_consistent: true },
      { regency: 'B', is_consistent: true },
    ]);
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

  it('name a regency that stands in two partitions of one dataset, in both of its rows', async () => {
    const { rows } = await load({
      voters: [
        [voter(), voter({ dapil_id: '1102' }), voter({ regency: 'B' }), voter({ regency: 'B', province: 'RIAU' })],
      ],
      voting_rights_users: [[user(), user({ regency: 'B', dapil_id: '1102' })]],
    });
    const named =
      "SELECT dataset, dapil_id, regency, severity, actual FROM violations WHERE check_name = 'regency_in_two_districts'";
    const twice = { dataset: 'voters', regency: 'ACEH BARAT', severity: 'warning', actual: '1101, 1102' };
    expect(await rows(named)).toEqual([
      { ...twice, dapil_id: 1101 },
      { ...twice, dapil_id: 1102 },
    ]);
    expect(await rows('SELECT DISTINCT is_consistent FROM voters')).toEqual([{ is_consistent: true }]);
  });

  it('name a regency that is spelled in two ways within its partition, in both of its rows', async () => {
    const accented = { regency: 'KOTA CAF\u00C9' };
    const { rows } = await load({
      voters: [[voter(accented), voter({ regency: 'Kota  Cafe\u0301 ' }), voter({ regency: 'KOTA CAFE' })]],
      voting_rights_users: [[user(accented)]],
    });
    const named = "SELECT dataset, regency, severity, actual FROM violations WHERE check_name = 'regency_names'";
    const actual = '"KOTA CAF\u00C9, ACEH" and "Kota  Cafe\u0301 , ACEH"';
    const twice = { dataset: 'voters', severity: 'warning', actual };
    expect(await rows(named)).toEqual([
      { ...twice, regency: 'KOTA CAF\u00C9' },
      { ...twice, regency: 'Kota  Cafe\u0301 ' },
      { ...twice, dataset: 'voting_rights_users', regency: 'KOTA CAF\u00C9' },
    ]);
    // Another place of the same name in another partition, or province, is another place.
    const others = await load({
      voters: [[voter(), voter({ dapil_id: '1102' }), voter({ province: 'RIAU' })]],
      voting_rights_users: [],
    });
    expect(await others.rows(named)).toEqual([]);
  });

  it('name a partition that goes by several names over both datasets', async () => {
    const { rows } = await load({ voters: [[voter()]], voting_rights_users: [[user({ dapil_name: 'ACEH 1' })]] });
    expect(await rows("SELECT dapil_id, severity, actual FROM violations WHERE check_name = 'district_names'")).toEqual(
      [{ dapil_id: 1101, severity: 'warning', actual: 'ACEH 1, ACEH I' }],
    );
  });
});
