/** A partial sync keeps the verdicts on what it doesn't read. */

import { expect, it } from 'vitest';
import { verdictsAfter } from '../../src/publish/carry-over.ts';
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
