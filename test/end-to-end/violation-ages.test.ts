/** An error that stands refuses no night; new ones are named, counted and can be refused. */

import { describe, expect, it } from 'vitest';
import { renderSummary } from '../../src/cli/print/sync-summary.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';

const men = 'JumlahPemilihLakiLakiDalamDPT';

/** A nation in which the count of men of some records is unreadable. */
function nationWith(...unreadable: number[]): SourceData {
  const data = smallNation({ 1101: 8 });
  for (const index of unreadable) data.datapemilihdpr[index]![men] = 'x';
  return data;
}

const firstNight = preparedSnapshots(nationWith(0, 1, 2));

async function twoNights() {
  const { warehouse, known } = await firstNight();
  const { url } = await serveData(nationWith(1, 2, 5, 6));
  return { warehouse, first: known[0], url, accepted: { acceptChanges: true } };
}

describe('a night with one error repaired and two new ones', () => {
  it('says so, and names the new ones alone', async () => {
    const { warehouse, first, url, accepted } = await twoNights();
    const result = await runSync(syncOptions(warehouse, url, accepted));
    const summary = renderSummary(result, project);
    expect(summary).toContain('errors: 2 new, 1 resolved, 2 from earlier');
    const named = [...summary.matchAll(/^ {11}(KOTA \S+),/gm)].map(([, name]) => name);
    expect(named).toEqual(['KOTA 1101-5', 'KOTA 1101-6']);
    const log = await readRows(
      warehouse,
      'SELECT regency, first_snapshot, resolved_snapshot FROM violations_log WHERE resolved_snapshot IS NOT NULL',
    );
    expect(log).toEqual([{ regency: 'KOTA 1101-0', first_snapshot: first, resolved_snapshot: result.run }]);
    const { stdout } = await runHere(['diff', '--warehouse', warehouse]);
    expect(stdout).toMatch(/New violations: 2\n[^]*Resolved violations: 1\n/);
  });

  it('is refused under --refuse new-errors, and the night after a published one is not', async () => {
    const { warehouse, url, accepted } = await twoNights();
    const refusing = { ...accepted, refuse: 'new-errors' } as const;
    await expect(runSync(syncOptions(warehouse, url, refusing))).rejects.toMatchObject({ code: 'gate' });
    await runSync(syncOptions(warehouse, url, accepted));
    const again = await runSync(syncOptions(warehouse, url, refusing));
    expect(again.outcome).toBe('unchanged');
    expect(renderSummary(again, project)).toMatch(/8 voters, .*errors: 4 from earlier$/m);
    expect(renderSummary(again, project)).not.toContain('Parquet');
  });
});
