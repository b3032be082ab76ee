/** If this user may not read a warehouse, the message says so, and no file is called damaged. */

import { expect, it, vi } from 'vitest';
import { listSnapshots } from '../../src/cli/print/list-snapshots.ts';
import { RekapError } from '../../src/errors.ts';
import { verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { readCurrent, requireCurrent, requireDatabase } from '../../src/warehouse/warehouse.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';

/** The paths that cannot be read. */
const { secret } = vi.hoisted(() => ({ secret: { holds: (_path: string): boolean => false } }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const names = ['access', 'open', 'readdir', 'readFile', 'readlink', 'stat'] as const;
  const guarded = names.map((name) => [
    name,
    (...args: unknown[]) => {
      if (!secret.holds(String(args[0]))) return (real[name] as (...all: unknown[]) => unknown)(...args);
      const refusal = { code: 'EACCES', errno: -13, syscall: name, path: String(args[0]) };
      return Promise.reject(Object.assign(new Error(`EACCES: permission denied, ${name}`), refusal));
    },
  ]);
  return { ...real, ...Object.fromEntries(guarded) };
});

const prepared = publishedNation();

/** The error of a function whose reads of some paths are refused, or null. */
async function refusalOf(
  isSecret: (path: string, warehouse: string) => boolean,
  act: (warehouse: string, id: string) => Promise<unknown>,
): Promise<unknown> {
  const { warehouse, known } = await prepared();
  secret.holds = (path) => isSecret(path, warehouse);
  try {
    return await act(warehouse, known[0]).then(
      () => null,
      (error: unknown) => error,
    );
  } finally {
    secret.holds = () => false;
  }
}

const endsWith = (name: string) => (path: string) => path.endsWith(name);
const everything = (path: string, warehouse: string): boolean => path.startsWith(`${warehouse}/`);

const verify = (warehouse: string, id: string) => verifyPublished(warehouse, id);
const openCurrent = async (warehouse: string) => requireDatabase((await readCurrent(warehouse))!);

it.each<
  [string, string, (path: string, warehouse: string) => boolean, (warehouse: string, id: string) => Promise<unknown>]
>([
  ['a query', 'any file', everything, requireCurrent],
  ['a list', 'any file', everything, listSnapshots],
  ['a verification', 'any file', everything, verify],
  ['a verification', 'manifest.json', endsWith('manifest.json'), verify],
  ['a verification', 'rekap.duckdb', endsWith('rekap.duckdb'), verify],
  ['a verification', 'voters.parquet', endsWith('voters.parquet'), verify],
  ['a verification', 'bodies.gz', endsWith('bodies.gz'), verify],
  ['a query', 'rekap.duckdb', endsWith('rekap.duckdb'), openCurrent],
])('%s that may not read %s fails with warehouse-forbidden', async (_, _file, isSecret, act) => {
  const error = await refusalOf(isSecret, act);
  expect(error).toBeInstanceOf(RekapError);
  expect(error).toMatchObject({
    code: 'warehouse-forbidden',
    exitCode: 2,
    message: expect.stringMatching(/permission denied \(EACCES\)\.$/),
    next: expect.stringContaining('read permission'),
  });
});

it('a list names a snapshot with an unreadable file, and the reason', async () => {
  let listed: Awaited<ReturnType<typeof listSnapshots>> = [];
  const list = async (warehouse: string) => (listed = await listSnapshots(warehouse));
  expect(await refusalOf(endsWith('voters.parquet'), list)).toBe(null);
  expect(listed).toMatchObject([{ current: true, damaged: expect.stringContaining('permission denied') }]);
});
