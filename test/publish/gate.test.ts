/** The gate names every reason against publishing, and no other. */

import { describe, expect, it } from 'vitest';
import { pipelines } from '../support/bundled.ts';
import { summedColumns } from '../../src/project/declaration.ts';
import type { BrokenCheck } from '../../src/load/load-report.ts';
import { checkGate, type GateFindings, type GateInput } from '../../src/publish/gate.ts';
import type { Manifest, ManifestDataset } from '../../src/warehouse/snapshot-format.ts';
import { datasetOf, manifestOf, verdictOf } from '../support/manifests.ts';

type Dataset = Partial<ManifestDataset>;

const verdict = (partition: string | null, received: number, listed: number | null = received) =>
  verdictOf({ partition, listed, received });

/** Two partitions with a thousand records, unless said otherwise. */
const dataset = (overrides: Dataset): ManifestDataset =>
  datasetOf({
    rows: 1000,
    partitions: [verdict('1101', 400), verdict('1102', 600)],
    sums: { grand_total: '5000' },
    ...overrides,
  });

const manifest = (voters: Dataset, users: Dataset = {}): Manifest =>
  manifestOf({ datasets: { voters: dataset(voters), voting_rights_users: dataset(users) } });

/** Checks a snapshot of voters, after a previous one if `before` isn't null. */
const check = (now: Dataset, before: Dataset | null, more: Partial<GateInput> = {}): GateFindings =>
  checkGate({
    pipelines,
    checks: [],
    manifest: manifest(now),
    previous: before === null ? null : manifest(before),
    requested: ['voters', 'voting_rights_users'],
    reports: new Map(),
    brokenChecks: [],
    requireProof: null,
    strict: false,
    refuse: null,
    acceptChanges: false,
    refused: {},
    ...more,
  });

const nothing: GateFindings = { refusals: [], strict: [], changes: [] };
/** A finding of one kind that is one reason, about voters; none where it is null. */
const only = (kind: keyof GateFindings, reason: RegExp | null) =>
  reason === null ? nothing : { ...nothing, [kind]: [expect.stringMatching(new RegExp(`^voters.*${reason.source}`))] };

const sums = (total: string, more: Record<string, string> = {}) => ({ sums: { grand_total: total, ...more } });
const partitions = (...found: ReturnType<typeof verdict>[]): Dataset => ({ partitions: found });
const shrunken = (...found: { partition: string; before: number; now: number }[]) => ({
  reports: new Map([['voters', { shrunken: found, quarantine: [] }]]),
});
/** A failed check of voters, of severity error, with one example. */
const broken = (name: string, count: number, fresh = 0, message = ''): BrokenCheck => ({
  dataset: 'voters',
  check: name,
  severity: 'error',
  count,
  new: fresh,
  examples: message === '' ? [] : [{ partition: '1101', place: 'ACEH BARAT', message, new: fresh > 0 }],
});
const malformed = 'grand_total (JumlahSeluruhPemilih) is "12.0", which is not a whole number';
const ledger = (fetched: number, published: number, quarantined = 0, duplicates = 0) => ({
  fetched,
  published,
  quarantined,
  duplicates,
});
const quarantining = (...quarantine: { reason: string; count: number }[]) =>
  new Map([['voters', { shrunken: [], quarantine }]]);
const allNull = Object.fromEntries(summedColumns(pipelines[0]!).map((name) => [name, 1000]));

describe('the gate refuses, even with --accept-changes', () => {
  it.each<[string, Dataset, Partial<GateInput>, RegExp | null]>([
    ['no first snapshot as such', {}, {}, null],
    ['a ledger that does not balance', { ledger: ledger(1001, 1000) }, {}, /1,001 fetched.*1,000 published/],
    ['no ledger with quarantine and duplicates', { ledger: ledger(1003, 1000, 1, 2) }, {}, null],
    ['rows from nowhere', { ledger: ledger(900, 900), carried_over: 99 }, {}, /does not balance: 1,000 rows/],
    ['an empty dataset', { rows: 0, sums: {} }, {}, / is empty/],
    ['a dataset in which no count can be read', { nulls: allNull }, {}, / does not contain figures: .*1,000/],
    [
      'an empty dataset, with the reason for quarantine',
      { rows: 0, sums: {} },
      {
        reports: quarantining({ reason: 'IdDapil is null', count: 3 }, { reason: 'not an object', count: 1 }),
      },
      / is empty: .* \(4 records in quarantine, 3 because IdDapil is null\)/,
    ],
    ['none in which one can', { nulls: { ...allNull, grand_total: 999 } }, {}, null],
  ])('%s', (_, now, more, reason) => {
    expect(check(now, null, { acceptChanges: true, ...more })).toEqual(only('refusals', reason));
  });
});

