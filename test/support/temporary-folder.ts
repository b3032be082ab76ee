/** A folder of its own for each test, gone afterwards. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Makes a folder that is removed when the present test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
