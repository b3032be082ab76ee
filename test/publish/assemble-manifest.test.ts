/** A manifest's account of a dataset: what was fetched now, what was carried over, and one verdict per district. */

import { expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import { assembleDataset, type DatasetFacts } from '../../src/publish/manifest.ts';
import type { Verdict } from '../../src/stages.ts';
import { datasetOf, manifestOf, verdictOf } from '../support/manifests.ts';

const verdict = (district: number | null, read_at: string): Verdict => verdictOf({ district, read_at });
const facts: DatasetFacts = {
  pipeline: voters,
  totals: {
    ledger: { fetched: 5, published: 3, quarantined: 1, duplicates: 1 },
    sums: { dpt_male: 2n ** 40n },
    nulls: { dpt_male: 2 },
  },
  verdicts: [verdict(1102, 'now'), verdict(1101, 'now')],
  replaced: null,
  carried: { rows: 0, sums: {}, nulls: {} },
  quarantine: [{ count: 1 }],
  changes: { added: 1, removed: 2, changed: 3 },
  violations: [],
  schema: [['dapil_id', 'INTEGER']],
};
const before = manifestOf({
  datasets: {
    voters: datasetOf({ districts: [verdict(null, 'before'), verdict(1101, 'before'), verdict(1103, 'before')] }),
  },
});
const said = ({ districts }: { districts: readonly Verdict[] }) =>
  districts.map(({ district, read_at }) => [district, read_at]);

it('adds what was carried over to what was fetched, count by count', () => {
  const carried = { rows: 4, sums: { dpt_male: 1n, dpt_female: 7n }, nulls: { dpt_male: 1, dpt_female: 3 } };
  const dataset = assembleDataset({ ...facts, carried }, null);
  expect(dataset).toMatchObject({ ledger: facts.totals!.ledger, rows: 7, carried_over: 4, quarantined: 1 });
  expect(dataset.sums).toMatchObject({ dpt_male: '1099511627777', dpt_female: '7', dpt_total: '0' });
  expect(dataset.nulls).toMatchObject({ dpt_male: 3, dpt_female: 3, dpt_total: 0 });
  const counts = Object.entries(voters.columns).filter(([, { kind }]) => kind === 'count');
  expect(Object.keys(dataset.sums)).toEqual(counts.map(([name]) => name));
});

it('has an empty ledger for a dataset that the run did not ask for', () => {
  const carried = { rows: 4, sums: { dpt_male: 9n }, nulls: {} };
  const dataset = assembleDataset({ ...facts, totals: null, verdicts: [], replaced: [], carried }, before);
  expect(dataset.ledger).toEqual({ fetched: 0, published: 0, quarantined: 0, duplicates: 0 });
  expect(dataset).toMatchObject({ rows: 4, carried_over: 4, sums: { dpt_male: '9' } });
  expect(said(dataset)).toEqual([
    [null, 'before'],
    [1101, 'before'],
    [1103, 'before'],
  ]);
});

it('keeps the verdicts of districts that were not read anew, in their order', () => {
  expect(said(assembleDataset(facts, before))).toEqual([
    [1101, 'now'],
    [1102, 'now'],
  ]);
  expect(said(assembleDataset({ ...facts, replaced: [1101, 1102] }, before))).toEqual([
    [null, 'before'],
    [1101, 'now'],
    [1102, 'now'],
    [1103, 'before'],
  ]);
  const nought = { ...facts, verdicts: [verdict(0, 'now'), verdict(1, 'now')], replaced: [0, 1] };
  expect(said(assembleDataset(nought, before))[0]).toEqual([null, 'before']);
});

it('counts violations by their check', () => {
  const violations = ['malformed', 'null', 'malformed'].map((check, count) => ({ check, count: count + 1 }));
  expect(assembleDataset({ ...facts, violations }, null).violations).toEqual({ malformed: 4, null: 2 });
});

it('has another fingerprint for other columns, types or orders', () => {
  const schemas: DatasetFacts['schema'][] = [
    [['a', 'INTEGER']],
    [['b', 'INTEGER']],
    [['a', 'VARCHAR']],
    [
      ['a', 'INTEGER'],
      ['b', 'INTEGER'],
    ],
    [
      ['b', 'INTEGER'],
      ['a', 'INTEGER'],
    ],
  ];
  const prints = schemas.map((schema) => assembleDataset({ ...facts, schema }, null).schema_fingerprint);
  expect(new Set(prints).size).toBe(schemas.length);
  expect(assembleDataset({ ...facts, schema: schemas[0]! }, before).schema_fingerprint).toBe(prints[0]);
});
