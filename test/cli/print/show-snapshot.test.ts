/** What `snapshots show` prints is for people who do not know how a sync goes: words, times that differ, and a hash that says it is cut. */

import { describe, expect, it } from 'vitest';
import { renderList } from '../../../src/cli/print/list-snapshots.ts';
import { renderSnapshot } from '../../../src/cli/print/show-snapshot.ts';
import type { Verdict } from '../../../src/stages.ts';
import { datasetOf, manifestOf, verdictOf } from '../../support/manifests.ts';

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

describe('snapshots show', () => {
  it.each<[Partial<Verdict>[], string]>([
    [[{}, {}], '2 match the full listing '],
    [[{}], '1 matches the full listing '],
    [[{}, { proof: 'own end' }, { proof: 'own end' }], '1 matches the full listing, 2 read to the end '],
    [[{ proof: 'own end' }], '1 read to the end '],
  ])('says in words how the partitions were proved: %#', (partitions, words) => {
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

  it('shows what steers a terminal, and does not send it', () => {
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

  it('marks a hash that is cut', () => {
    expect(shown([])).toContain(' 0123456789abcdef…\n');
  });
});
