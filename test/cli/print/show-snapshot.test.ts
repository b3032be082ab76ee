/** `snapshots ID` explains proofs and times in words, and prints nothing that controls a terminal. */

import { describe, expect, it } from 'vitest';
import { renderList } from '../../../src/cli/print/list-snapshots.ts';
import { renderSnapshot } from '../../../src/cli/print/show-snapshot.ts';
import type { Verdict } from '../../../src/stages.ts';
import { renderSummary } from '../../../src/cli/print/sync-summary.ts';
import { datasetOf, manifestOf, verdictOf } from '../../support/manifests.ts';
import { resultOf } from '../../support/sync-results.ts';
import { project } from '../../support/sync-settings.ts';

/** What is printed of a snapshot whose partitions were read so. */
function shown(partitions: readonly Partial<Verdict>[]): string {
  const voters = datasetOf({
    partitions: partitions.map((each, index) => verdictOf({ partition: '1101' + index, ...each })),
  });
  const files = [{ path: 'rekap.duckdb', bytes: 1, rows: null, sha256: `0123456789abcdef${'f'.repeat(48)}` }];
  const manifest = manifestOf({ datasets: { voters }, files });
  return renderSnapshot({ id: manifest.snapshot, folder: 'w', manifest });
}

/** Without the styles that rekap prints itself: bold, dim, green, and plain again. */
const stripStyles = (text: string): string =>
  [1, 2, 22, 32, 39].reduce((rest, code) => rest.replaceAll(`\u001b[${code}m`, ''), text);

const at = (time: string) => ({ read_at: `2026-11-20T${time}.000Z` });

describe('snapshots ID', () => {
  it.each<[Partial<Verdict>[], string]>([
    [[{}, {}], '2 match the full listing '],
    [[{}], '1 matches the full listing '],
    [[{}, { proof: 'own end' }, { proof: 'own end' }], '1 matches the full listing, 2 read to the end '],
    [[{ proof: 'own end' }], '1 read to the end '],
  ])('describes how the partitions were proved: %#', (partitions, words) => {
    const text = shown(partitions);
    expect(text).toContain(` ${words}`);
    expect(text).not.toMatch(/sweep|empty page/);
  });

  it.each([
    ['16:25:03', '16:31:41', '2026-11-20 16:25 to 2026-11-20 16:31'],
    ['16:25:03', '16:25:41', '2026-11-20 16:25:03 to 2026-11-20 16:25:41'],
    ['16:25:03', '16:25:03', '2026-11-20 16:25:03'],
  ])('says when the partitions were read, from %s to %s', (first, last, words) => {
    expect(shown([at(last), at(first)])).toMatch(new RegExp(` {2}${words}$`, 'm'));
  });

  it('escapes control characters', () => {
    const hostile = '\u001b]0;title\u0007\u001b[31mred';
    const files = [{ path: hostile, bytes: 1, rows: null, sha256: hostile.repeat(9) }];
    const manifest = manifestOf({ datasets: { [hostile]: datasetOf() }, files, source: hostile, previous: hostile });
    const text = renderSnapshot({ id: manifest.snapshot, folder: 'w', manifest });
    const row = {
      id: manifest.snapshot,
      current: true,
      pinned: false,
      damaged: null,
      next: null,
      created_at: '',
      source: hostile,
    };
    for (const printed of [text, renderList([{ ...row, rows: { [hostile]: 1 } }])]) {
      for (const control of ['\u0007', '\u001b']) expect(stripStyles(printed)).not.toContain(control);
      expect(printed).toContain('red');
    }
  });

  it.each([
    [[1, 1], '2'],
    [[1, 0, 1], '2 (3 requested)'],
  ])('counts partitions as the summary of a sync does: records %j', (received, cell) => {
    const partitions = received.map((count, index) => verdictOf({ partition: `1101${index}`, received: count }));
    // Records without a partition belong to none.
    const voters = datasetOf({ partitions: [...partitions, verdictOf({ partition: null })] });
    const manifest = manifestOf({ datasets: { voters } });
    for (const text of [
      renderSummary(resultOf(manifest), project),
      renderSnapshot({ id: manifest.snapshot, folder: 'w', manifest }),
    ])
      expect(/^voters +.*$/m.exec(text)![0]).toContain(` ${cell}  `);
  });
});
