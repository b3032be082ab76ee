/** A replay: the same bytes and figures from the landed answers alone, and a refusal where they are not what they were. */

import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Manifest } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrentId } from '../../src/warehouse/warehouse.ts';
import { differingFigures } from '../../src/publish/manifest.ts';
import type { SyncResult } from '../../src/publish/run.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { nation } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Less than some partitions hold, so that these take several pages. */
const pageSize = 5;

/** A nation with everything that a transformation has to decide on. */
function doubtfulNation(): SourceData {
  const data = smallNation(nation);
  const [a, b, c] = data.datapemilihdpr;
  a!['JumlahPemilihLakiLakiDalamDPT'] = '1.234';
  b!['JumlahSeluruhPemilih'] = '7';
  data.datapemilihdpr.push({ ...c! }, { ...c!, JumlahSeluruhPemilih: '8' });
  data.datahakpilihdpr.push({ ...data.datahakpilihdpr[0]!, NamaKabupaten: null });
  return data;
}

async function syncInto(warehouse: string, data: SourceData): Promise<SyncResult> {
  const { url } = await serveData(data);
  return runSync(syncOptions(warehouse, url, { pageSize, acceptChanges: true }));
}

const doubtful = preparedWarehouse((warehouse) => syncInto(warehouse, doubtfulNation()));
const plain = preparedWarehouse((warehouse) => syncInto(warehouse, smallNation(nation)));

/** A warehouse in which the gate refused a run after the snapshot. */
const refused = preparedWarehouse(async (warehouse) => {
  const result = await syncInto(warehouse, smallNation(nation));
  const { url } = await serveData(smallNation({ 1101: 3 }));
  await expect(runSync(syncOptions(warehouse, url, { pageSize }))).rejects.toMatchObject({ code: 'gate' });
  return result;
});

/** A new warehouse with one snapshot. */
async function synced(prepared = doubtful) {
  const { warehouse, known: result } = await prepared();
  return { warehouse, result };
}

/** Bytes of every Parquet file. */
async function parquetBytes(warehouse: string, id: string): Promise<Map<string, Buffer>> {
  const folder = join(warehouse, 'snapshots', id, 'parquet');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.parquet')).toSorted();
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))] as const)));
}

/** What a manifest says apart from the database file, which is never the same to the byte. */
function figures({ files, ...rest }: Manifest): unknown {
  return { ...rest, files: files.filter(({ path }) => path.endsWith('.parquet')) };
}

/** Pages that count for the partitions of a run. */
function pagesOf({ manifest }: SyncResult): number {
  return Object.values(manifest.datasets)
    .flatMap(({ partitions }) => partitions)
    .reduce((sum, { pages }) => sum + pages, 0);
}

describe('replaying the newest run', () => {
  it('reproduces its snapshot, publishes nothing and asks for nothing', async () => {
    const { warehouse, result } = await synced();
    const replayed = await runReplay(warehouse);
    expect(replayed.outcome).toBe('reproduced');
    expect(replayed.current).toBe(result.run);
    expect(figures(replayed.manifest)).toEqual(figures(result.manifest));
    expect(replayed.figures).toMatchObject({ requests: 0, retries: 0, from_landing: pagesOf(result) });
    expect(await listSnapshotIds(warehouse)).toEqual([result.run]);
  });

  it.each([
    ['its DuckDB file', (folder: string) => writeFile(join(folder, 'rekap.duckdb'), 'gone wrong')],
    ['its manifest', (folder: string) => writeFile(join(folder, 'manifest.json'), '{}')],
  ])('refuses to compare with a snapshot whose %s is damaged, and says how to go on', async (_, damage) => {
    const { warehouse, result } = await synced();
    const folder = join(warehouse, 'snapshots', result.run);
    await rm(join(folder, 'rekap.duckdb'));
    await damage(folder);
    await expect(runReplay(warehouse)).rejects.toMatchObject({
      code: 'verification',
      next: expect.stringContaining('rekap snapshots rollback ID'),
    });
    expect(await listSnapshotIds(warehouse)).toEqual([result.run]);
  });

  it('publishes the snapshot of the newest run again if its folder is gone, with the same bytes', async () => {
    const { warehouse } = await synced();
    const changed = doubtfulNation();
    changed.datapemilihdpr[4]!['JumlahPemilihLakiLakiDalamDPK'] = '77';
    const result = await syncInto(warehouse, changed);
    expect(result.manifest.datasets['voters']!.changes.changed).toBe(1);
    const bytes = await parquetBytes(warehouse, result.run);
    expect(bytes.size).toBeGreaterThan(0);
    await rm(join(warehouse, 'snapshots', result.run), { recursive: true });
    const replayed = await runReplay(warehouse);
    expect(replayed).toMatchObject({ outcome: 'published', run: result.run, current: result.run });
    expect(differingFigures(replayed.manifest, result.manifest, true)).toEqual([]);
    expect(await parquetBytes(warehouse, result.run)).toEqual(bytes);
  });

  it('publishes nothing where the run found nothing new, or was a dry one', async () => {
    const { warehouse, result } = await synced();
    await syncInto(warehouse, doubtfulNation());
    expect((await runReplay(warehouse)).outcome).toBe('reproduced');
    const { url } = await serveData(smallNation(nation));
    await runSync(syncOptions(warehouse, url, { pageSize, dryRun: true, acceptChanges: true }));
    expect((await runReplay(warehouse, { acceptChanges: true })).outcome).toBe('dry run');
    expect(await listSnapshotIds(warehouse)).toEqual([result.run]);
    expect(await readCurrentId(warehouse)).toBe(result.run);
  });

  it('is as strict as its run was', async () => {
    const warehouse = await temporaryFolder();
    const { url } = await serveData(doubtfulNation());
    await expect(runSync(syncOptions(warehouse, url, { pageSize, strict: true }))).rejects.toThrow(
      expect.objectContaining({ code: 'gate' }),
    );
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'gate' }));
  });

  it('does not pass a gate that has nothing to compare with any more', async () => {
    const { warehouse, known: result } = await refused();
    await rm(join(warehouse, 'snapshots', result.run), { recursive: true });
    await rm(join(warehouse, 'current'));
    await expect(runReplay(warehouse)).rejects.toThrow(/no longer exists/);
    expect((await runReplay(warehouse, { acceptChanges: true })).outcome).toBe('published');
  });

  it('publishes what the gate refused, once somebody accepts it', async () => {
    const { warehouse } = await refused();
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'gate' }));
    const accepted = await runReplay(warehouse, { acceptChanges: true });
    expect(accepted.outcome).toBe('published');
    expect(accepted.manifest.datasets['voters']!.rows).toBe(3);
    expect(await readCurrentId(warehouse)).toBe(accepted.run);
  });

  it('replays a partial run over the snapshot that it carried over from', async () => {
    const { warehouse } = await synced();
    const changed = doubtfulNation();
    for (const record of changed.datapemilihdpr) record['JumlahPemilihLakiLakiDalamDPK'] = '77';
    const { url } = await serveData(changed);
    const partial = await runSync(
      syncOptions(warehouse, url, { pageSize, partitions: ['1102'], datasets: ['voters'] }),
    );
    const replayed = await runReplay(warehouse);
    expect(replayed.outcome).toBe('reproduced');
    expect(figures(replayed.manifest)).toEqual(figures(partial.manifest));
    await rm(join(warehouse, 'snapshots', partial.manifest.previous!), { recursive: true });
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'snapshot-not-found' }));
  });
});

