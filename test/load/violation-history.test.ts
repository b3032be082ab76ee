/** Each violation has the snapshot that first had it, and the log lists when it appeared and when it was resolved. */

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { load, loadOnce, user, voter } from './support.ts';

const [first, second, third] = ['20261120T030002Z-000001', '20261121T030002Z-000001', '20261122T030002Z-000001'];

/** Consistent voters of three regencies, except those whose count of men is unreadable. */
function night(unreadable: Readonly<Record<string, string>>) {
  const regencies = ['A', 'B', 'C'];
  const textOf = (regency: string) => (unreadable[regency] === undefined ? {} : { dpt_male: unreadable[regency] });
  return {
    voters: [regencies.map((regency) => voter({ regency, ...textOf(regency) }))],
    voting_rights_users: [regencies.map((regency) => user({ regency }))],
  };
}

const loadNights = loadOnce(async (root) => {
  const loadNight = (name: string, unreadable: Readonly<Record<string, string>>, snapshot: string, previous?: string) =>
    load(night(unreadable), { snapshot, folder: join(root, name), ...(previous === undefined ? {} : { previous }) });
  const one = await loadNight('one', { A: 'x', B: 'x' }, first);
  const two = await loadNight('two', { A: 'another text', C: 'x' }, second, one.file);
  const three = await loadNight('three', { B: 'x', C: 'x' }, third, two.file);
  return { one, two, three };
});

describe('a violation', () => {
  it('keeps the snapshot that first had it, even if its value changes', async () => {
    const { two, three } = await loadNights();
    const ages = "SELECT regency, first_snapshot FROM violations WHERE check_name = 'malformed' ORDER BY regency";
    expect((await two.rows(ages)).map((row) => Object.values(row))).toEqual([
      ['A', first],
      ['C', second],
    ]);
    expect((await three.rows(ages)).map((row) => Object.values(row))).toEqual([
      ['B', third],
      ['C', second],
    ]);
  });

  it('is new if it returns after it was resolved, and the log has both times', async () => {
    const { three } = await loadNights();
    const log = await three.rows(
      "SELECT regency, first_snapshot, resolved_snapshot FROM violations_log WHERE check_name = 'malformed' ORDER BY regency, first_snapshot",
    );
    expect(log.map((row) => Object.values(row))).toEqual([
      ['A', first, third],
      ['B', first, second],
      ['B', third, null],
      ['C', second, null],
    ]);
  });

  it('is counted by its age, and new ones are the first examples', async () => {
    const { one, two } = await loadNights();
    // In a first snapshot, no violation is new.
    expect(one.violationAges['error']).toEqual({ new: 0, resolved: 0, standing: 2 });
    expect(two.violationAges['error']).toEqual({ new: 1, resolved: 1, standing: 1 });
    const [malformed] = two.brokenChecks;
    expect(malformed).toMatchObject({ check: 'malformed', count: 2, new: 1 });
    expect(malformed!.examples.map(({ place, new: isNew }) => [place.split(',')[0], isNew])).toEqual([
      ['C', true],
      ['A', false],
    ]);
  });
});
