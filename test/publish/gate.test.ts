/** The gate names every reason against publishing, and none where there is none. */

import { describe, expect, it } from 'vitest';
import { pipelines } from '../../pipelines/index.ts';
import { voters as votersPipeline } from '../../pipelines/voters.ts';
import type { Verdict } from '../../src/stages.ts';
import { countColumns } from '../../src/pipeline.ts';
import { checkGate, type GateQuestion } from '../../src/publish/gate.ts';
import type { Manifest, ManifestDataset } from '../../src/warehouse/snapshot-format.ts';
import { datasetOf, manifestOf, verdictOf } from '../support/manifests.ts';

function verdict(district: number | null, received: number): Verdict {
  return verdictOf({ district, listed: received, received });
}

/** Two districts with a thousand records, unless said otherwise. */
function dataset(overrides: Partial<ManifestDataset>): ManifestDataset {
  const districts = [verdict(1101, 400), verdict(1102, 600)];
  return datasetOf({ rows: 1000, districts, sums: { grand_total: '5000' }, ...overrides });
}

function manifest(voters: ManifestDataset): Manifest {
  return manifestOf({ datasets: { voters, voting_rights_users: dataset({}) } });
}

/** Asks the gate about a snapshot of voters, after a snapshot where `before` is given. */
function ask(now: Partial<ManifestDataset>, before: Partial<ManifestDataset> | null, more: Partial<GateQuestion> = {}) {
  return checkGate({
    pipelines,
    manifest: manifest(dataset(now)),
    previous: before === null ? null : manifest(dataset(before)),
    asked: ['voters', 'voting_rights_users'],
    shrunken: new Map(),
    errors: new Map(),
    strict: false,
    acceptChanges: false,
    ...more,
  });
}

const nothing = { refusals: [], strict: [], changes: [] };
/** Findings that hold one reason, about voters, that matches. */
const refusal = (reason: RegExp) => ({ ...nothing, refusals: [expect.stringMatching(reason)] });
const doubt = (reason: RegExp) => ({ ...nothing, strict: [expect.stringMatching(reason)] });
const change = (reason: RegExp) => ({ ...nothing, changes: [expect.stringMatching(reason)] });

