/** If a module can't be loaded, for example during an upgrade, the run fails with a message and an exit code. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { readRunLines } from '../support/run-lines.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const parts = ['run/build', 'load/load'];

beforeEach(() => {
  vi.resetModules();
  for (const part of parts) vi.doUnmock(`../../src/${part}.ts`);
});

it.each(parts)('publishes nothing and records the failure if %s cannot be loaded', async (part) => {
  vi.doMock(`../../src/${part}.ts`, () => {
    throw new Error('the file is damaged');
  });
  const { runSync, serveData, smallNation } = await import('../support/served-source.ts');
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation({ 1101: 3, 1102: 2 }));
  await expect(runSync(syncOptions(warehouse, url))).rejects.toHaveProperty('cause.message', 'the file is damaged');
  expect(await readRunLines(warehouse)).toEqual([expect.objectContaining({ outcome: 'failed', exit_code: 1 })]);
  expect(await readdir(join(warehouse, 'snapshots'))).toEqual([]);
});
