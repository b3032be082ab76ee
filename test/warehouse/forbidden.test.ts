/** A warehouse that this user may not read: the message says so, nothing is called damaged, and no advice would make it worse. */

import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { listSnapshots } from '../../src/cli/print/list-snapshots.ts';
import { RekapError } from '../../src/errors.ts';
import { prune, verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { readCurrent, requireCurrent, requireDatabase } from '../../src/warehouse/warehouse.ts';
import { publishedNation } from '../support/prepared-snapshots.ts';

/** What the system keeps to itself: paths for which this holds. */
const { secret } = vi.hoisted(() => ({ secret: { holds: (_path: string): boolean => false } }));

vi.mock('node:fs/promises', async (load) => {
  const real = await load<typeof import('node:fs/promises')>();
  const names = ['access', 'open', 'readdir', 'readFile', 'readlink', 'stat'] as const;
  const guarded = names.map((name) => [
    name,
    (...given: unknown[]) => {
      if (!secret.holds(String(given[0]))) return (real[name] as (...all: unknown[]) => unknown)(...given);
      const refusal = { code: 'EACCES', errno: -13, syscall: name, path: String(given[0]) };
      return Promise.reject(Object.assign(new Error(`EACCES: permission denied, ${name}`), refusal));
    },
  ]);
  return { ...real, ...Object.fromEntries(guarded) };
});

const prepared = publishedNation();

/** What a command says of a warehouse of which `isSecret` is kept from it; null where it says nothing is wrong. */
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

function expectForbidden(error: unknown): void {
  expect(error).toBeInstanceOf(RekapError);
  expect(error).toMatchObject({
    code: 'warehouse-forbidden',
    exitCode: 2,
    message: expect.stringMatching(/cannot be read: permission denied \(EACCES\)\.$/),
    next: 'Give this user read permission, or run the command as the owner of the warehouse.',
  });
}

const everything = (path: string, warehouse: string): boolean => path.startsWith(`${warehouse}/`);

describe('a warehouse of which everything is kept from this user', () => {
  it.each<[string, (warehouse: string, id: string) => Promise<unknown>]>([
    ['a query', requireCurrent],
    ['a list', listSnapshots],
    ['a pruning', (warehouse) => prune({ warehouse, keep: 1, keepLanding: null })],
    ['a verification', (warehouse, id) => verifyPublished(warehouse, id)],
  ])('is said to be so by %s', async (_, act) => {
    expectForbidden(await refusalOf(everything, act));
  });
});

describe('a snapshot of which a file is kept from this user', () => {
  it.each(['manifest.json', 'rekap.duckdb', join('parquet', 'voters', 'voters.parquet')])(
    'is not called damaged: %s',
    async (file) => {
      const verify = (warehouse: string, id: string) => verifyPublished(warehouse, id);
      const error = await refusalOf((path) => path.endsWith(file), verify);
      expectForbidden(error ?? new Error('nothing was said'));
    },
  );

  it('is no answer that was altered either', async () => {
    const verify = (warehouse: string, id: string) => verifyPublished(warehouse, id);
    expectForbidden(await refusalOf((path) => path.endsWith('bodies.gz'), verify));
  });

  it('is listed, with what is kept, beside all others', async () => {
    let listed: Awaited<ReturnType<typeof listSnapshots>> = [];
    const list = async (warehouse: string) => (listed = await listSnapshots(warehouse));
    expect(await refusalOf((path) => path.endsWith('voters.parquet'), list)).toBe(null);
    expect(listed).toMatchObject([{ current: true, damaged: expect.stringContaining('permission denied') }]);
  });

  it('is not opened', async () => {
    const open = async (warehouse: string) => requireDatabase((await readCurrent(warehouse))!);
    expectForbidden(await refusalOf((path) => path.endsWith('rekap.duckdb'), open));
  });
});
