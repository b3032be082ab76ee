/** Responses of the newest runs and of snapshots are kept. */

import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pruneLandings } from '../../src/publish/landings.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const runs = [
  '20261117T030000Z-aaaaaa',
  '20261118T030000Z-bbbbbb',
  '20261119T030000Z-cccccc',
  '20261120T030000Z-dddddd',
];

/** A warehouse with these snapshots, the last of them current, and the landings named. */
async function warehouseOf(snapshots: readonly string[], landings: readonly string[]): Promise<string> {
  const warehouse = await temporaryFolder();
  const paths = warehousePaths(warehouse);
  for (const id of snapshots) await mkdir(join(paths.snapshots, id), { recursive: true });
  for (const run of landings) {
    await mkdir(join(paths.landing, run), { recursive: true });
    await writeFile(join(paths.landing, run, 'bodies.gz'), '');
  }
  const current = snapshots.at(-1);
  if (current !== undefined) await symlink(join('snapshots', current), paths.current);
  return warehouse;
}

const landingsOf = async (warehouse: string) => (await readdir(warehousePaths(warehouse).landing)).toSorted();

describe('pruning responses', () => {
  it.each([
    [2, [], runs.slice(2)],
    [1, [runs[0]!], [runs[0]!, runs[3]!]],
    [0, [runs[1]!], [runs[1]!]],
    [0, [], []],
    [5, [], runs],
  ])('keeps those of the newest %i runs and of the snapshots %j', async (keep, snapshots, kept) => {
    const warehouse = await warehouseOf(snapshots, runs);
    const gone = await pruneLandings({ warehouse, keep, keepLanding: null });
    expect(gone).toEqual(runs.filter((run) => !kept.includes(run)));
    expect(await landingsOf(warehouse)).toEqual(kept);
  });

  it('keeps those of the current snapshot even if keepLanding is 0', async () => {
    const warehouse = await warehouseOf(runs.slice(0, 3), runs);
    await pruneLandings({ warehouse, keep: 7, keepLanding: 0 });
    expect(await landingsOf(warehouse)).toEqual([runs[2]]);
  });

  it('ignores and keeps foreign files', async () => {
    const others = ['.notes', '2024-backup', 'zz'];
    const warehouse = await warehouseOf([], [...runs, ...others]);
    expect(await pruneLandings({ warehouse, keep: 2, keepLanding: null })).toEqual(runs.slice(0, 2));
    expect(await landingsOf(warehouse)).toEqual([...others, ...runs.slice(2)].toSorted());
  });
});