describe('the gate', () => {
  it('lets a first snapshot and an unchanged one pass', () => {
    expect(ask({}, null)).toEqual(nothing);
    expect(ask({}, {})).toEqual(nothing);
  });

  it('lets more districts pass after a snapshot of those that were asked for alone, but no smaller sums', () => {
    const alone = { rows: 400, districts: [{ ...verdict(1101, 400), listed: null }] };
    expect(ask({ sums: { grand_total: '5000' } }, { ...alone, sums: { grand_total: '10' } })).toEqual(nothing);
    expect(ask({ sums: { grand_total: '10' } }, { ...alone, sums: { grand_total: '5000' } })).toEqual(
      change(/^voters: the sum of grand_total moved from 5,000 to 10 /),
    );
    // A list told of all that there were, or all were asked for: then so much more is a movement.
    for (const before of [verdict(1101, 400), { ...verdict(1101, 400), listed: null }, verdict(1102, 0)])
      expect(
        ask(
          { sums: { grand_total: '5000' } },
          { rows: 400, districts: [before, { ...verdict(1102, 0), listed: null }], sums: { grand_total: '10' } },
        ),
      ).toEqual(change(/^voters: the sum of grand_total moved from 10 to 5,000 /));
  });

  it('refuses a ledger that does not balance, whoever accepts changes', () => {
    const lost = { fetched: 1001, published: 1000, quarantined: 0, duplicates: 0 };
    expect(ask({ ledger: lost }, null, { acceptChanges: true })).toEqual(
      refusal(/^voters: .*1,001 fetched.*1,000 published/),
    );
    const whole = { fetched: 1003, published: 1000, quarantined: 1, duplicates: 2 };
    expect(ask({ ledger: whole }, null)).toEqual(nothing);
  });

  it('refuses rows that are neither published nor carried over', () => {
    const ledger = { fetched: 900, published: 900, quarantined: 0, duplicates: 0 };
    expect(ask({ ledger, carried_over: 99 }, null)).toEqual(
      refusal(/^voters: the ledger does not balance: 1,000 rows/),
    );
    expect(ask({ ledger, carried_over: 100 }, null)).toEqual(nothing);
  });

  it('refuses an empty dataset that was asked for, even if changes are accepted', () => {
    expect(ask({ rows: 0, sums: {} }, null, { acceptChanges: true })).toEqual(refusal(/^voters is empty/));
    expect(ask({ rows: 0, sums: {} }, null, { asked: ['voting_rights_users'] })).toEqual(nothing);
  });

  it('refuses a dataset in which no count can be read, and no other', () => {
    const allNull = Object.fromEntries(countColumns(votersPipeline).map((name) => [name, 1000]));
    expect(ask({ nulls: allNull }, null, { acceptChanges: true })).toEqual(refusal(/^voters holds no figure: .*1,000/));
    expect(ask({ nulls: { ...allNull, grand_total: 999 } }, null)).toEqual(nothing);
    expect(ask({ nulls: allNull }, null, { asked: ['voting_rights_users'] })).toEqual(nothing);
  });

  it('names districts that had records before and have none now', () => {
    const only = (...districts: Verdict[]) => ({ districts });
    expect(ask(only(verdict(1101, 1000)), {})).toEqual(change(/^voters: district 1102 .* has none now$/));
    expect(ask(only(verdict(1101, 1000), verdict(1102, 0)), {})).toEqual(change(/district 1102 /));
    expect(ask(only(verdict(1103, 1)), {})).toEqual(change(/^voters: districts 1101, 1102 .* have none now$/));
    expect(ask({}, only(verdict(1101, 400), verdict(1103, 1)))).toEqual(change(/district 1103 .* has none now$/));
    expect(ask({}, only(verdict(1101, 400), verdict(1109, 0), verdict(null, 3)))).toEqual(nothing);
    expect(ask(only(verdict(1101, 1), verdict(1102, 1), verdict(1103, 1)), {})).toEqual(nothing);
  });

  it('names districts that lost most of their rows, too few to show among those of the nation', () => {
    const shrunken = (...found: { district: number; before: number; now: number }[]) => ({
      shrunken: new Map([['voters', found]]),
    });
    const one = shrunken({ district: 1102, before: 19, now: 1 });
    expect(ask({}, {}, one)).toEqual(change(/^voters: rows of district 1102 fell from 19 to 1 \(−94\.7 %\)$/));
    expect(ask({}, {}, { ...one, acceptChanges: true })).toEqual(nothing);
    // Half of them may go.
    expect(
      ask({}, {}, shrunken({ district: 1102, before: 19, now: 10 }, { district: 1103, before: 2, now: 1 })),
    ).toEqual(nothing);
    // Its records came, and are all in quarantine.
    expect(ask({}, {}, shrunken({ district: 1102, before: 19, now: 0 }))).toEqual(
      change(/^voters: district 1102 .* none now$/),
    );
    const many = Array.from({ length: 7 }, (_, index) => ({ district: 1101 + index, before: 10, now: 4 }));
    const { changes } = ask({}, {}, shrunken(...many));
    expect(changes).toHaveLength(6);
    expect(changes[5]).toBe('voters: rows of 2 more districts fell by more than 50 %');
  });

  it.each([
    [950, 1000, true],
    [949, 1000, false],
    [1000, 10, true],
    [19, 20, true],
    [18, 20, false],
  ])('of %i rows after %i lets pass: %s', (rows, before, passes) => {
    expect(ask({ rows }, { rows: before })).toEqual(passes ? nothing : change(/^voters: rows fell from /));
  });

  it.each([
    ['1100', '1000', true],
    ['1101', '1000', false],
    ['900', '1000', true],
    ['899', '1000', false],
    ['5', '0', true],
    ['0', '1', false],
    ['204000000', '170000000', false],
  ])('of a national total of %s after %s lets pass: %s', (total, before, passes) => {
    const found = ask({ sums: { grand_total: total } }, { sums: { grand_total: before } });
    expect(found).toEqual(passes ? nothing : change(/^voters: the sum of grand_total moved from /));
  });

  it('says in per cent how far a figure fell or rose', () => {
    const total = (people: string) => ({ sums: { grand_total: people } });
    expect(ask({ rows: 875 }, { rows: 1000 })).toEqual(change(/from 1,000 to 875 \(−12\.5 %\)$/));
    expect(ask(total('1500'), total('1000'))).toEqual(change(/from 1,000 to 1,500 \(\+50\.0 %\)$/));
    expect(ask(total('2'), total('1000'))).toEqual(change(/from 1,000 to 2 \(−99\.8 %\)$/));
  });

  it.each([
    ['a list that became 0 everywhere', 'dpt_total', 9700, 0, false],
    ['a sum that moved by a tenth', 'male_total', 5000, 4500, true],
    ['a sum that moved by more than a tenth', 'male_total', 5000, 4499, false],
    ['a sum that rose by more than a tenth', 'male_total', 4000, 4401, false],
    ['a small list that moved by no more than a hundredth of the total', 'dptb_total', 100, 0, true],
    ['a small list that moved by more than that', 'dptb_total', 101, 0, false],
    ['a list that was 0 and is small', 'dptb_total', 0, 100, true],
  ])('watches %s: %s of %i that is %i now', (_what, name, before, now, passes) => {
    const sums = (people: number) => ({ sums: { grand_total: '10000', [name]: String(people) } });
    const found = ask(sums(now), sums(before));
    expect(found).toEqual(passes ? nothing : change(new RegExp(`^voters: the sum of ${name} moved from .* %\\)$`)));
  });

  it('says without a share in per cent that a sum was 0 before', () => {
    const sums = (people: string) => ({ sums: { grand_total: '10000', dpt_male: people } });
    expect(ask(sums('5000'), sums('0'))).toEqual(change(/^voters: the sum of dpt_male moved from 0 to 5,000$/));
  });

  it('watches no sum that the snapshot before did not have, and none where all of them were 0', () => {
    const sums = { grand_total: '10000', male_total: '5000' };
    expect(ask({ sums }, { sums: { grand_total: '10000' } })).toEqual(nothing);
    expect(ask({ sums }, { sums: { grand_total: '0', male_total: '0' } })).toEqual(nothing);
  });

  it('names the total first, then a handful of other sums, and counts the rest', () => {
    const names = countColumns(pipelines[0]!);
    const sums = (people: string) => ({ sums: Object.fromEntries(names.map((name) => [name, people])) });
    const { changes } = ask(sums('1'), sums('1000'));
    expect(changes).toHaveLength(6);
    expect(changes[0]).toMatch(/^voters: the sum of grand_total moved /);
    expect(changes[1]).toMatch(/^voters: the sum of dpt_male moved /);
    expect(changes[5]).toBe(`voters: ${names.length - 5} other sums moved by more than 10 %`);
  });

  it('refuses a run that brought nothing, though what was carried over fills the tables', () => {
    const nothingCame = { carried_over: 1000, ledger: { fetched: 0, published: 0, quarantined: 0, duplicates: 0 } };
    const asked = ['voters'];
    const found = ask(nothingCame, {}, { asked });
    expect(found).toEqual(change(/no record of anything that was asked for/));
    expect(ask(nothingCame, {}, { asked, acceptChanges: true })).toEqual(nothing);
    const allUnusable = { ...nothingCame, ledger: { ...nothingCame.ledger, fetched: 15, quarantined: 15 } };
    expect(ask(allUnusable, {}, { asked })).toEqual(change(/can be used; they are all in quarantine$/));
    // The other dataset may have the district.
    expect(ask(nothingCame, {})).toEqual(nothing);
  });

  it('takes every change where changes are accepted', () => {
    const now = { rows: 1, districts: [], sums: { grand_total: '1' } };
    expect(ask(now, {}).changes).toHaveLength(3);
    expect(ask(now, {}, { acceptChanges: true })).toEqual(nothing);
  });

  it('refuses errors and quarantine where it is strict, and only there', () => {
    const ledger = { fetched: 1002, published: 1000, quarantined: 2, duplicates: 0 };
    const errors = new Map([['voters', new Map([['grand_total_sum', 7]])]]);
    expect(ask({ ledger, quarantined: 2 }, null, { errors })).toEqual(nothing);
    expect(ask({}, null, { errors, strict: true, acceptChanges: true })).toEqual(doubt(/^voters: 7 violations /));
    const one = new Map([['voters', new Map([['grand_total_sum', 1]])]]);
    expect(ask({}, null, { errors: one, strict: true })).toEqual(doubt(/^voters: 1 violation /));
    expect(ask({ ledger, quarantined: 2 }, null, { strict: true })).toEqual(doubt(/^voters: 2 records in quarantine/));
    // What was carried over is in quarantine too, though this run brought none of it.
    expect(ask({ quarantined: 1 }, null, { strict: true })).toEqual(doubt(/^voters: 1 record in quarantine/));
    expect(ask({}, null, { strict: true })).toEqual(nothing);
  });

  it('names the checks of severity error alone, so that they add up to the sum', () => {
    const violations = { dpt_sexes_sum: 3, malformed: 1200, regency_in_one_dataset: 12 };
    const broken = new Map([['dpt_sexes_sum', 3] as const, ['malformed', 1200] as const]);
    const found = ask({ violations }, null, { errors: new Map([['voters', broken]]), strict: true });
    expect(found.strict).toEqual([
      'voters: 1,203 violations of severity error (--strict); by check: dpt_sexes_sum 3, malformed 1,200',
    ]);
  });

  it('names the reasons of every dataset', () => {
    const wrong = dataset({ rows: 0, sums: {} });
    const both = { ...manifest(wrong), datasets: { voters: wrong, voting_rights_users: wrong } };
    expect(ask({}, null, { manifest: both }).refusals).toEqual([
      expect.stringMatching(/^voters is empty/),
      expect.stringMatching(/^voting_rights_users is empty/),
    ]);
  });
});
