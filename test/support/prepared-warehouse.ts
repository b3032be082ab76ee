/** A warehouse that is filled once and copied for each test that alters it. */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { runHere } from './run-here.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface Prepared<Known> {
  readonly warehouse: string;
  /** What filling it gave. */
  readonly known: Known;
}

type Fill<Known> = (warehouse: string) => Promise<Known>;

/** @param fill Called for the first test that wants one. */
export function preparedWarehouse<Known>(fill: Fill<Known>): () => Promise<Prepared<Known>> {
  let original: Promise<Prepared<Known>> | null = null;
  return async () => {
    original ??= fillAt(join(inject('sharedFolder'), randomUUID()), fill);
    return copyOf(await original);
  };
}

/** The same, shared by all test files that name it alike. `fill` gives what JSON can hold. */
export function sharedWarehouse<Known>(name: string, fill: Fill<Known>): () => Promise<Prepared<Known>> {
  return async () => {
    const place = join(inject('sharedFolder'), createHash('sha256').update(name).digest('hex'));
    if (!existsSync(place)) {
      const building = join(inject('sharedFolder'), randomUUID());
      const { known } = await fillAt(join(building, 'warehouse'), fill);
      await writeFile(join(building, 'known.json'), JSON.stringify(known));
      // Another worker may have been faster.
      await rename(building, place).catch(() => undefined);
    }
    const known = JSON.parse(await readFile(join(place, 'known.json'), 'utf8')) as Known;
    return copyOf({ warehouse: join(place, 'warehouse'), known });
  };
}

/** A warehouse with the sample, and what the sync printed as JSON. */
export const sampleWarehouse = sharedWarehouse('sample', async (warehouse) => {
  const { code, stdout, stderr } = await runHere(['sync', '--sample', '--warehouse', warehouse, '--json']);
  if (code !== 0) throw new Error(stderr);
  return stdout;
});

async function fillAt<Known>(warehouse: string, fill: Fill<Known>): Promise<Prepared<Known>> {
  await mkdir(warehouse, { recursive: true });
  return { warehouse, known: await fill(warehouse) };
}

async function copyOf<Known>({ warehouse, known }: Prepared<Known>): Promise<Prepared<Known>> {
  const copy = await temporaryFolder();
  await cp(warehouse, copy, { recursive: true, verbatimSymlinks: true });
  return { warehouse: copy, known };
}
