/** The ids of runs and snapshots are the folders there are; one that cannot be looked into is named. */

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listLandedIds, listSnapshotIds } from '../../src/warehouse/snapshot-format.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ids = ['20261117T030000Z-aaaaaa', '20261118T030000Z-bbbbbb'];

it('they are those of folders with such names, oldest first, and none where there is no folder', async () => {
  const warehouse = await temporaryFolder();
  expect(await listSnapshotIds(warehouse)).toEqual([]);
  for (const name of [...ids.toReversed(), '.building-20261119T030000Z-cccccc', 'notes'])
    await mkdir(join(warehouse, 'snapshots', name), { recursive: true });
  expect(await listSnapshotIds(warehouse)).toEqual(ids);
  await writeFile(join(warehouse, 'landing'), '');
  expect(await listLandedIds(warehouse)).toEqual([]);
});

it('a folder that cannot be read is named, with why', async () => {
  const warehouse = await temporaryFolder();
  await symlink('landing', join(warehouse, 'landing'));
  await expect(listLandedIds(warehouse)).rejects.toMatchObject({
    code: 'warehouse',
    message: expect.stringMatching(/landing cannot be read: .*\(ELOOP\)\.$/),
  });
});
