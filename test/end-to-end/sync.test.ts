/** A sync from the real service: what is published, what is carried over, what is refused, and that a refusal changes nothing. */

import { mkdir, readdir, readFile, readlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  GateError,
  IncompleteError,
  InterruptedError,
  RunTimeoutError,
  SourceMismatchError,
  WarehouseBusyError,
  WarehouseError,
} from '../../src/errors.ts';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { readCurrent } from '../../src/warehouse.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { runSync, serveData, serveFolder, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const nation = { 1101: 3, 1102: 12, 1201: 1 };

async function runLines(
  warehouse: string,
): Promise<{ outcome: string; exit_code: number; snapshot: string | null; reason: string }[]> {
  return (await readFile(join(warehouse, 'runs.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('a first sync', () => {
  it('of the sample publishes the nation with the announced totals of the permanent list', async () => {
    const warehouse = await temporaryFolder();
    const { url } = await serveFolder(project.sampleFolder);
    const result = await runSync(syncOptions(warehouse, url));
    expect(result.outcome).toBe('published');
    for (const table of ['voters', 'voting_rights_users']) {
      expect(result.manifest.datasets[table]).toMatchObject({
        rows: 514,
        ledger: { fetched: 514, published: 514, quarantined: 0, duplicates: 0 },
      });
    }
    const totals = await readRows(
      warehouse,
      'SELECT sum(dpt_male)::INTEGER AS men, sum(dpt_female)::INTEGER AS women, count(DISTINCT dapil_id)::INTEGER AS districts FROM voters',
    );
    expect(totals).toEqual([{ men: 102_218_503, women: 102_588_719, districts: 84 }]);
    expect(result.figures.requests).toBeLessThanOrEqual(Math.floor(84 * 2 * 1.15));
  });

  it('leaves current, manifest, Parquet, landing and a line in runs.jsonl, and nothing half-done', async () => {
    const warehouse = await temporaryFolder();
    const { url } = await serveData(smallNation(nation));
    const { run } = await runSync(syncOptions(warehouse, url));
    expect(await readlink(join(warehouse, 'current'))).toBe(`snapshots/${run}`);
    expect((await readdir(warehouse)).toSorted()).toEqual(['current', 'landing', 'lock', 'runs.jsonl', 'snapshots']);
    expect((await readdir(join(warehouse, 'snapshots', run))).toSorted()).toEqual([
      'manifest.json',
      'parquet',
      'rekap.duckdb',
    ]);
    expect(await readdir(join(warehouse, 'landing'))).toEqual([run]);
    expect(await runLines(warehouse)).toMatchObject([{ outcome: 'published', exit_code: 0, snapshot: run }]);
    expect(await readValue(warehouse, 'SELECT count(*) FROM violations')).toBe('0');
  });

  it('finds every record whatever the page size, with districts longer than a page', async () => {
    const { url } = await serveData(smallNation({ 1101: 25, 1102: 10, 1103: 1, 1201: 7 }));
    for (const pageSize of [1, 3, 10, 1000]) {
      const warehouse = await temporaryFolder();
      const { manifest } = await runSync(syncOptions(warehouse, url, { pageSize }));
      expect(manifest.datasets['voters']?.rows).toBe(43);
    }
  });

  it('can be repeated: the same source gives no new snapshot, and the same Parquet bytes in another warehouse', async () => {
    const [first, second] = [await temporaryFolder(), await temporaryFolder()];
    const { url } = await serveData(smallNation(nation));
    const published = await runSync(syncOptions(first, url));
    const again = await runSync(syncOptions(first, url));
    expect(again).toMatchObject({ outcome: 'unchanged', current: published.run });
    expect(await readdir(join(first, 'snapshots'))).toEqual([published.run]);
    const elsewhere = await runSync(syncOptions(second, url, { concurrency: 1, pageSize: 4 }));
    const parquet = ({ manifest }: typeof published) => manifest.files.filter(({ path }) => path.endsWith('.parquet'));
    expect(parquet(elsewhere)).toEqual(parquet(published));
  });
});

describe('a later sync', () => {
  it('publishes what the source restated, and keeps the snapshot before', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    const before = await runSync(syncOptions(warehouse, (await serveData(data)).url));
    data.datapemilihdpr[0]!['NamaDapil'] = 'DAPIL 1101 A';
    const after = await runSync(syncOptions(warehouse, (await serveData(data)).url));
    expect(after.outcome).toBe('published');
    expect((await readdir(join(warehouse, 'snapshots'))).toSorted()).toEqual([before.run, after.run].toSorted());
    expect(await readValue(warehouse, 'SELECT count(DISTINCT snapshot_id) FROM snapshots_log')).toBe('2');
  });

  it('of some districts carries the rest over and says when each was last read', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    data.datapemilihdpr[1]!['JumlahSeluruhPemilih'] = '';
    data.datapemilihdpr[4]!['JumlahSeluruhPemilih'] = 'x';
    const first = await runSync(syncOptions(warehouse, (await serveData(data)).url), {
      clock: { ...(await import('../support/manual-clock.ts')).manualClock(new Date('2026-01-01T00:00:00Z')) },
    });
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '999';
    data.datapemilihdpr[1]!['JumlahSeluruhPemilih'] = '2063';
    data.datapemilihdpr[15]!['JumlahPemilihLakiLakiDalamDPT'] = '777';
    const second = await runSync(syncOptions(warehouse, (await serveData(data)).url, { dapil: [1101] }));
    expect(second.manifest.datasets['voters']).toMatchObject({
      rows: 16,
      carried_over: 13,
      ledger: { fetched: 3, published: 3 },
    });
    expect(await readValue(warehouse, "SELECT dpt_male FROM voters WHERE regency = 'KOTA 1101-0'")).toBe('999');
    expect(await readValue(warehouse, "SELECT dpt_male FROM voters WHERE regency = 'KOTA 1201-0'")).toBe('1000');
    const empties = await readRows(
      warehouse,
      "SELECT regency, check_name FROM violations WHERE check_name IN ('empty', 'malformed')",
    );
    expect(empties).toEqual([{ regency: 'KOTA 1102-1', check_name: 'malformed' }]);
    const readAt = Object.fromEntries(
      second.manifest.datasets['voters']!.districts.filter(({ received }) => received > 0).map(
        ({ dapil, readAt: at }) => [dapil, at.slice(0, 4)],
      ),
    );
    expect(readAt).toEqual({ 1101: '2026', 1102: '2026', 1201: '2026' });
    expect(second.manifest.datasets['voters']!.districts.find(({ dapil }) => dapil === 1102)?.readAt).toBe(
      first.manifest.datasets['voters']!.districts.find(({ dapil }) => dapil === 1102)?.readAt,
    );
    expect(second.manifest.datasets['voters']!.districts.find(({ dapil }) => dapil === 1101)?.readAt).not.toBe(
      first.manifest.datasets['voters']!.districts.find(({ dapil }) => dapil === 1101)?.readAt,
    );
  });

  it('of one dataset carries the other over whole', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    await runSync(syncOptions(warehouse, (await serveData(data)).url));
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '999';
    const server = await serveData(data);
    const { manifest } = await runSync(syncOptions(warehouse, server.url, { datasets: ['voters'] }));
    expect(manifest.datasets['voting_rights_users']).toMatchObject({
      rows: 16,
      carried_over: 16,
      ledger: { fetched: 0 },
    });
    expect(await readValue(warehouse, 'SELECT count(*) FROM voting_rights_users')).toBe('16');
    expect(await readValue(warehouse, 'SELECT count(*) FROM turnout')).toBe('48');
  });

  it('keeps as many snapshots as it is told', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation(nation);
    const ids: string[] = [];
    for (const name of ['A', 'B', 'C']) {
      data.datapemilihdpr[0]!['NamaDapil'] = name;
      ids.push((await runSync(syncOptions(warehouse, (await serveData(data)).url, { keep: 2 }))).run);
    }
    expect((await readdir(join(warehouse, 'snapshots'))).toSorted()).toEqual(ids.slice(1).toSorted());
    expect((await readdir(join(warehouse, 'landing'))).toSorted()).toEqual(ids.slice(1).toSorted());
  });
});

