/** One sync at a time per warehouse, in one process and across processes, and no lock outlives its holder. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { holdDatabase, holdingProgram } from '../support/hold-database.ts';

/** What happens between the making of a lock file and its name. */
const { hook } = vi.hoisted(() => ({ hook: { beforeLink: async (): Promise<void> => {} } }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  return {
    ...real,
    async link(...linked: Parameters<typeof real.link>) {
      await hook.beforeLink();
      return real.link(...linked);
    },
  };
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-lock-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Another process that holds the warehouse's lock until it is killed. */
const startHolder = (warehouse: string): Promise<ChildProcess> => holdDatabase(warehousePaths(warehouse).lock);

describe('the lock of a warehouse', () => {
  it('keeps a second holder of the same process out until it is released', async () => {
    const warehouse = await makeFolder();
    const unlock = await lockWarehouse(warehouse);
    await expect(lockWarehouse(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse-busy' }));
    await expect(lockWarehouse(`${warehouse}/.`)).rejects.toThrow(expect.objectContaining({ code: 'warehouse-busy' }));
    unlock();
    (await lockWarehouse(warehouse))();
  });

  it('knows the warehouse by whatever path it is named', async () => {
    const warehouse = await makeFolder();
    const alias = join(await makeFolder(), 'alias');
    await symlink(warehouse, alias);
    const unlock = await lockWarehouse(alias);
    await expect(lockWarehouse(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse-busy' }));
    unlock();
  });

  it('lets one of two in that come at once', async () => {
    const warehouse = await makeFolder();
    const attempts = await Promise.allSettled([lockWarehouse(warehouse), lockWarehouse(warehouse)]);
    const held = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []));
    expect(held).toHaveLength(1);
    held[0]!();
  });

  it('gives way to another process that was quicker to make the lock file', async () => {
    const warehouse = await makeFolder();
    let isQuicker = false;
    hook.beforeLink = async () => {
      await startHolder(warehouse);
      isQuicker = true;
    };
    onTestFinished(() => void (hook.beforeLink = async () => {}));
    await expect(lockWarehouse(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse-busy' }));
    expect(isQuicker).toBe(true);
    expect(await readdir(warehouse)).toEqual(['lock']);
  });

  it('leaves nothing beside the lock file', async () => {
    const warehouse = await makeFolder();
    const unlock = await lockWarehouse(warehouse);
    expect((await stat(warehousePaths(warehouse).lock)).size).toBeGreaterThan(0);
    expect(await readdir(warehouse)).toEqual(['lock']);
    unlock();
    const again = await lockWarehouse(warehouse);
    expect(await readdir(warehouse)).toEqual(['lock']);
    again();
  });

  it('leaves other warehouses alone', async () => {
    const unlocks = [await lockWarehouse(await makeFolder()), await lockWarehouse(await makeFolder())];
    for (const unlock of unlocks) unlock();
    expect(unlocks).toHaveLength(2);
  });

  it('is refused while another process holds it, and free at once when that process is killed', async () => {
    const warehouse = await makeFolder();
    const holder = await startHolder(warehouse);
    const attempt = lockWarehouse(warehouse);
    await expect(attempt).rejects.toThrow(expect.objectContaining({ code: 'warehouse-busy' }));
    await expect(attempt).rejects.toMatchObject({ exitCode: 5, message: expect.stringContaining(String(holder.pid)) });
    const exit = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exit;
    (await lockWarehouse(warehouse))();
  });

  it('keeps another process out while this one holds it, and not afterwards', async () => {
    const warehouse = await makeFolder();
    const unlock = await lockWarehouse(warehouse);
    const arguments_ = ['--input-type=module', '--eval', holdingProgram, warehousePaths(warehouse).lock];
    const other = spawn(process.execPath, arguments_, { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void other.kill('SIGKILL'));
    let complaint = '';
    other.stderr.on('data', (text) => (complaint += String(text)));
    await once(other, 'close');
    expect(complaint).toMatch(/lock/i);
    unlock();
    await startHolder(warehouse);
  });

  it('refuses a folder whose name DuckDB would take for something else', async () => {
    const warehouse = join(await makeFolder(), 'what?');
    await mkdir(warehouse);
    await expect(lockWarehouse(warehouse)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('holds a question mark'),
    });
    expect(await readdir(warehouse)).toEqual([]);
  });

  it('says so where the folder is not there or the file is no lock', async () => {
    const warehouse = await makeFolder();
    await expect(lockWarehouse(join(warehouse, 'none'))).rejects.toThrow(/ENOENT/);
    await writeFile(warehousePaths(warehouse).lock, 'something else entirely');
    await expect(lockWarehouse(warehouse)).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
    await rm(warehousePaths(warehouse).lock);
    (await lockWarehouse(warehouse))();
  });

  it('does not reach for the network where the file is one that DuckDB has an extension for', async () => {
    const warehouse = await makeFolder();
    await writeFile(warehousePaths(warehouse).lock, `SQLite format 3\0${'\0'.repeat(100)}`);
    const error = await lockWarehouse(warehouse).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'warehouse' });
    expect(String(error)).toMatch(/sqlite/i);
    expect(String(error)).not.toMatch(/download/i);
  });
});
