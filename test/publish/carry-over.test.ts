/** A partial sync keeps the verdicts on what it doesn't read. */

import { expect, it } from 'vitest';
import { isWholeDue, verdictsAfter } from '../../src/publish/carry-over.ts';
import type { Run } from '../../src/publish/run.ts';
import { datasetOf, manifestOf, snapshotId, verdictOf } from '../support/manifests.ts';

const verdict = (partition: string | null, read_at: string) => verdictOf({ partition, read_at });
const partitions = [verdict(null, 'before'), verdict('1101', 'before'), verdict('1103', 'before')];
const manifest = manifestOf({ datasets: { voters: datasetOf({ partitions }) } });

it.each([
  [null, ['1101', '1102'], ['1101 now', '1102 now']],
  [
    ['1101', '1102'],
    ['1102', '1101'],
    ['null before', '1101 now', '1102 now', '1103 before'],
  ],
  [['0'], ['0'], ['null before', '0 now', '1101 before', '1103 before']],
  [[], [], ['null before', '1101 before', '1103 before']],
])('of the partitions %j, read as %j, the verdicts are %j', (replaced, read, expected) => {
  const kept = new Map(replaced === null ? [] : [['voters', { outside: replaced }]]);
  const run = { id: snapshotId, previous: { id: snapshotId, folder: '', manifest } } as unknown as Run;
  const others = verdictOf({ dataset: 'voting_rights_users' });
  const found = verdictsAfter(run, kept, 'voters', [...read.map((id) => verdict(id, 'now')), others]);
  expect(found.map((each) => `${each.partition} ${each.read_at}`)).toEqual(expected);
});

const hour = 3_600_000;

it.each([
  ['a schedule that began a little early', 7 * 24 * hour - hour / 2, true],
  ['the night before', 6 * 24 * hour, false],
  ['a clock that went back', -hour, true],
])('after %s, the whole list is due: %s ms, %s', (_, age, expected) => {
  const whole_at = '2026-11-01T00:00:00.000Z';
  const before = datasetOf({ reading: { scope: 'whole', from: null, whole_at, runs: [] } });
  const incremental = { cursor: 'id', wholeEvery: 'P7D' };
  expect(isWholeDue(incremental, before, new Date(Date.parse(whole_at) + age))).toBe(expected);
});
