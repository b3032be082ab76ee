/** The project as the command line has it, and the settings of a sync as it would fill them in. */

import { loadProject } from '../../pipelines/index.ts';
import type { Project } from '../../src/pipeline.ts';
import { Secret } from '../../src/secret.ts';
import type { SyncOptions } from '../../src/sync-options.ts';

export const project: Project = loadProject();
export const testKey = 'end-to-end-key';

/** The source is called `test`, wherever it listens. */
export function syncOptions(warehouse: string, baseUrl: string, settings: Partial<SyncOptions> = {}): SyncOptions {
  return {
    warehouse,
    baseUrl,
    source: 'test',
    apiKey: new Secret(testKey),
    dapil: null,
    datasets: null,
    concurrency: 4,
    pageSize: 100,
    timeout: 10_000,
    maxAttempts: 3,
    maxDuration: 60_000,
    strict: false,
    acceptChanges: false,
    acceptSource: false,
    keep: 7,
    keepLanding: null,
    resumeWithin: null,
    dryRun: false,
    ...settings,
  };
}
