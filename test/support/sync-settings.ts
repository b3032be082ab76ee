/** The projects that tests sync with, and the settings of a sync as the command line would fill them in. */

import { loadProject } from './bundled.ts';
import type { LoadedProject } from '../../src/project/load-project.ts';
import { Secret } from '../../src/source/secret.ts';
import { syncDefaults, type SyncOptions } from '../../src/publish/run.ts';

const whole = loadProject();

/** The bundled project with only a few partitions, because a sync requests each of them. */
export const bundledProject: LoadedProject = {
  ...whole,
  pipelines: whole.pipelines.map(({ expectedRecords: _records, ...pipeline }) => {
    const { values } = pipeline.partition!;
    const few = values?.from === 'list' ? values.values.slice(0, 6) : [];
    return { ...pipeline, partition: { ...pipeline.partition!, values: { from: 'list', values: few } } };
  }),
};

/** The same with one check across tables and without views and report, which take most of the time of a small sync. */
const { workbook: _workbook, ...plain } = bundledProject;
export const project: LoadedProject = {
  ...plain,
  models: whole.models.filter(({ name }) => name === 'regency_figures'),
  checks: whole.checks.filter(({ name }) => name === 'users_above_voters_all'),
  reportModule: null,
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
    timeout: 60_000,
    maxAttempts: 3,
    maxDuration: 600_000,
    // Tests that go on after a rollback want the new snapshot current; test/end-to-end/pin.test.ts has the others.
    unpin: true,
    ...settings,
  };
}
