/** An error that stands refuses no night; new ones are named, counted and can be refused. */

import { describe, expect, it } from 'vitest';
import { renderSummary } from '../../src/cli/print/sync-summary.ts';
import { readRows } from '../support/read-table.ts';
import { runHere } from '../support/run-here.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const men = 'JumlahPemilihLakiLakiDalamDPT';

/** A nation in which the count of men of some records is unreadable. */
async function serveWith(...unreadable: number[]): Promise<string> {
  const data = smallNation({ 1101: 8 });
  for (const index of unreadable) data.datapemilihdpr[index]![men] = 'x';
  return (await serveData(data)).url;
}

async function twoNights() {
  const warehouse = await temporaryFolder();
  const accepted = { acceptChanges: true };
  const first = await runSync(syncOptions(warehouse, await serveWith(0, 1, 2), accepted));
  const url = await serveWith(1, 2, 5, 6);
  return { warehouse, first, url, accepted };
}

describe('a night with one error repaired and two new ones', () => {
  it('says so, and names the new ones alone', async () => {
    const { warehouse, first, url, accepted } = await twoNights();
    const result = await runSync(syncOptions(warehouse, url, accepted));
    const summary = renderSummary(result, project);
    expect(summary).toContain('errors: 2 new, 1 resolved, 2 standing');
    const named = [...summary.matchAll(/^ {11}(KOTA \S+),/gm)].map(([, name]) => name);
    expect(named).toEqual(['KOTA 1101-5', 'KOTA 1101-6']);
    const log = await readRows(
      warehouse,
      'SELECT regency, first_snapshot, resolved_snapshot FROM violations_log WHERE resolved_snapshot IS NOT NULL',
    );
    expect(log).toEqual([{ regency: 'KOTA 1101-0', first_snapshot: first.run, resolved_snapshot: result.run }]);
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
    expect(renderSummary(again, project)).toMatch(/8 voters, .*errors: 4 standing$/m);
    expect(renderSummary(again, project)).not.toContain('Parquet');
  });
});