describe('a sync that must not publish', () => {
  /** A warehouse with one snapshot, and a check that it is still as it was. */
  async function published(data = smallNation(nation)) {
    const warehouse = await temporaryFolder();
    const { run } = await runSync(syncOptions(warehouse, (await serveData(data)).url));
    return {
      warehouse,
      async expectUntouched() {
        expect((await readCurrent(warehouse))?.id).toBe(run);
        expect(await readdir(join(warehouse, 'snapshots'))).toEqual([run]);
        const unlock = await lockWarehouse(warehouse);
        unlock();
      },
    };
  }

  it('because a district is gone is refused by the gate, naming it, and accepted when told so', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation({ 1101: 3, 1102: 12 }));
    await expect(runSync(syncOptions(warehouse, url))).rejects.toThrow(/district 1201/);
    await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({
      exitCode: 3,
      next: expect.stringContaining('--accept-changes'),
    });
    await expectUntouched();
    expect((await runLines(warehouse)).at(-1)).toMatchObject({ outcome: 'refused', exit_code: 3 });
    expect((await runSync(syncOptions(warehouse, url, { acceptChanges: true }))).outcome).toBe('published');
  });

  it('because checks are broken is refused under --strict', async () => {
    const { warehouse, expectUntouched } = await published();
    const data = smallNation(nation);
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '1';
    const { url } = await serveData(data);
    await expect(runSync(syncOptions(warehouse, url, { strict: true }))).rejects.toBeInstanceOf(GateError);
    await expectUntouched();
    expect((await runSync(syncOptions(warehouse, url))).outcome).toBe('published');
  });

  it('because it is a dry run tells what it would publish', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation({ ...nation, 1301: 2 }));
    const result = await runSync(syncOptions(warehouse, url, { dryRun: true }));
    expect(result).toMatchObject({ outcome: 'dry run', manifest: { datasets: { voters: { rows: 18 } } } });
    await expectUntouched();
  });

  it('because the source is another one is refused until told so', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation({ ...nation, 1301: 1 }));
    await expect(runSync(syncOptions(warehouse, url, { source: 'https://other' }))).rejects.toBeInstanceOf(
      SourceMismatchError,
    );
    await expectUntouched();
    expect((await runSync(syncOptions(warehouse, url, { source: 'https://other', acceptSource: true }))).outcome).toBe(
      'published',
    );
  });

  it('because the source has nothing at all is refused', async () => {
    const { url } = await serveData({ datapemilihdpr: [], datahakpilihdpr: [] });
    await expect(runSync(syncOptions(await temporaryFolder(), url))).rejects.toThrow(/voters is empty/);
  });

  it('because a district never answers names the district and the others are not lost from the message', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation(nation));
    const proxy = await startFaultServer((request, response) => {
      if (request.url!.includes('id_dapil=1102')) return answerJson(response, { error: 'down' }, 500);
      fetch(url + request.url!, { headers: { 'x-api-key': String(request.headers['x-api-key']) } })
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.destroy());
    });
    const failed = runSync(syncOptions(warehouse, proxy.url));
    await expect(failed).rejects.toBeInstanceOf(IncompleteError);
    await expect(failed).rejects.toThrow(/voters, district 1102.*500/s);
    await proxy.close();
    await expectUntouched();
  });

  it('because it is interrupted leaves everything as it was, and the lock free', async () => {
    const { warehouse, expectUntouched } = await published();
    const controller = new AbortController();
    const stalled = await startFaultServer(() => controller.abort(new InterruptedError('SIGINT')));
    await expect(runSync(syncOptions(warehouse, stalled.url), { signal: controller.signal })).rejects.toMatchObject({
      exitCode: 130,
    });
    await stalled.close();
    await expectUntouched();
    expect((await runLines(warehouse)).at(-1)).toMatchObject({ outcome: 'interrupted', exit_code: 130 });
  });

  it('because its time is up says so', async () => {
    const { warehouse, expectUntouched } = await published();
    const stalled = await startFaultServer(() => {});
    await expect(runSync(syncOptions(warehouse, stalled.url, { maxDuration: 100 }))).rejects.toBeInstanceOf(
      RunTimeoutError,
    );
    await stalled.close();
    await expectUntouched();
  });

  it('because the snapshot before is damaged carries nothing over from it; a full sync replaces it', async () => {
    const data = smallNation(nation);
    const { warehouse } = await published(data);
    const { url } = await serveData(data);
    await truncate(join(warehouse, 'current', 'rekap.duckdb'), 4096);
    await expect(runSync(syncOptions(warehouse, url, { dapil: [1101] }))).rejects.toThrow(/damaged: rekap\.duckdb/);
    const mended = await runSync(syncOptions(warehouse, url));
    expect(mended.outcome).toBe('published');
    expect(mended.warnings.join()).toContain('damaged');
    expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe('16');
  });

  it('does not happen because a few bytes of the database before are others', async () => {
    const data = smallNation(nation);
    const { warehouse } = await published(data);
    const file = join(warehouse, 'current', 'rekap.duckdb');
    const bytes = await readFile(file);
    bytes.fill(0x5a, 5000, 9000);
    await writeFile(file, bytes);
    const changed = await serveData(smallNation({ ...nation, 1202: 2 }));
    const mended = await runSync(syncOptions(warehouse, changed.url));
    expect(mended.outcome).toBe('published');
    expect(mended.warnings.join()).toContain('begins anew');
  });

  it('because another one holds the warehouse says who', async () => {
    const { warehouse, expectUntouched } = await published();
    const unlock = await lockWarehouse(warehouse);
    await expect(runSync(syncOptions(warehouse, 'http://127.0.0.1:9'))).rejects.toBeInstanceOf(WarehouseBusyError);
    unlock();
    await expectUntouched();
  });

  it('because the warehouse is a file says so', async () => {
    const folder = await temporaryFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'file'), '');
    await expect(runSync(syncOptions(join(folder, 'file'), 'http://127.0.0.1:9'))).rejects.toBeInstanceOf(
      WarehouseError,
    );
  });
});
