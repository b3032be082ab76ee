/** A sync whose records are those of the previous snapshot builds nothing, and says the same as one that builds everything. */

import { expect, it } from 'vitest';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

const nation = { 1101: 3, 1102: 5 };

/** Records with violations, which a run without changes names again. */
function doubtfulNation() {
  const data = smallNation(nation);
  data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPK'] = '7';
  data.datapemilihdpr[1]!['JumlahSeluruhPemilih'] = 'x';
  return data;
}

async function hasBuilt(warehouse: string): Promise<boolean> {
  return (await readRuns(warehouse)).at(-1)?.steps?.['build_tables'] !== undefined;
}

const prepared = preparedSnapshots(doubtfulNation());

async function published() {
  const { warehouse, known } = await prepared();
  const data = doubtfulNation();
  return { warehouse, data, url: (await serveData(data)).url, first: known[0] };
}

it('builds nothing, and reports the same as a sync that builds the tables and compares them', async () => {
  const { warehouse, url, first } = await published();
  const unchanged = await runSync(syncOptions(warehouse, url));
  expect(await hasBuilt(warehouse)).toBe(false);
  const [unchangedLine] = (await readRuns(warehouse)).slice(-1);
  const built = await runSync(syncOptions(warehouse, url, { dryRun: true }));
  expect(await hasBuilt(warehouse)).toBe(true);
  const [builtLine] = (await readRuns(warehouse)).slice(-1);
  expect(unchanged).toMatchObject({ outcome: 'unchanged', snapshot: first, current: first });
  const comparable = ({ manifest, broken_checks }: typeof built) => ({
    broken_checks,
    ages: manifest.violation_ages,
    datasets: JSON.stringify(manifest.datasets, (name, value: unknown) =>
      ['read_at', 'run', 'runs'].includes(name) ? null : value,
    ),
  });
  expect(unchanged.broken_checks.length).toBeGreaterThan(0);
  expect(comparable(unchanged)).toEqual(comparable(built));
  const { rows, quarantined, violation_ages } = builtLine!;
  expect(unchangedLine).toMatchObject({ rows, quarantined, violation_ages });
});

it('builds nothing if the same records are in quarantine, and names them again', async () => {
  const { warehouse, data } = await published();
  data.datapemilihdpr.push({ ...data.datapemilihdpr[0]!, JumlahSeluruhPemilih: '1' });
  const { url } = await serveData(data);
  const accepted = syncOptions(warehouse, url, { acceptChanges: true });
  expect((await runSync(accepted)).outcome).toBe('published');
  const { outcome, warnings } = await runSync(accepted);
  expect([outcome, await hasBuilt(warehouse)]).toEqual(['unchanged', false]);
  expect(warnings.join()).toContain('in quarantine');
  // Which of two records with the same key is published depends on their order.
  data.datapemilihdpr.unshift(data.datapemilihdpr.pop()!);
  await runSync({ ...accepted, baseUrl: (await serveData(data)).url });
  expect(await hasBuilt(warehouse)).toBe(true);
});

it('passes the gate: with stricter options, an unchanged source is refused as before', async () => {
  const { warehouse, url } = await published();
  const strict = runSync(syncOptions(warehouse, url, { strict: true }));
  await expect(strict).rejects.toMatchObject({ code: 'gate' });
  const proof = runSync(syncOptions(warehouse, url, { requireProof: 'overlap' }));
  expect((await proof.catch(() => null))?.outcome ?? 'refused').not.toBe('published');
});

it('builds nothing if the requested partitions have the same records, or only their order differs', async () => {
  const { warehouse, data, url } = await published();
  const part = await runSync(syncOptions(warehouse, url, { partitions: ['1102'] }));
  expect([part.outcome, await hasBuilt(warehouse)]).toEqual(['unchanged', false]);
  data.datapemilihdpr.reverse();
  const reversed = await runSync(syncOptions(warehouse, (await serveData(data)).url));
  expect([reversed.outcome, await hasBuilt(warehouse)]).toEqual(['unchanged', false]);
});

it.each<[string, (data: ReturnType<typeof doubtfulNation>) => void]>([
  ['a malformed value differs', ({ datapemilihdpr }) => void (datapemilihdpr[1]!['JumlahSeluruhPemilih'] = 'y')],
  ['a record moves to another partition', ({ datapemilihdpr }) => void (datapemilihdpr[2]!['IdDapil'] = '1102')],
  [
    'a record is sent twice',
    ({ datapemilihdpr }) => void datapemilihdpr.push({ ...datapemilihdpr[0]!, JumlahSeluruhPemilih: '1' }),
  ],
])('builds the tables if %s', async (_what, change) => {
  const { warehouse, data } = await published();
  change(data);
  await runSync(syncOptions(warehouse, (await serveData(data)).url, { acceptChanges: true }));
  expect(await hasBuilt(warehouse)).toBe(true);
});
