/** The summary of a sync and `snapshots show` count the same partitions, and say how many were asked for where some have no records. */

import { describe, expect, it } from 'vitest';
import { renderSnapshot } from '../../../src/cli/print/show-snapshot.ts';
import { renderSummary } from '../../../src/cli/print/sync-summary.ts';
import { datasetOf, manifestOf, verdictOf } from '../../support/manifests.ts';
import { resultOf } from '../../support/sync-results.ts';
import { project } from '../../support/sync-settings.ts';

/** A snapshot of partitions with these numbers of records, as both commands print it: the cells of its row. */
function printed(received: readonly number[]): { readonly summary: string; readonly show: string } {
  const partitions = received.map((count, index) => verdictOf({ partition: '1101' + index, received: count }));
  // Records that name no partition are of none.
  const voters = datasetOf({ rows: 2, partitions: [...partitions, verdictOf({ partition: null })] });
  const manifest = manifestOf({ datasets: { voters } });
  const row = (text: string): string => /^voters +(.*)$/m.exec(text)![1]!;
  return {
    summary: row(renderSummary(resultOf(manifest), project)),
    show: row(renderSnapshot({ id: manifest.snapshot, folder: 'w', manifest })),
  };
}

describe('partitions', () => {
  it('are counted once where all that were asked for have records', () => {
    const { summary, show } = printed([1, 1]);
    expect(summary).toMatch(/^2 {2,}/);
    expect(show).toMatch(/^2 +0 +0 +2 {2,}2 match the full list/);
  });

  it('without records are told as asked for, in both', () => {
    const { summary, show } = printed([1, 0, 1]);
    expect(summary).toMatch(/^2 \(3 requested\) {2,}/);
    expect(show).toMatch(/^2 +0 +0 +2 \(3 requested\) {2,}2 match the full list/);
  });
});
