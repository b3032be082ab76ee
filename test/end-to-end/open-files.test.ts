/** A run uses no DuckDB file twice at once, and closes what it opened when it fails. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunEvent } from '../../src/runtime/context.ts';
import { forward, startFaultServer } from '../support/fault-server.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Which files are open in DuckDB or being read by us, and those that were more than once at a time. */
const uses = vi.hoisted(() => {
  const now = new Map<string, number>();
  const twice = new Set<string>();
  let files = 0;
  return {
    twice,
    begin(file: string): void {
      files += 1;
      now.set(file, (now.get(file) ?? 0) + 1);
      if (now.get(file)! > 1 && file !== ':memory:') twice.add(file);
    },
    end: (file: string) => void now.set(file, now.get(file)! - 1),
    count: () => files,
    open: () => [...now].filter(([, times]) => times > 0).map(([file]) => file),
  };
});

vi.mock('../../src/runtime/database.ts', async (importOriginal) => {
  const { openDatabase, ...rest } = await importOriginal<typeof import('../../src/runtime/database.ts')>();
  return {
    ...rest,
    openDatabase: async (...words: Parameters<typeof openDatabase>) => {
      const [file] = words;
      uses.begin(file);
      const database = await openDatabase(...words).catch((error: unknown) => {
        uses.end(file);
        throw error;
      });
      return {
        ...database,
        close() {
          uses.end(file);
          database.close();
        },
      };
    },
  };
});

vi.mock('../../src/runtime/with-file.ts', async (importOriginal) => {
  const { withFile, ...rest } = await importOriginal<typeof import('../../src/runtime/with-file.ts')>();
  return {
    ...rest,
    withFile: async (...words: Parameters<typeof withFile>) => {
      uses.begin(words[0]);
      return withFile(...words).finally(() => uses.end(words[0]));
    },
  };
});

/** Landings of earlier runs. */
const landings = vi.hoisted(() => ({ opened: 0, closed: 0 }));

vi.mock('../../src/land/landed-run.ts', async (importOriginal) => {
  const { openLandedRun, ...rest } = await importOriginal<typeof import('../../src/land/landed-run.ts')>();
  return {
    ...rest,
    openLandedRun: async (...words: Parameters<typeof openLandedRun>) => {
      const landed = await openLandedRun(...words);
      landings.opened += 1;
      return {
        ...landed,
        async close() {
          landings.closed += 1;
          await landed.close();
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

/** A warehouse with two runs that were broken off after a few answers. */
async function brokenOff() {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation(nation));
  const proxy = await startFaultServer((request, response) => {
    if (request.url!.includes('id_dapil=1102')) return void response.destroy();
    forward(request, response, url);
  });
  for (let run = 0; run < 2; run += 1)
    await expect(runSync(syncOptions(warehouse, proxy.url, { pageSize: 2 }))).rejects.toThrow(
      expect.objectContaining({ code: 'incomplete' }),
    );
  await proxy.close();
  return { warehouse, options: syncOptions(warehouse, url, { pageSize: 2, resumeWithin: 3_600_000 }) };
}

it('a sync reads no file that DuckDB has open, and opens none in DuckDB twice at once', async () => {
  const { url } = await serveData(smallNation(nation));
  const warehouse = await temporaryFolder();
  for (let run = 0; run < 2; run += 1) await runSync(syncOptions(warehouse, url));
  expect(uses.count()).toBeGreaterThan(10);
  expect([...uses.twice]).toEqual([]);
});

it('a sync whose source fails leaves no DuckDB file open', async () => {
  const before = uses.count();
  const { warehouse } = await brokenOff();
  expect(uses.count()).toBeGreaterThan(before);
  expect(uses.open().filter((file) => file.startsWith(warehouse))).toEqual([]);
});

describe('a resumed sync that cannot begin leaves no landing open', () => {
  beforeEach(() => Object.assign(landings, { opened: 0, closed: 0 }));

  it('where its own landing cannot be made', async () => {
    const { warehouse, options } = await brokenOff();
    const report = atFetch(warehouse, (id) => {
      mkdirSync(join(warehouse, 'landing', id));
      writeFileSync(join(warehouse, 'landing', id, 'run.json'), '');
    });
    await expect(runSync(options, { report })).rejects.toThrow(/EEXIST/);
    expect(landings).toMatchObject({ opened: 2, closed: 2 });
  });

  it('where a later one fails', async () => {
    const { warehouse, options } = await brokenOff();
    const [older] = await readRunLines(warehouse);
    await writeFile(join(warehouse, 'landing', older!.run!, 'run.json'), '{}');
    const report = (event: RunEvent): void => {
      if (event.kind === 'warning') throw new Error('nobody listens');
    };
    await expect(runSync(options, { report })).rejects.toThrow('nobody listens');
    expect(landings).toMatchObject({ opened: 1, closed: 1 });
  });
});
