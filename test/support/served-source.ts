/** The real service over records that a test can change, and syncs from it. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Project } from '../../src/project/declaration.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import type { FaultSettings } from '../../src/serve/faults/fault-list.ts';
import { openFolderSource, type RecordSource } from '../../src/serve/record-source.ts';
import { startService } from '../../src/serve/service.ts';
import { sync } from '../../src/sync.ts';
import type { SyncOptions, SyncResult, SyncContext } from '../../src/publish/run.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { bundledProject, project, testKey } from './sync-settings.ts';
import { temporaryFolder } from './temporary-folder.ts';

type SourceRecord = Record<string, unknown>;

/** Records of both datasets, by the name of their file. */
export interface SourceData {
  datapemilihdpr: SourceRecord[];
  datahakpilihdpr: SourceRecord[];
}

/** A small nation: each partition has the named number of regencies, and everything adds up. */
export function smallNation(sizes: Readonly<Record<number, number>>): SourceData {
  const places = Object.entries(sizes).flatMap(([partition, size]) =>
    Array.from({ length: size }, (_, index) => ({
      partition,
      regency: `KOTA ${partition}-${index}`,
      size: 1000 * (index + 1),
    })),
  );
  return {
    datapemilihdpr: places.map((place) => consistentRecord('Pemilih', place, 1)),
    datahakpilihdpr: places.map((place) => consistentRecord('PenggunaHakPilih', place, 0.75)),
  };
}

function consistentRecord(
  who: string,
  { partition, regency, size }: { partition: string; regency: string; size: number },
  share: number,
): SourceRecord {
  const people = (part: number): number => Math.floor(size * part * share);
  const lists = { DPT: people(1), DPTb: people(0.02), DPK: people(0.01) };
  const record: SourceRecord = {
    TahunPemilu: '2024',
    JenisPemilu: 'DPR-RI',
    IdDapil: partition,
    NamaDapil: `DAPIL ${partition}`,
    NamaProvinsi: 'ACEH',
    NamaKabupaten: regency,
  };
  let all = 0;
  for (const [list, each] of Object.entries(lists)) {
    record[`Jumlah${who}LakiLakiDalam${list}`] = String(each);
    record[`Jumlah${who}PerempuanDalam${list}`] = String(each + 1);
    record[`Jumlah${who}LakiLakiDanPerempuanDalam${list}`] = String(2 * each + 1);
    all += each;
  }
  record[`JumlahTotal${who}LakiLaki`] = String(all);
  record[`JumlahTotal${who}Perempuan`] = String(all + 3);
  record[`JumlahSeluruh${who}`] = String(2 * all + 3);
  return record;
}

/** The service over these records, until the present test is over. */
export async function serveData(data: SourceData, faults?: FaultSettings): Promise<{ url: string }> {
  const folder = join(await temporaryFolder(), 'served');
  await mkdir(folder);
  for (const [name, records] of Object.entries(data))
    await writeFile(join(folder, `${name}.json`), JSON.stringify(records));
  return serveFolder(folder, faults);
}

/** The service over a folder of records, until the present test is over. */
export async function serveFolder(folder: string, faults?: FaultSettings): Promise<{ url: string }> {
  return serveSource(await openFolderSource(folder, project.pipelines), faults);
}

/** The service over a source, until the present test is over; then both are closed. */
export async function serveSource(
  source: RecordSource,
  faults?: FaultSettings,
  about: Project = project,
): Promise<{ url: string }> {
  const service = await startService({
    pipelines: about.pipelines,
    about,
    source,
    keys: new ApiKeys([testKey]),
    host: '127.0.0.1',
    port: 0,
    faults,
  });
  onTestFinished(async () => {
    await service.close();
    await source.close();
  });
  return { url: service.url };
}

/** Runs a sync with a clock that does not wait; gives its result and what it reported. */
export async function runSync(
  options: SyncOptions,
  around: Partial<SyncContext> = {},
  synced: Parameters<typeof sync>[0] = project,
): Promise<SyncResult & { events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const result = await sync(synced, options, {
    clock: manualClock(),
    random: () => 0.5,
    report: (event) => events.push(event),
    signal: new AbortController().signal,
    ...around,
  });
  return { ...result, events };
}

/** Runs a sync with all views and the report. */
export const runBundledSync = (options: SyncOptions, around: Partial<SyncContext> = {}): ReturnType<typeof runSync> =>
  runSync(options, around, bundledProject);