describe('replaying an earlier run', () => {
  it('reproduces its snapshot; one that is gone is not published, but may equal the current one', async () => {
    const { warehouse, result: first } = await synced(plain);
    const second = await syncInto(warehouse, doubtfulNation());
    const earlier = { run: first.run };
    const replayed = await runReplay(warehouse, earlier);
    expect(replayed).toMatchObject({ outcome: 'reproduced', snapshot: first.run, current: second.run });
    await rm(join(warehouse, 'snapshots', first.run), { recursive: true });
    await expect(runReplay(warehouse, earlier)).rejects.toMatchObject({ code: 'snapshot-not-found' });
    const third = await syncInto(warehouse, smallNation(nation));
    expect(await runReplay(warehouse, earlier)).toMatchObject({ outcome: 'reproduced', current: third.run });
    expect(await listSnapshotIds(warehouse)).toEqual([second.run, third.run]);
  });

  it('names the runs there are where it is none of them', async () => {
    const { warehouse, result } = await synced(plain);
    for (const run of ['20200101T000000Z-000000', '../..', 'x\0'])
      await expect(runReplay(warehouse, { run })).rejects.toThrow(expect.objectContaining({ code: 'run-not-found' }));
    await expect(runReplay(warehouse, { run: '20200101T000000Z-000000' })).rejects.toMatchObject({
      next: expect.stringContaining(result.run),
    });
  });

  it('says so where the folder of the answers is gone', async () => {
    const { warehouse } = await synced(plain);
    await rm(join(warehouse, 'landing'), { recursive: true });
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'run-not-found' }));
  });
});

describe('a landing that is not what it was', () => {
  it.each([
    ['one byte of a body', 'bodies.gz', async (file: string) => flip(file, 0.5)],
    ['an answer’s line', 'responses.jsonl', async (file: string) => flip(file, 0.5)],
    ['the options of the run', 'run.json', async (file: string) => appendFile(file, ' ')],
    ['a body that is cut off', 'bodies.gz', async (file: string) => truncate(file, 100)],
    ['a missing description', 'run.json', async (file: string) => rm(file)],
  ])('is refused: %s', async (_what, name, alter) => {
    const { warehouse, result } = await synced(plain);
    await alter(join(warehouse, 'landing', result.run, name));
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
  });

  it('is refused where its run was broken off, and says how to go on', async () => {
    const warehouse = await temporaryFolder();
    const server = await startFaultServer((request, response) => {
      if (request.url!.includes('id_dapil=1102')) response.destroy();
      else answerJson(response, { count: 0, data: [] });
    });
    await expect(runSync(syncOptions(warehouse, server.url, { partitions: ['1101', '1102'] }))).rejects.toThrow(
      expect.objectContaining({ code: 'incomplete' }),
    );
    await server.close();
    const [line] = await readRunLines(warehouse);
    await expect(runReplay(warehouse, { run: line!.run! })).rejects.toThrow(
      expect.objectContaining({ code: 'incomplete' }),
    );
    await expect(runReplay(warehouse)).rejects.toMatchObject({
      code: 'run-not-found',
      message: expect.stringContaining(`The newest run, ${line!.run!}, failed.`),
      next: expect.stringContaining('--resume'),
    });
  });
});

async function flip(file: string, where: number): Promise<void> {
  const bytes = await readFile(file);
  bytes[Math.floor(bytes.length * where)]! ^= 1;
  await writeFile(file, bytes);
}
