/** The project that tests sync with, and the settings of a sync as the command line would fill them in. */

import { loadProject } from '../../pipelines/index.ts';
import type { Project } from '../../src/pipeline.ts';
import { Secret } from '../../src/extract/ask/secret.ts';
import { syncDefaults, type SyncOptions } from '../../src/run/options.ts';

const whole = loadProject();

/** With a few districts of the reference only, for a sync asks for each of them by name; the command line has all 84. */
export const project: Project = {
  ...whole,
  referenceDistricts: whole.referenceDistricts.slice(0, 6),
  referenceRecords: 0,
};
export const testKey = 'end-to-end-key';

/** The source is called `test`, wherever it listens. */
export function syncOptions(warehouse: string, baseUrl: string, settings: Partial<SyncOptions> = {}): SyncOptions {
  return {
    ...syncDefaults,
    warehouse,
    baseUrl,
    source: 'test',
    apiKey: new Secret(testKey),
    timeout: 10_000,
    maxAttempts: 3,
    maxDuration: 60_000,
    // Tests that go on after a rollback want the new snapshot current; test/end-to-end/pin.test.ts has the others.
    unpin: true,
    ...settings,
  };
}
