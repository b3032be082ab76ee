/** The summary of a sync mentions everything that a reader of standard output must know, and nothing that wasn't requested. */

import { expect, it } from 'vitest';
import { renderSummary } from '../../../src/cli/print/sync-summary.ts';
import { parquetPath } from '../../../src/warehouse/snapshot-format.ts';
import type { SyncResult } from '../../../src/run-options.ts';
import { datasetOf, manifestOf, snapshotId, verdictOf } from '../../support/manifests.ts';
import { figuresOf, resultOf } from '../../support/sync-results.ts';
import { project } from '../../support/sync-settings.ts';

const never = datasetOf({ rows: 0, partitions: [] });

function summaryOf(differing: Partial<SyncResult> = {}, carried = 0): string {
  const partitions = [verdictOf({ partition: '1101', received: 2, pages: 3 })];
  const voters = datasetOf({ rows: 2 + carried, carried_over: carried, partitions });
  const files = ['voters', 'changes'].map((table) => ({ path: parquetPath(table), bytes: 1, rows: 1, sha256: '' }));
  const manifest = manifestOf({ datasets: { voters, voting_rights_users: never }, files });
  return renderSummary(resultOf(manifest, differing), project);
}

const replayed = { kind: 'replay', outcome: 'reproduced', run: 'a later run', snapshot: 'that one' } as const;
const source = `from the responses of run ${snapshotId}`;
const dryRun = { outcome: 'dry run', snapshot: null } as const;

it.each<[Partial<SyncResult>, string]>([
  [{ warnings: ['the list is short'] }, '\n1 warning, printed on standard error\n'],
  [{ warnings: ['one', 'two'] }, '\n2 warnings, printed on standard error\n'],
  [{ figures: figuresOf({ requests: 9, retries: 2 }) }, '\n9 requests (4 completeness checks, 2 retries), '],
  [{ figures: figuresOf({ requests: 5, retries: 2 }) }, '\n5 requests (2 retries), '],
  [{ figures: figuresOf({ requests: 9, throttled: 3, lowest_concurrency: 2 }) }, 'throttled 3 times to 2 concurrent'],
  [{ landing: null }, ' not stored (--keep-landing)\n'],
  [
    { ...replayed, equals: 'that one' },
    `Reproduced snapshot that one ${source}, with the same figures and 2 identical`,
  ],
  [replayed, 'was not compared'],
  [{ kind: 'replay', equals: 'that one' }, 'It equals snapshot that one'],
  [{ outcome: 'unchanged' }, 'No changes at '],
  [dryRun, 'Dry run: all data was fetched and checked'],
  [{ ...dryRun, kind: 'replay' }, 'Dry run: the replayed run was a dry run too'],
])('says of %j: %s', (result, text) => {
  expect(summaryOf(result)).toContain(text);
  expect(summaryOf()).not.toContain(text);
});

it('limits "no changes" to the requested data if rows are carried over', () => {
  expect(summaryOf({ outcome: 'unchanged' }, 5)).toMatch(/^No changes in the requested data at /);
});

it('has no row for a dataset that was never requested', () => {
  expect(summaryOf()).toMatch(/^voters /m);
  expect(summaryOf()).not.toMatch(/^voting_rights_users /m);
});

it('mentions neither published rows nor the violations table after a dry run', () => {
  const example = { partition: '1101', place: 'A', message: 'm', new: true };
  const broken_checks = [{ dataset: 'voters', check: 'c', severity: 'error', count: 2, new: 2, examples: [example] }];
  expect(summaryOf({ broken_checks })).toMatch(
    /rows are published and flagged\):[^]*and 1 more in the table violations/,
  );
  const dry = summaryOf({ broken_checks, outcome: 'dry run', snapshot: null });
  expect(dry).toMatch(/rows would be published and flagged\):[^]*and 1 more\n/);
  expect(dry).not.toContain('in the table violations');
});

it('counts changes at the source', () => {
  const voters = datasetOf({ changes: { changed: 1, added: 2, removed: 3 } });
  const manifest = manifestOf({ previous: 'that one', datasets: { voters } });
  expect(renderSummary(resultOf(manifest), project)).toMatch(
    /^Changes since snapshot that one .*"rekap diff"?.*\n  voters: 1 record changed, 2 added, 3 removed$/m,
  );
  expect(summaryOf()).not.toContain('Changes since');
});

it('counts the duplicates that no check mentions', () => {
  const ledger = { fetched: 5, published: 2, quarantined: 0, duplicates: 3 };
  const manifest = manifestOf({ datasets: { voters: datasetOf({ rows: 2, ledger }), voting_rights_users: never } });
  expect(renderSummary(resultOf(manifest), project)).toMatch(/^All checks pass\. .*3 records/m);
  expect(summaryOf()).toMatch(/^All checks pass\.$/m);
});