describe('the gate refuses with --strict, and only then', () => {
  const errors = (...counts: [string, number][]) => ({
    brokenChecks: counts.map(([name, count]) => broken(name, count)),
  });

  it.each<[string, Dataset, Partial<GateInput>, RegExp | null]>([
    ['nothing', {}, {}, null],
    ['errors', {}, errors(['a', 3], ['b', 1200]), /: 1,203 violations of severity error .*: a 3, b 1,200$/],
    ['quarantine', { ledger: ledger(1002, 1000, 2), quarantined: 2 }, {}, /: 2 records in quarantine/],
    ['quarantine that was carried over', { quarantined: 1 }, {}, /: 1 record in quarantine/],
  ])('%s', (_, now, more, reason) => {
    expect(check(now, null, { ...more, strict: true, acceptChanges: true })).toEqual(only('strict', reason));
    expect(check(now, null, more)).toEqual(nothing);
  });
});

describe('the gate refuses new violations of a check that says so', () => {
  const checks = [{ name: 'a', sql: '', comment: '', columns: {}, refuse: 'new' as const }];

  it.each<[string, BrokenCheck, RegExp | null]>([
    ['none that stand', broken('a', 7), null],
    ['none of another check', broken('b', 7, 2), null],
    ['new ones', broken('a', 7, 2), /: 2 new violations of a/],
  ])('%s', (_, found, reason) => {
    const more = { checks, brokenChecks: [found] };
    expect(check({}, {}, more)).toEqual(only('changes', reason));
    expect(check({}, {}, { ...more, acceptChanges: true })).toEqual(nothing);
    expect(check({}, null, more)).toEqual(nothing);
  });
});

describe('the gate refuses new errors with --refuse', () => {
  const standing = { brokenChecks: [broken('a', 7)] };

  it.each<[string, Dataset, Partial<GateInput>, RegExp | null]>([
    ['not those that stand', { quarantined: 1 }, standing, null],
    [
      'new ones, whoever accepts changes',
      { quarantined: 1 },
      { brokenChecks: [broken('a', 7), broken('b', 9, 2, malformed)] },
      /: 2 new .*: b 2; for example, 1101, ACEH BARAT: grand_total .* is "12\.0"/,
    ],
    ['more in quarantine', { quarantined: 3 }, {}, /: 2 records more in quarantine/],
  ])('%s', (_, now, more, reason) => {
    const accepted = { ...more, acceptChanges: true };
    const before = { quarantined: 1 };
    expect(check(now, before, { ...accepted, refuse: 'new-errors' })).toEqual(only('strict', reason));
    expect(check(now, before, accepted)).toEqual(nothing);
    expect(check(now, null, { ...accepted, refuse: 'new-errors' })).toEqual(nothing);
  });
});

