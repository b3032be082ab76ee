/** A replay: the same bytes and figures from the landed answers alone, and a refusal where they are not what they were. */

import { appendFile, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import { holdsSameTables } from '../../src/publish/manifest.ts';
import { type Manifest, parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { listSnapshotIds, readCurrentId } from '../../src/warehouse/warehouse.ts';
import type { SyncResult } from '../../src/run-options.ts';
import { exported } from '../load/support.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { nation } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRows } from '../support/read-table.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { bundledProject, project, syncOptions } from '../support/sync-settings.ts';
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

async function syncInto(warehouse: string, data: SourceData, declared = project): Promise<SyncResult> {
  const { url } = await serveData(data);
  return runSync(syncOptions(warehouse, url, { pageSize, acceptChanges: true }), {}, declared);
}

const doubtful = preparedWarehouse((warehouse) => syncInto(warehouse, doubtfulNation()));
const plain = preparedWarehouse((warehouse) => syncInto(warehouse, smallNation(nation)));

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

  it('gives byte-identical Parquet and the same manifest in another warehouse', async () => {
    const { warehouse } = await synced();
    const changed = doubtfulNation();
    changed.datapemilihdpr[4]!['JumlahPemilihLakiLakiDalamDPK'] = '77';
    const result = await syncInto(warehouse, changed, bundledProject);
    const link = join(await temporaryFolder(), 'link');
    await symlink(join(warehouse, 'snapshots'), link);
    await expect(runReplay(warehouse, { into: link })).rejects.toThrow(expect.objectContaining({ code: 'usage' }));
    const into = await temporaryFolder();
    const replayed = await runReplay(warehouse, { into });
    expect(replayed).toMatchObject({ outcome: 'published', run: result.run, current: result.run, equals: result.run });
    expect(result.manifest.datasets['voters']!.changes.changed).toBe(1);
    expect(figures(replayed.manifest)).toEqual(figures(result.manifest));
    const bytes = await parquetBytes(warehouse, result.run);
    // Every table and view but snapshots_log.
    expect(bytes.size).toBe(exported.length);
    expect(await parquetBytes(into, result.run)).toEqual(bytes);
  });

  it('publishes a snapshot that is damaged again under a new id, and leaves the damaged one where it is', async () => {
    const { warehouse, result } = await synced();
    const folder = join(warehouse, 'snapshots', result.run);
    await rm(join(folder, 'rekap.duckdb'));
    await writeFile(join(folder, 'rekap.duckdb'), 'gone wrong');
    const restored = await runReplay(warehouse);
    expect(restored.outcome).toBe('published');
    expect(restored.run).not.toBe(result.run);
    expect(await listSnapshotIds(warehouse)).toEqual([result.run, restored.run]);
    expect(await readFile(join(folder, 'rekap.duckdb'), 'utf8')).toBe('gone wrong');
    expect(await readCurrentId(warehouse)).toBe(restored.run);
    expect(holdsSameTables(restored.manifest, result.manifest)).toBe(true);
    expect(restored.manifest.run).toBe(result.run);
    expect(restored.equals).toBeNull();
  });

  it('publishes again one that is damaged and had changes to tell', async () => {
    const { warehouse } = await synced(plain);
    const { run } = await syncInto(warehouse, doubtfulNation());
    await appendFile(join(warehouse, 'snapshots', run, 'parquet', 'voters', 'voters.parquet'), 'x');
    const restored = await runReplay(warehouse);
    expect(restored).toMatchObject({ outcome: 'published', current: restored.run });
    expect(restored.run).not.toBe(run);
    const told = (id: string) =>
      readRows(
        warehouse,
        `SELECT * EXCLUDE snapshot_id FROM ${quoteText(join(warehouse, 'snapshots', id, parquetPath('changes')))} ORDER BY ALL`,
      );
    expect(await told(restored.run)).toEqual(await told(run));
    expect(await told(run)).not.toEqual([]);
  });

  it.each([
    ['its folder is gone', (folder: string) => rm(folder, { recursive: true })],
    ['its manifest is none', (folder: string) => writeFile(join(folder, 'manifest.json'), '{}')],
  ])('restores the current snapshot where %s', async (_, damage) => {
    const { warehouse, result } = await synced();
    await damage(join(warehouse, 'snapshots', result.run));
    const restored = await runReplay(warehouse);
    expect(restored.outcome).toBe('published');
    expect(await readCurrentId(warehouse)).toBe(restored.run);
    expect(holdsSameTables(restored.manifest, result.manifest)).toBe(true);
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
    const { warehouse, result } = await synced(plain);
    const { url } = await serveData(smallNation({ 1101: 3 }));
    await expect(runSync(syncOptions(warehouse, url, { pageSize }))).rejects.toThrow(
      expect.objectContaining({ code: 'gate' }),
    );
    await rm(join(warehouse, 'snapshots', result.run), { recursive: true });
    await rm(join(warehouse, 'current'));
    await expect(runReplay(warehouse)).rejects.toThrow(/no longer exists/);
    expect((await runReplay(warehouse, { acceptChanges: true })).outcome).toBe('published');
  });

  it('publishes what the gate refused, once somebody accepts it', async () => {
    const { warehouse } = await synced(plain);
    const { url } = await serveData(smallNation({ 1101: 3 }));
    await expect(runSync(syncOptions(warehouse, url, { pageSize }))).rejects.toThrow(
      expect.objectContaining({ code: 'gate' }),
    );
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
  it('gives its snapshot a name again, and leaves current alone', async () => {
    const { warehouse, result: first } = await synced(plain);
    const second = await syncInto(warehouse, doubtfulNation());
    await rm(join(warehouse, 'snapshots', first.run), { recursive: true });
    const replayed = await runReplay(warehouse, { run: first.run });
    expect(replayed).toMatchObject({ outcome: 'published', run: first.run, current: second.run });
    expect(await readCurrentId(warehouse)).toBe(second.run);
    expect(await listSnapshotIds(warehouse)).toEqual([first.run, second.run]);
  });

  it('publishes its snapshot beside one that is damaged, and leaves current alone', async () => {
    const { warehouse, result: first } = await synced(plain);
    const second = await syncInto(warehouse, doubtfulNation());
    await appendFile(join(warehouse, 'snapshots', first.run, 'parquet', 'voters', 'voters.parquet'), 'x');
    const replayed = await runReplay(warehouse, { run: first.run });
    expect(replayed).toMatchObject({ outcome: 'published', current: second.run });
    expect(await listSnapshotIds(warehouse)).toEqual([first.run, second.run, replayed.run]);
    expect(await readCurrentId(warehouse)).toBe(second.run);
  });

  it('knows that a history was lost on the way, and does not call that an alteration', async () => {
    const { warehouse, result: first } = await synced(plain);
    const changed = (value: string): SourceData => {
      const data = smallNation(nation);
      data.datapemilihdpr[4]!['JumlahPemilihLakiLakiDalamDPK'] = value;
      return data;
    };
    const second = await syncInto(warehouse, changed('77'));
    const third = await syncInto(warehouse, changed('78'));
    for (const { run } of [first, second]) await rm(join(warehouse, 'snapshots', run), { recursive: true });
    await runReplay(warehouse, { run: second.run, acceptChanges: true });
    const replayed = await runReplay(warehouse, { run: third.run });
    // Not all of it could be compared.
    expect(replayed).toMatchObject({ outcome: 'reproduced', current: third.run, equals: null });
  });

  it('publishes nothing where its snapshot is gone but the current one holds the very tables', async () => {
    const { warehouse, result: first } = await synced(plain);
    const second = await syncInto(warehouse, doubtfulNation());
    const third = await syncInto(warehouse, smallNation(nation));
    await rm(join(warehouse, 'snapshots', first.run), { recursive: true });
    expect(await runReplay(warehouse, { run: first.run })).toMatchObject({ outcome: 'reproduced', current: third.run });
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
    ['an answer’s line', 'answers.jsonl', async (file: string) => flip(file, 0.5)],
    ['a line that was added', 'answers.jsonl', async (file: string) => appendFile(file, '{}\n')],
    ['the options of the run', 'run.json', async (file: string) => appendFile(file, ' ')],
    ['a body that is cut off', 'bodies.gz', async (file: string) => truncate(file, 100)],
    ['missing bodies', 'bodies.gz', async (file: string) => rm(file)],
    ['missing answers', 'answers.jsonl', async (file: string) => rm(file)],
    ['a missing description', 'run.json', async (file: string) => rm(file)],
  ])('is refused: %s', async (_what, name, alter) => {
    const { warehouse, result } = await synced(plain);
    await alter(join(warehouse, 'landing', result.run, name));
    const into = await temporaryFolder();
    await expect(runReplay(warehouse, { into })).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
    expect(await listSnapshotIds(into)).toEqual([]);
  });

  it('is refused even where its snapshot is damaged too', async () => {
    const { warehouse, result } = await synced(plain);
    await appendFile(join(warehouse, 'landing', result.run, 'run.json'), ' ');
    await writeFile(join(warehouse, 'snapshots', result.run, '.DS_Store'), 'x');
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
    expect(await listSnapshotIds(warehouse)).toEqual([result.run]);
    const lines = await readRunLines(warehouse);
    expect(lines.at(-1)).toMatchObject({ kind: 'replay', outcome: 'failed', snapshot: result.run });
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
    await expect(runReplay(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'run-not-found' }));
    await expect(runReplay(warehouse)).rejects.toMatchObject({
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
