/** One sync at a time per warehouse, within and across processes. No lock outlives its holder. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { holdDatabase, holdingProgram } from '../support/hold-database.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** What happens between the making of a lock file and its name. */
const { hook } = vi.hoisted(() => ({ hook: { beforeLink: async (): Promise<void> => {} } }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const link = async (...linked: Parameters<typeof real.link>): Promise<void> => {
    await hook.beforeLink();
    return real.link(...linked);
  };
  return { ...real, link };
});

const busy = { code: 'warehouse-busy', exitCode: 5 };
const lockFile = (warehouse: string): string => warehousePaths(warehouse).lock;
/** Another process that holds the warehouse's lock until it is killed. */
const startHolder = (warehouse: string): Promise<ChildProcess> => holdDatabase(lockFile(warehouse));

describe('the lock of a warehouse', () => {
  it('excludes a second holder in the same process, whatever path it uses', async () => {
    const warehouse = await temporaryFolder();
    const alias = join(await temporaryFolder(), 'alias');
    await symlink(warehouse, alias);
    const unlock = await lockWarehouse(alias);
    for (const path of [warehouse, `${warehouse}/.`, alias])
      await expect(lockWarehouse(path)).rejects.toMatchObject(busy);
    (await lockWarehouse(await temporaryFolder()))();
    unlock();
    (await lockWarehouse(warehouse))();
  });

  it('admits one of two simultaneous holders, and leaves only the lock file', async () => {
    const warehouse = await temporaryFolder();
    const attempts = await Promise.allSettled([lockWarehouse(warehouse), lockWarehouse(warehouse)]);
    const held = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(held).toHaveLength(1);
    held[0]!();
    const again = await lockWarehouse(warehouse);
    expect((await stat(lockFile(warehouse))).size).toBeGreaterThan(0);
    expect(await readdir(warehouse)).toEqual(['lock']);
    again();
  });

  it('is refused if another process creates the lock file first', async () => {
    const warehouse = await temporaryFolder();
    const isQuicker = vi.fn<() => Promise<void>>(async () => void (await startHolder(warehouse)));
    hook.beforeLink = isQuicker;
    onTestFinished(() => void (hook.beforeLink = async () => {}));
    await expect(lockWarehouse(warehouse)).rejects.toMatchObject(busy);
    expect(isQuicker).toHaveBeenCalledOnce();
    expect(await readdir(warehouse)).toEqual(['lock']);
  });

  it('is refused while another process holds it, and free when that process is killed', async () => {
    const warehouse = await temporaryFolder();
    const holder = await startHolder(warehouse);
    const refusal = { ...busy, message: expect.stringContaining(`process ${holder.pid}`) };
    await expect(lockWarehouse(warehouse)).rejects.toMatchObject(refusal);
    const exit = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exit;
    (await lockWarehouse(warehouse))();
  });

  it('excludes another process only while this one holds it', async () => {
    const warehouse = await temporaryFolder();
    const unlock = await lockWarehouse(warehouse);
    const words = ['--input-type=module', '--eval', holdingProgram, lockFile(warehouse)];
    const other = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void other.kill('SIGKILL'));
    let problem = '';
    other.stderr.on('data', (text) => (problem += String(text)));
    await once(other, 'close');
    expect(problem).toMatch(/lock/i);
    unlock();
    await startHolder(warehouse);
  });

  it('refuses a folder whose name DuckDB would misinterpret', async () => {
    const warehouse = join(await temporaryFolder(), 'what?');
    await mkdir(warehouse);
    const refusal = { exitCode: 2, message: expect.stringContaining('question mark') };
    await expect(lockWarehouse(warehouse)).rejects.toMatchObject(refusal);
    expect(await readdir(warehouse)).toEqual([]);
  });

  it('reports a missing folder or a file that is not a lock, without network access', async () => {
    const warehouse = await temporaryFolder();
    await expect(lockWarehouse(join(warehouse, 'none'))).rejects.toThrow(/ENOENT/);
    // DuckDB has an extension for the second one, which it would download.
    for (const text of ['something else entirely', `SQLite format 3\0${'\0'.repeat(100)}`]) {
      await writeFile(lockFile(warehouse), text);
      const refusal = { code: 'warehouse', message: expect.not.stringMatching(/download/i) };
      await expect(lockWarehouse(warehouse)).rejects.toMatchObject(refusal);
    }
    await rm(lockFile(warehouse));
    (await lockWarehouse(warehouse))();
  });
});
