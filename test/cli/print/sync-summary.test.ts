/** The summary of a sync tells a reader of standard output alone what else there is to know, and nothing of what was not asked for. */

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

it('counts the warnings that stand elsewhere', () => {
  expect(summaryOf()).not.toMatch(/warning/);
  expect(summaryOf({ warnings: ['the list is short'] })).toContain('\n1 warning, printed on standard error\n');
  expect(summaryOf({ warnings: ['one', 'two'] })).toContain('\n2 warnings, printed on standard error\n');
});

it('says what the requests were for that brought no page of a partition', () => {
  expect(summaryOf({ figures: figuresOf({ requests: 9, retries: 2 }) })).toContain(
    '\n9 requests (4 completeness checks, 2 retries), ',
  );
  expect(summaryOf({ figures: figuresOf({ requests: 5, retries: 2 }) })).toContain('\n5 requests (2 retries), ');
});

it('has no row for a dataset that was never asked for', () => {
  expect(summaryOf()).toMatch(/^voters /m);
  expect(summaryOf()).not.toMatch(/^voting_rights_users /m);
});

it('names the folder of the answers, or says that they were not kept', () => {
  expect(summaryOf()).toMatch(/^Responses +l$/m);
  expect(summaryOf({ landing: null })).toMatch(/^Responses +not stored \(--keep-landing\)$/m);
});

it('says how far the source slowed the run down', () => {
  expect(summaryOf({ figures: figuresOf({ requests: 9 }) })).not.toContain('throttled');
  const figures = figuresOf({ requests: 9, retries: 2, throttled: 3, lowest_concurrency: 2 });
  expect(summaryOf({ figures })).toContain(' 2 retries), throttled 3 times to 2 concurrent requests, ');
});

it('says of a snapshot that was built again what gave it, and what it equals', () => {
  expect(summaryOf()).not.toContain('equals');
  const replayed = { kind: 'replay', outcome: 'reproduced', run: 'a later run', snapshot: 'that one' } as const;
  const answers = `from the responses of run ${snapshotId}, with`;
  expect(summaryOf({ ...replayed, equals: 'that one' })).toMatch(
    new RegExp(`^Reproduced snapshot that one ${answers} the same figures and 2 identical Parquet files`),
  );
  expect(summaryOf(replayed)).toMatch(
    /^Reproduced .*, with the same rows and figures\. Its history .* was not compared/,
  );
  expect(summaryOf({ kind: 'replay', equals: 'that one' })).toMatch(
    new RegExp(
      `^Published .* from the responses of run ${snapshotId}: .* It equals snapshot that one, with .* \\d+ identical`,
    ),
  );
});

it('says that nothing has changed only of what was asked for', () => {
  expect(summaryOf({ outcome: 'unchanged' })).toMatch(/^No changes at /);
  expect(summaryOf({ outcome: 'unchanged' }, 5)).toMatch(/^No changes in the requested data at /);
});

it('tells a dry run from the replay of one', () => {
  const dry = { outcome: 'dry run', snapshot: null } as const;
  expect(summaryOf(dry)).toMatch(/^Dry run: all data was fetched and checked/);
  expect(summaryOf({ ...dry, kind: 'replay' })).toMatch(/^Dry run: the replayed run was a dry run too/);
});

it('does not say of a dry run that rows are published, or that there is a table of violations', () => {
  const example = { partition: '1101', place: 'A', message: 'm', new: true };
  const broken_checks = [{ dataset: 'voters', check: 'c', severity: 'error', count: 2, new: 2, examples: [example] }];
  expect(summaryOf({ broken_checks })).toMatch(
    /rows are published and flagged\):[^]*and 1 more in the table violations/,
  );
  const dry = summaryOf({ broken_checks, outcome: 'dry run', snapshot: null });
  expect(dry).toMatch(/rows would be published and flagged\):[^]*and 1 more\n/);
  expect(dry).not.toContain('in the table violations');
});

it('counts what changed at the source in the words of the table changes', () => {
  const voters = datasetOf({ changes: { changed: 1, added: 2, removed: 3 } });
  const manifest = manifestOf({ previous: 'that one', datasets: { voters } });
  expect(renderSummary(resultOf(manifest), project)).toMatch(
    /^Changes since snapshot that one .*"rekap diff"?.*\n  voters: 1 record changed, 2 added, 3 removed$/m,
  );
  expect(summaryOf()).not.toContain('Changes since');
});
