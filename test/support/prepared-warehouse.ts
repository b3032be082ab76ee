/** A warehouse that is filled once and copied for each test that alters it. */

import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

export interface Prepared<Known> {
  readonly warehouse: string;
  /** What filling it gave. */
  readonly known: Known;
}

/** @param fill Called for the first test that wants one. */
export function preparedWarehouse<Known>(fill: (warehouse: string) => Promise<Known>): () => Promise<Prepared<Known>> {
  let original: Promise<Prepared<Known>> | null = null;
  afterAll(async () => {
    if (original !== null) await rm((await original).warehouse, { recursive: true, force: true });
  });
  return async () => {
    original ??= mkdtemp(join(tmpdir(), 'rekap-prepared-')).then(async (warehouse) => ({
      warehouse,
      known: await fill(warehouse),
    }));
    const { warehouse, known } = await original;
    const copy = await temporaryFolder();
    await cp(warehouse, copy, { recursive: true, verbatimSymlinks: true });
    return { warehouse: copy, known };
  };
}
