/** Makes a folder before all tests, for the warehouses that several files begin with, and removes it after them. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    readonly sharedFolder: string;
  }
}

export default async function makeSharedFolder(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-shared-'));
  project.provide('sharedFolder', folder);
  return () => rm(folder, { recursive: true, force: true });
}
