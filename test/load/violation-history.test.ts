/** Each violation knows since when it is there, and the log tells when it came and when it was resolved. */

import { describe, expect, it } from 'vitest';
import { load, type Row, user, voter } from './support.ts';

const [first, second, third] = ['20261120T030002Z-000001', '20261121T030002Z-000001', '20261122T030002Z-000001'];

/** Voters of regencies that all agree, but for those whose count of men is unreadable. */
function night(unreadable: Readonly<Record<string, string>>) {
  const regencies = ['A', 'B', 'C'];
  return {
    voters: [regencies.map((regency) => voter({ regency, ...mask(unreadable[regency]) }))],
    voting_rights_users: [regencies.map((regency) => user({ regency }))],
  };
}

const mask = (text: string | undefined) => (text === undefined ? {} : { dpt_male: text });

async function loadNights() {
  const one = await load(night({ A: 'x', B: 'x' }), { snapshot: first });
  const two = await load(night({ A: 'another text', C: 'x' }), { snapshot: second, previous: one.file });
  const three = await load(night({ B: 'x', C: 'x' }), { snapshot: third, previous: two.file });
  return { one, two, three };
}

const byRegency = (rows: readonly Row[]) => Object.fromEntries(rows.map(({ regency, ...row }) => [regency, row]));

describe('a violation', () => {
  it('keeps the snapshot that first had it, though its value is another', async () => {
    const { two, three } = await loadNights();
    const ages = "SELECT regency, first_snapshot FROM violations WHERE check_name = 'malformed' ORDER BY regency";
    expect(byRegency(await two.rows(ages))).toEqual({ A: { first_snapshot: first }, C: { first_snapshot: second } });
    expect(byRegency(await three.rows(ages))).toEqual({ B: { first_snapshot: third }, C: { first_snapshot: second } });
  });

  it('that comes back after it was resolved is new, and the log has both times', async () => {
    const { three } = await loadNights();
    const log = await three.rows(
      "SELECT regency, first_snapshot, resolved_snapshot FROM violations_log WHERE check_name = 'malformed' ORDER BY regency, first_snapshot",
    );
    expect(log).toEqual([
      { regency: 'A', first_snapshot: first, resolved_snapshot: third },
      { regency: 'B', first_snapshot: first, resolved_snapshot: second },
      { regency: 'B', first_snapshot: third, resolved_snapshot: null },
      { regency: 'C', first_snapshot: second, resolved_snapshot: null },
    ]);
  });

  it('is counted by its age, and new ones are the first examples', async () => {
    const { one, two } = await loadNights();
    // In a first snapshot there is nothing that a violation could be new to.
    expect(one.violationAges['error']).toEqual({ new: 0, resolved: 0, standing: 2 });
    expect(two.violationAges['error']).toEqual({ new: 1, resolved: 1, standing: 1 });
    const [malformed] = two.brokenChecks;
    expect(malformed).toMatchObject({ check: 'malformed', count: 2, new: 1 });
    expect(malformed!.examples.map(({ place, new: isNew }) => [place.split(',')[0], isNew])).toEqual([
      ['C', true],
      ['A', false],
    ]);
  });

  it('is as old as the snapshot before where that is of a release without ages', async () => {
    const { one } = await loadNights();
    const older = await load(night({ A: 'x', B: 'x' }), { snapshot: first });
    await older.change(
      'ALTER TABLE violations DROP first_snapshot; ALTER TABLE violations DROP since; DROP TABLE violations_log',
    );
    const next = await load(night({ A: 'x' }), { snapshot: second, previous: older.file });
    expect(await next.rows('SELECT first_snapshot, since FROM violations')).toEqual(
      await one.rows("SELECT first_snapshot, since FROM violations WHERE regency = 'A'"),
    );
    expect(next.violationAges['error']).toEqual({ new: 0, resolved: 1, standing: 1 });
  });
});
