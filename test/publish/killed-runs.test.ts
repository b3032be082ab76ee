/** A run whose process was killed is told from a run that is running, and recorded once. */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { lockAndRecordKilled, readAllRuns, recordKilled } from '../../src/publish/killed-runs.ts';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { makeWarehouse } from '../../src/publish/snapshot-folder.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { holdDatabase, holdingProgram } from '../support/hold-database.ts';
import { addKilled, lastResponse } from '../support/killed-run.ts';
import { describedRun } from '../support/landed.ts';
import { readRunLines } from '../support/run-lines.ts';
import { addSnapshot, nights, smallWarehouse } from '../support/small-snapshots.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [first, second] = nights;

describe('a killed run', () => {
  const line = {
    kind: 'sync',
    started_at: describedRun().started_at,
    finished_at: lastResponse.toISOString(),
    exit_code: 137,
    source: 'http://source.test',
    requests: 0,
    retries: 0,
  };

  it('is recorded as interrupted, unless its snapshot was published', async () => {
    const warehouse = await temporaryFolder();
    await makeWarehouse(warehouse, () => undefined);
    await addKilled(warehouse, first);
    await recordKilled(warehouse);
    await addSnapshot(warehouse, second);
    await addKilled(warehouse, second);
    for (let time = 0; time < 2; time += 1) await recordKilled(warehouse);
    const reason = expect.stringMatching(/./) as string;
    expect(await readRunLines(warehouse)).toEqual([
      { ...line, run: first, outcome: 'interrupted', snapshot: null, reason },
      { ...line, run: second, outcome: 'published', snapshot: second, reason },
    ]);
  });

  it('is not recorded if the log was removed', async () => {
    const warehouse = await smallWarehouse([first]);
    await addKilled(warehouse, second);
    await recordKilled(warehouse);
    await expect(readRunLines(warehouse)).rejects.toThrow('ENOENT');
  });

  it('is running while its process holds the lock, and interrupted as soon as the process is killed', async () => {
    const warehouse = await smallWarehouse([first]);
    await writeFile(warehousePaths(warehouse).runs, '');
    await addKilled(warehouse, second);
    const holder = await holdDatabase(warehousePaths(warehouse).lock);
    expect(await readAllRuns(warehouse)).toEqual({ lines: [], running: second });
    await expect(lockAndRecordKilled(warehouse)).rejects.toMatchObject({ code: 'warehouse-busy' });
    const exit = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exit;
    const interrupted = [{ run: second, outcome: 'interrupted' }];
    expect(await readAllRuns(warehouse)).toMatchObject({ lines: interrupted, running: null });
    expect(await readFile(warehousePaths(warehouse).runs, 'utf8')).toBe('');
    expect(await lockAndRecordKilled(warehouse)).toMatchObject(interrupted);
    expect(await lockAndRecordKilled(warehouse)).toEqual([]);
    expect(await readRunLines(warehouse)).toMatchObject(interrupted);
  });

  it('is found without releasing the lock of a sync in the same process', async () => {
    const warehouse = await smallWarehouse([first]);
    await writeFile(warehousePaths(warehouse).runs, '');
    await addKilled(warehouse, second);
    const [, unlock] = await Promise.all([readAllRuns(warehouse), lockWarehouse(warehouse)]);
    expect(await readAllRuns(warehouse)).toMatchObject({ running: second });
    const words = ['--input-type=module', '--eval', holdingProgram, warehousePaths(warehouse).lock];
    const other = spawnSync(process.execPath, words, { timeout: 10_000, encoding: 'utf8' });
    expect(other.stderr).toMatch(/lock/i);
    unlock();
  });
});
