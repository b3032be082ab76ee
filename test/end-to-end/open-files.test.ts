/** A run opens no DuckDB file twice at once, closes what it opened when it fails, and ends for the reason that made it end. */

import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { IncompleteError, InterruptedError } from '../../src/errors.ts';
import type { RunEvent } from '../../src/surroundings.ts';
import { startFaultServer } from '../support/fault-server.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const opened = vi.hoisted(() => ({ now: new Map<string, number>(), twice: new Set<string>(), files: 0 }));

vi.mock('../../src/database.ts', async (importOriginal) => {
  const { openDatabase, ...rest } = await importOriginal<typeof import('../../src/database.ts')>();
  return {
    ...rest,
    openDatabase: async (...words: Parameters<typeof openDatabase>) => {
      const [file] = words;
      const database = await openDatabase(...words);
      opened.files += 1;
      const count = (opened.now.get(file) ?? 0) + 1;
      opened.now.set(file, count);
      if (count > 1 && file !== ':memory:') opened.twice.add(file);
      return {
        ...database,
        close() {
          opened.now.set(file, opened.now.get(file)! - 1);
          database.close();
        },
      };
    },
  };
});

const nation = { 1101: 3, 1102: 12 };

/** Does something when the run comes to the step at which it begins to fetch, with its id. */
function atFetch(warehouse: string, act: (id: string) => void): (event: RunEvent) => void {
  return (event) => {
    if (event.kind !== 'step' || event.step !== 'fetch') return;
    const name = readdirSync(join(warehouse, 'snapshots')).find((each) => each.startsWith('.building-'));
    act(name!.replace('.building-', ''));
  };
}

/** Files below a folder that this process has open. */
function openBelow(folder: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const path = readlinkSync(join('/proc/self/fd', descriptor));
      return path.startsWith(folder) ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** A warehouse with two runs that were broken off after a few answers. */
async function brokenOff() {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation(nation));
  const proxy = await startFaultServer((request, response) => {
    if (request.url!.includes('id_dapil=1102')) return void response.destroy();
    fetch(url + request.url!, { headers: { 'x-api-key': String(request.headers['x-api-key']) } })
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch(() => response.destroy());
  });
  for (let run = 0; run < 2; run += 1)
    await expect(runSync(syncOptions(warehouse, proxy.url, { pageSize: 2 }))).rejects.toThrow(IncompleteError);
  await proxy.close();
  return { warehouse, options: syncOptions(warehouse, url, { pageSize: 2, resumeWithin: 3_600_000 }) };
}

it('a sync has no DuckDB file open twice at once', async () => {
  const { url } = await serveData(smallNation(nation));
  const warehouse = await temporaryFolder();
  for (let run = 0; run < 2; run += 1) await runSync(syncOptions(warehouse, url));
  expect(opened.files).toBeGreaterThan(5);
  expect([...opened.twice]).toEqual([]);
});

describe('a resumed sync that cannot begin leaves no landing open', () => {
  it('where its own landing cannot be made', async () => {
    const { warehouse, options } = await brokenOff();
    const report = atFetch(warehouse, (id) => {
      mkdirSync(join(warehouse, 'landing', id));
      writeFileSync(join(warehouse, 'landing', id, 'run.json'), '');
    });
    await expect(runSync(options, { report })).rejects.toThrow(/EEXIST/);
    expect(openBelow(warehouse)).toEqual([]);
  });

  it('where a later one fails', async () => {
    const { warehouse, options } = await brokenOff();
    const [older] = await readRunLines(warehouse);
    await writeFile(join(warehouse, 'landing', older!.run!, 'run.json'), '{}');
    const report = (event: RunEvent): void => {
      if (event.kind === 'warning') throw new Error('nobody listens');
    };
    await expect(runSync(options, { report })).rejects.toThrow('nobody listens');
    expect(openBelow(warehouse)).toEqual([]);
  });
});

it('a sync that is interrupted ends as such, though its DuckDB file could not be made', async () => {
  const warehouse = await temporaryFolder();
  const controller = new AbortController();
  const stalled = await startFaultServer(() => controller.abort(new InterruptedError('SIGINT')));
  const report = atFetch(warehouse, (id) => mkdirSync(join(warehouse, 'snapshots', `.building-${id}`, 'rekap.duckdb')));
  const ended = runSync(syncOptions(warehouse, stalled.url), { report, signal: controller.signal });
  await expect(ended).rejects.toThrow(InterruptedError);
  await stalled.close();
});
