/** A part of rekap that cannot be loaded, such as in an installation that is replaced under a run, ends the run like every other failure. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { readRunLines } from '../support/run-lines.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const parts = ['build', 'publish/check-built', 'transform/transformer', 'load/load'];

beforeEach(() => {
  vi.resetModules();
  for (const part of parts) vi.doUnmock(`../../src/${part}.ts`);
});

it.each(parts)('without %s nothing is published, and the log of runs says why', async (part) => {
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
