/** A sync whose records are those of the previous snapshot builds nothing, and says the same as one that builds everything. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manifestHashLine } from '../../src/publish/manifest.ts';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { manifestFile } from '../../src/warehouse/snapshot-format.ts';
import { runBundledSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

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

async function published() {
  const warehouse = await temporaryFolder();
  const data = doubtfulNation();
  const { url } = await serveData(data);
  const first = await runBundledSync(syncOptions(warehouse, url));
  return { warehouse, data, url, first };
}

it('builds nothing, and reports the same as a sync that builds the tables and compares them', async () => {
  const { warehouse, url, first } = await published();
  const unchanged = await runBundledSync(syncOptions(warehouse, url));
  expect(await hasBuilt(warehouse)).toBe(false);
  const [unchangedLine] = (await readRuns(warehouse)).slice(-1);
  const built = await runBundledSync(syncOptions(warehouse, url, { dryRun: true }));
  expect(await hasBuilt(warehouse)).toBe(true);
  const [builtLine] = (await readRuns(warehouse)).slice(-1);
  expect(unchanged).toMatchObject({ outcome: 'unchanged', snapshot: first.run, current: first.run });
  const comparable = ({ manifest, broken_checks }: typeof built) => ({
    broken_checks,
    ages: manifest.violation_ages,
    datasets: JSON.stringify(manifest.datasets, (name, value: unknown) => (name === 'read_at' ? null : value)),
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
  expect((await runBundledSync(accepted)).outcome).toBe('published');
  const { outcome, warnings } = await runBundledSync(accepted);
  expect([outcome, await hasBuilt(warehouse)]).toEqual(['unchanged', false]);
  expect(warnings.join()).toContain('in quarantine');
  // Which of two records with the same key is published depends on their order.
  data.datapemilihdpr.unshift(data.datapemilihdpr.pop()!);
  await runBundledSync({ ...accepted, baseUrl: (await serveData(data)).url });
  expect(await hasBuilt(warehouse)).toBe(true);
});

it('passes the gate: with stricter options, an unchanged source is refused as before', async () => {
  const { warehouse, url } = await published();
  const strict = runBundledSync(syncOptions(warehouse, url, { strict: true }));
  await expect(strict).rejects.toMatchObject({ code: 'gate' });
  const proof = runBundledSync(syncOptions(warehouse, url, { requireProof: 'overlap' }));
  expect((await proof.catch(() => null))?.outcome ?? 'refused').not.toBe('published');
});

it('builds nothing if the requested partitions have the same records', async () => {
  const { warehouse, url } = await published();
  const { outcome } = await runBundledSync(syncOptions(warehouse, url, { partitions: ['1102'] }));
  expect([outcome, await hasBuilt(warehouse)]).toEqual(['unchanged', false]);
});

it('builds nothing if only the order of the records differs', async () => {
  const { warehouse, data } = await published();
  data.datapemilihdpr.reverse();
  const { outcome } = await runBundledSync(syncOptions(warehouse, (await serveData(data)).url));
  expect(outcome).toBe('unchanged');
  expect(await hasBuilt(warehouse)).toBe(false);
});

it.each<[string, (data: ReturnType<typeof doubtfulNation>) => void]>([
  ['a value differs', ({ datapemilihdpr }) => void (datapemilihdpr[2]!['NamaDapil'] = 'DAPIL X')],
  ['a malformed value differs', ({ datapemilihdpr }) => void (datapemilihdpr[1]!['JumlahSeluruhPemilih'] = 'y')],
  ['a record moves to another partition', ({ datapemilihdpr }) => void (datapemilihdpr[2]!['IdDapil'] = '1102')],
  ['a record is new', ({ datapemilihdpr }) => void datapemilihdpr.push({ ...datapemilihdpr[0]!, NamaKabupaten: 'X' })],
  [
    'a record is sent twice',
    ({ datapemilihdpr }) => void datapemilihdpr.push({ ...datapemilihdpr[0]!, JumlahSeluruhPemilih: '1' }),
  ],
])('builds the tables if %s', async (_what, change) => {
  const { warehouse, data } = await published();
  change(data);
  await runBundledSync(syncOptions(warehouse, (await serveData(data)).url, { acceptChanges: true }));
  expect(await hasBuilt(warehouse)).toBe(true);
});

it('uses the key of the previous contents; if they have an older format, it builds the tables once', async () => {
  const { warehouse, data } = await published();
  const keyOf = ({ manifest }: Awaited<ReturnType<typeof runBundledSync>>) =>
    manifest.datasets['voters']!.partitions[0]!.content!.split('-')[0]!;
  const file = join(warehouse, 'current', manifestFile);
  const manifest = (await readFile(file, 'utf8')).replaceAll(/"content": "[0-9a-f]{16}-.*"/g, '"content": "3:17:4"');
  await writeFile(file, manifest);
  await writeFile(`${file}.sha256`, manifestHashLine(Buffer.from(manifest)));
  data.datapemilihdpr[2]!['NamaDapil'] = 'DAPIL X';
  const { url } = await serveData(data);
  const built = await runBundledSync(syncOptions(warehouse, url));
  expect([built.outcome, keyOf(built)]).toEqual(['published', expect.stringMatching(/^[0-9a-f]{16}$/)]);
  const unchanged = await runBundledSync(syncOptions(warehouse, url));
  expect([unchanged.outcome, keyOf(unchanged)]).toEqual(['unchanged', keyOf(built)]);
  expect(await hasBuilt(warehouse)).toBe(false);
});
