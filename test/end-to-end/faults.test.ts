/** A sync from a service that misbehaves publishes exactly its records, or says by name why not and publishes nothing. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseFaults } from '../../src/cli/faults.ts';
import { RekapError } from '../../src/errors.ts';
import type { SyncOptions, SyncResult } from '../../src/publish/run.ts';
import { readCurrent } from '../../src/warehouse/warehouse.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { listRecords, readPublished, servedFiles } from '../support/published-records.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { startCli } from '../support/run-cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Partitions that the reference knows, one of them longer than any page requested. */
const nation = { 1101: 9, 1102: 13, 1201: 1, 1202: 4, 1203: 8, 1301: 5 };

/** A client that gives a stalled answer up soon and tries as often as the command line does. */
const settings: Partial<SyncOptions> = { pageSize: 6, timeout: 1000, maxAttempts: 6 };

/** Seeds for each mixture of faults; REKAP_FAULT_SEEDS asks for more of them, and for their count. */
const wanted = Number(process.env['REKAP_FAULT_SEEDS'] ?? 1);
const seeds = Array.from({ length: wanted }, (_, index) => index + 1);
const patience = { timeout: 120_000 + wanted * 2000 };
let syncs = 0;

afterAll(() => {
  if (process.env['REKAP_FAULT_SEEDS'] !== undefined) process.stdout.write(`${syncs} syncs\n`);
});

interface Attempt {
  readonly warehouse: string;
  readonly url: string;
  readonly outcome: SyncResult | RekapError;
}

/** Syncs from the nation as the faults show it; anything but a result or a RekapError is a fault of the sync. */
async function trySync(data: SourceData, spec: string, seed: number): Promise<Attempt> {
  syncs += 1;
  const clock = manualClock();
  const { url } = await serveData(data, { values: parseFaults(spec), seed, clock });
  const warehouse = await temporaryFolder();
  const outcome = await runSync(syncOptions(warehouse, url, settings), { clock }).catch((error: unknown) => {
    if (error instanceof RekapError) return error;
    throw error;
  });
  return { warehouse, url, outcome };
}

/** The published records; none where nothing was published. */
async function readIfAny(warehouse: string): Promise<readonly string[]> {
  return (await readCurrent(warehouse)) === null ? [] : listRecords(await readPublished(warehouse));
}

describe.each(['html=0.05', 'transient,clamp=7,short=0.1,total,hide=0.2'])('a sync under --faults %s', (spec) => {
  it.each(seeds)('publishes exactly the records there are, with seed %d', async (seed) => {
    const data = smallNation(nation);
    const { warehouse, outcome } = await trySync(data, spec, seed);
    expect(outcome).toMatchObject({ outcome: 'published' });
    expect(listRecords(await readPublished(warehouse))).toEqual(listRecords(data));
  });
});

describe.each(['repeat=0.05', 'foreign=0.05'])('a sync under --faults %s', (spec) => {
  it('publishes exactly the records there are, or nothing, and says why', patience, async () => {
    for (const seed of seeds) {
      const data = smallNation(nation);
      const { warehouse, outcome } = await trySync(data, spec, seed);
      const expected = outcome instanceof RekapError ? [] : listRecords(data);
      expect(await readIfAny(warehouse), `seed ${seed}`).toEqual(expected);
    }
  });
});

describe('a sync from a source that is broken for good', () => {
  it('fails by name, and the snapshot before stays', async () => {
    const data = smallNation(nation);
    const clock = manualClock();
    const warehouse = await temporaryFolder();
    const { run } = await runSync(syncOptions(warehouse, (await serveData(data)).url, settings));
    for (const spec of ['restart=1', 'foreign=1', 'html=1', 'cut=1', '503=1', 'drop=1']) {
      const { url } = await serveData(data, { values: parseFaults(spec), seed: 1, clock });
      const failed = runSync(syncOptions(warehouse, url, settings), { clock });
      await expect(failed, spec).rejects.toBeInstanceOf(RekapError);
      await expect(failed, spec).rejects.toMatchObject({ exitCode: 4 });
      expect((await readCurrent(warehouse))?.id).toBe(run);
    }
    expect(listRecords(await readPublished(warehouse))).toEqual(listRecords(data));
    expect((await readFile(join(warehouse, 'runs.jsonl'), 'utf8')).match(/"exit_code":4/g)).toHaveLength(6);
  });
});

describe('a sync while the source changes', () => {
  const keyOf = (record: Record<string, unknown>): string =>
    `${String(record['IdDapil'])} ${String(record['NamaKabupaten'])}`;

  /** All keys of a dataset, read in one answer. */
  async function readKeys(url: string, file: keyof SourceData): Promise<string[]> {
    const response = await fetch(`${url}/api/${file}?limit=1000`, { headers: { 'x-api-key': testKey } });
    return ((await response.json()) as { data: Record<string, unknown>[] }).data.map(keyOf);
  }

  it.each(seeds)('loses no record that stood there all along and gives none twice, with seed %d', async (seed) => {
    const data = smallNation(nation);
    const { warehouse, url, outcome } = await trySync(data, 'drift=0.05', seed);
    const isRefused = outcome instanceof RekapError;
    expect((await readCurrent(warehouse)) === null).toBe(isRefused);
    const published = isRefused ? null : await readPublished(warehouse);
    for (const file of servedFiles) {
      const after = new Set(await readKeys(url, file));
      const stable = data[file].map(keyOf).filter((key) => after.has(key));
      expect(stable.length).toBeGreaterThan(20);
      const keys = published?.[file].map(keyOf) ?? stable;
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys).toEqual(expect.arrayContaining(stable));
    }
  });
});

describe('rekap serve --faults', () => {
  it('says which faults are on, misbehaves, and counts what it did', async () => {
    const words = ['serve', '--sample', '--port', '0', '--faults', 'clamp=3', '--faults', '503=0'];
    const service = startCli(words, { REKAP_API_KEYS: testKey });
    onTestFinished(() => void service.child.kill('SIGKILL'));
    const start = await service.printed('Ctrl-C');
    expect(start).toMatch(/clamp +3 +a page has a maximum number of records/);
    expect(start).not.toMatch(/^ +503 /m);
    const url = /http:\/\/\S+datapemilihdpr/.exec(start)![0];
    const response = await fetch(url, { headers: { 'x-api-key': testKey } });
    expect(response.headers.get('x-rekap-fault')).toBe('clamp');
    expect(await response.json()).toMatchObject({ count: 3 });
    service.child.kill('SIGINT');
    expect(await service.ended).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/clamp +1\n$/) });
  });
});
