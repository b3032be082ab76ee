/** The summary of a sync tells a reader of standard output alone what else there is to know, and nothing of what was not asked for. */

import { expect, it } from 'vitest';
import { renderSummary } from '../../src/cli/sync-summary.ts';
import type { SyncResult } from '../../src/sync-options.ts';
import { datasetOf, manifestOf, verdictOf } from '../support/manifests.ts';
import { project } from '../support/sync-settings.ts';

const never = datasetOf({ rows: 0, districts: [] });

function summaryOf(warnings: readonly string[], requests = 1, differing: Partial<SyncResult> = {}): string {
  const voters = datasetOf({ rows: 2, districts: [verdictOf({ dapil: 1101, received: 2, pages: 3 })] });
  const manifest = manifestOf({ datasets: { voters, voting_rights_users: never } });
  const figures = {
    requests,
    retries: 2,
    fromLanding: 0,
    bytes: 0,
    throttled: 0,
    lowestConcurrency: 4,
    milliseconds: 1,
  };
  const common = {
    run: manifest.snapshot,
    current: manifest.snapshot,
    warehouse: 'w',
    landing: 'l',
    equals: null,
    manifest,
    figures,
  };
  const result: SyncResult = { ...common, outcome: 'published', brokenChecks: [], warnings, pruned: [], ...differing };
  return renderSummary(result, project);
}

it('counts the warnings that stand elsewhere', () => {
  expect(summaryOf([])).not.toMatch(/warning/);
  expect(summaryOf(['the list is short'])).toContain('\n1 warning on the way, told on standard error\n');
  expect(summaryOf(['one', 'two'])).toContain('\n2 warnings on the way, told on standard error\n');
});

it('says what the requests were for that brought no page of a district', () => {
  expect(summaryOf([], 9)).toContain('\n9 requests (4 of them to prove the districts complete, 2 tried again), ');
  expect(summaryOf([], 5)).toContain('\n5 requests (2 tried again), ');
});

it('has no row for a dataset that was never asked for', () => {
  expect(summaryOf([])).toMatch(/^voters /m);
  expect(summaryOf([])).not.toMatch(/^voting_rights_users /m);
});

it('names the folder of the answers, or says that they were not kept', () => {
  expect(summaryOf([])).toMatch(/^Answers +l$/m);
  expect(summaryOf([], 1, { landing: null })).toMatch(/^Answers +not kept \(--keep-landing\)$/m);
});

it('says how far the source slowed the run down', () => {
  expect(summaryOf([], 9)).not.toContain('for fewer');
  const figures = {
    requests: 9,
    retries: 2,
    fromLanding: 0,
    bytes: 0,
    throttled: 3,
    lowestConcurrency: 2,
    milliseconds: 1,
  };
  expect(summaryOf([], 9, { figures })).toContain(' 2 tried again), asked 3 times for fewer, down to 2 at a time, ');
});

it('says of a snapshot that was built again what it equals', () => {
  expect(summaryOf([])).not.toContain('equals');
  expect(summaryOf([], 0, { outcome: 'reproduced', equals: 'that one' })).toMatch(
    /^Reproduced .* \d+ Parquet files byte for byte, and/,
  );
  expect(summaryOf([], 0, { outcome: 'reproduced' })).toMatch(
    /^Reproduced .* byte for byte but for the one of changes, /,
  );
  expect(summaryOf([], 0, { equals: 'that one' })).toMatch(/^Published snapshot .* It equals snapshot that one: \d+ /);
});

it('tells a dry run from the replay of one', () => {
  expect(summaryOf([], 1, { outcome: 'dry run' })).toMatch(/^Dry run: everything was fetched and checked/);
  expect(summaryOf([], 0, { outcome: 'dry run' })).toMatch(/^Dry run: so was the run that was replayed/);
});
