/** The project that tests sync with, and the settings of a sync as the command line would fill them in. */

import { loadProject } from './bundled.ts';
import type { LoadedProject } from '../../src/project/load-project.ts';
import { Secret } from '../../src/source/secret.ts';
import { syncDefaults, type SyncOptions } from '../../src/run-options.ts';

const whole = loadProject();

/** With a few partitions of the reference only, for a sync asks for each of them by name; the command line has all 84. */
export const project: LoadedProject = {
  ...whole,
  pipelines: whole.pipelines.map(({ expectedRecords: _records, ...pipeline }) => {
    const { values } = pipeline.partition!;
    const few = values?.from === 'list' ? values.values.slice(0, 6) : [];
    return { ...pipeline, partition: { ...pipeline.partition!, values: { from: 'list', values: few } } };
  }),
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