describe('the gate requires --accept-changes', () => {
  const alone = { rows: 400, partitions: [verdict('1101', 400, null)] };
  const carriedOnly = { carried_over: 1000, ledger: ledger(0, 0) };
  const onlyVoters = { requested: ['voters'] };

  it('if most records of a first snapshot are in quarantine', () => {
    const of = (count: number) => ({ ledger: ledger(1000, 1000 - count, count), rows: 1000 - count });
    const found = (count: number) => ({ reports: quarantining({ reason: 'id is not a whole number', count }) });
    expect(check(of(501), null, found(501))).toEqual(
      only('changes', /most of 1,000 records can't be used .*because id is not a whole number/),
    );
    expect(check(of(500), null, found(500))).toEqual(nothing);
  });

  it('if many records of a first snapshot have the key of another one', () => {
    const repeated = (count: number) => ({ reports: quarantining({ reason: 'same key, other values', count }) });
    const of = (count: number) => ({ ledger: ledger(1000, 1000 - count, count), rows: 1000 - count });
    expect(check(of(101), null, repeated(101))).toEqual(
      only('changes', /101 records of 1,000 have the key of another/),
    );
    expect(check(of(100), null, repeated(100))).toEqual(nothing);
    expect(check(of(101), null, { ...repeated(101), acceptChanges: true })).toEqual(nothing);
  });

  it('if a dataset of the previous snapshot is missing', () => {
    const datasets = { voters: dataset({}) };
    const shorter = { manifest: manifestOf({ datasets }), requested: ['voters'] };
    expect(check({}, {}, shorter).changes).toEqual([
      expect.stringMatching(/^voting_rights_users: .* 1,000 rows .*dataset-gone/),
    ]);
    expect(check({}, {}, { ...shorter, acceptChanges: true })).toEqual(nothing);
    expect(check({}, null, shorter)).toEqual(nothing);
  });

  it.each<[string, Dataset, Dataset, Partial<GateInput>, RegExp | null]>([
    ['not for the same again', {}, {}, {}, null],
    ['for a partition that is gone', partitions(verdict('1101', 1000)), {}, {}, /: partition 1102 has no records now/],
    ['for one of few rows', {}, partitions(verdict('1101', 400), verdict('1103', 1)), {}, /1103 has no records now/],
    ['not for one that had none', {}, partitions(verdict('1101', 400), verdict('1109', 0), verdict(null, 3)), {}, null],
    ['not for a new one', partitions(verdict('1101', 1), verdict('1102', 1), verdict('1103', 1)), {}, {}, null],
    [
      'for a partition that lost most of its rows',
      {},
      {},
      shrunken({ partition: '1102', before: 19, now: 1 }),
      /: rows of partition 1102 fell from 19 to 1 \(−94\.7 %\)$/,
    ],
    ['not for one that lost half', {}, {}, shrunken({ partition: '1103', before: 2, now: 1 }), null],
    [
      'for one all in quarantine',
      {},
      {},
      shrunken({ partition: '1102', before: 19, now: 0 }),
      /1102 has no records now/,
    ],
    ['not for 5 % fewer rows', { rows: 950 }, {}, {}, null],
    ['for 5.1 % fewer rows', { rows: 949 }, {}, {}, /: rows fell from 1,000 to 949 \(−5\.1 %\)$/],
    ['not for a total that rose by 10 %', sums('1100'), sums('1000'), {}, null],
    ['for one that rose by more', sums('1101'), sums('1000'), {}, /the sum of grand_total changed from 1,000 to 1,101/],
    ['not for one that fell by 10 %', sums('900'), sums('1000'), {}, null],
    ['for one that fell by more', sums('899'), sums('1000'), {}, /grand_total changed from 1,000 to 899 \(−10\.1 %\)$/],
    [
      'for one that fell, because a value is malformed',
      sums('899'),
      sums('1000'),
      { brokenChecks: [broken('other', 9, 9, 'regency (x) is 1, which…'), broken('malformed', 9, 9, malformed)] },
      /\(−10\.1 %\); for example, 1101, ACEH BARAT: grand_total .* is "12\.0"/,
    ],
    ['for one that became 0', sums('0'), sums('1'), {}, /grand_total changed from 1 to 0/],
    [
      'for a list that became 0 everywhere',
      sums('10000', { dpt_total: '0' }),
      sums('10000', { dpt_total: '9700' }),
      {},
      /the sum of dpt_total changed from 9,700 to 0 /,
    ],
    [
      'not for a small list that moved by 1 % of the total',
      sums('10000', { dptb_total: '0' }),
      sums('10000', { dptb_total: '100' }),
      {},
      null,
    ],
    [
      'for one that moved by more',
      sums('10000', { dptb_total: '0' }),
      sums('10000', { dptb_total: '101' }),
      {},
      /dptb_total changed/,
    ],
    ['not for a sum that there was not', sums('10000', { male_total: '5000' }), sums('10000'), {}, null],
    ['not for more partitions after some that were requested alone', {}, { ...alone, ...sums('10') }, {}, null],
    [
      'for larger ones where all were requested',
      {},
      { rows: 400, partitions: [verdict('1101', 400, null), verdict('1102', 0, null)], ...sums('10') },
      {},
      /changed from 10 to 5,000 /,
    ],
    ['not where another dataset may have the partition', carriedOnly, {}, {}, null],
  ])('%s', (_, now, before, more, reason) => {
    expect(check(now, before, more)).toEqual(only('changes', reason));
    expect(check(now, before, { ...more, acceptChanges: true })).toEqual(nothing);
  });

  it.each([
    ['nothing came', carriedOnly, 'does not have records of the requested'],
    ['all that came is in quarantine', { ...carriedOnly, ledger: ledger(15, 0, 15) }, 'are in quarantine'],
  ])('if %s, although the tables have carried-over rows', (_, now, words) => {
    expect(check(now, {}, onlyVoters)).toEqual({ ...nothing, changes: [expect.stringContaining(words)] });
    expect(check(now, {}, { ...onlyVoters, acceptChanges: true })).toEqual(nothing);
  });

  it('with five sums and partitions by name, and a count of the rest', () => {
    const names = summedColumns(pipelines[0]!);
    const all = (people: string) => ({ sums: Object.fromEntries(names.map((name) => [name, people])) });
    const moved = check(all('1'), all('1000')).changes;
    expect(moved).toHaveLength(6);
    expect(moved[0]).toMatch(/sum of grand_total/);
    expect(moved[5]).toContain(`${names.length - 5} other sums`);
    const many = Array.from({ length: 7 }, (_, index) => ({ partition: String(1101 + index), before: 10, now: 4 }));
    const fell = check({}, {}, shrunken(...many)).changes;
    expect(fell).toHaveLength(6);
    expect(fell[5]).toContain('2 more partitions');
  });
});
