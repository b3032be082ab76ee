/** runs.jsonl has one line for a run that finished, failed, or could not start. */

import { describe, expect, it } from 'vitest';
import { interruptedBy, RekapError } from '../../src/errors.ts';
import { recordEnd, recordFailure, recordEarlyFailure } from '../../src/publish/record-run.ts';
import type { Run } from '../../src/publish/run.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { datasetOf, manifestOf } from '../support/manifests.ts';
import { readRunLines } from '../support/run-lines.ts';
import { nights, smallWarehouse } from '../support/small-snapshots.ts';
import { project, syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [first, second] = nights;

/** A run that began a minute ago, and has come as far as building its tables. */
function runIn(warehouse: string, warnings: readonly string[] = []): Run {
  const clock = manualClock();
  const begun = clock.now();
  void clock.sleep(60_000);
  return {
    kind: 'sync',
    project,
    reportModule: null,
    options: syncOptions(warehouse, 'http://source.test'),
    context: { clock, random: () => 0.5, report: () => undefined, signal: new AbortController().signal },
    warn: () => undefined,
    enter: () => undefined,
    warnings,
    steps: [
      ['fetch', begun.getTime() + 10_000],
      ['build tables', begun.getTime() + 40_000],
    ],
    begunAt: begun,
    started: begun.getTime(),
    id: second,
    landing: '',
    startedAt: begun,
    previous: null,
    current: null,
    pinned: null,
    requested: project.pipelines,
    folder: '',
    signal: new AbortController().signal,
    scopes: new Map(),
    figures: null,
  };
}

describe('a finished run', () => {
  it('is recorded with its steps, rows and figures, and at most fifty warnings', async () => {
    const warehouse = await smallWarehouse([first]);
    const warnings = Array.from({ length: 60 }, (_, index) => `warning ${index}`);
    const manifest = manifestOf({
      datasets: { voters: datasetOf({ rows: 7, quarantined: 2 }) },
      violation_ages: { error: { new: 1, resolved: 0, standing: 0 } },
    });
    await recordEnd(runIn(warehouse, warnings), { outcome: 'published', current: second, manifest });
    expect(await readRunLines(warehouse)).toMatchObject([
      {
        run: second,
        started_at: '2026-11-20T03:00:00.000Z',
        finished_at: '2026-11-20T03:01:00.000Z',
        outcome: 'published',
        exit_code: 0,
        snapshot: second,
        steps: { fetch: 30_000, build_tables: 20_000 },
        warnings: warnings.slice(0, 50),
        rows: { voters: 7 },
        quarantined: { voters: 2 },
        violation_ages: { error: { new: 1, resolved: 0, standing: 0 } },
      },
    ]);
  });

  it('is recorded with the current snapshot after a failure, but without the key', async () => {
    const warehouse = await smallWarehouse([first]);
    const error = new RekapError('source-status', `The source sent ${testKey}.`);
    // Reading the stack computes it.
    expect(error.stack).toContain(testKey);
    const shown = await recordFailure(runIn(warehouse), error);
    expect(shown).toBe(error);
    expect(error.message).toBe('The source sent [redacted].');
    expect(error.stack).toContain('[redacted]');
    expect(error.stack).not.toContain(testKey);
    const [line] = await readRunLines(warehouse);
    expect(line).toMatchObject({ outcome: 'failed', exit_code: 4, reason: error.message, snapshot: first });
  });

  it.each<[unknown, string, number, string]>([
    [new RekapError('gate', 'Refused.'), 'refused', 3, 'Refused.'],
    [new RekapError('warehouse-busy', 'Busy.'), 'refused', 5, 'Busy.'],
    [new RekapError('bucket', 'Gone.'), 'failed', 8, 'Gone.'],
    [interruptedBy('SIGHUP'), 'interrupted', 129, 'Hung up: the terminal was closed.'],
    [interruptedBy('SIGTERM'), 'interrupted', 143, 'Terminated.'],
    [new Error('a fault'), 'failed', 1, 'a fault'],
    ['a text', 'failed', 1, 'a text'],
  ])('is recorded after %s', async (error, outcome, exit_code, reason) => {
    const warehouse = await smallWarehouse([first]);
    await recordFailure(runIn(warehouse), error);
    expect(await readRunLines(warehouse)).toMatchObject([{ run: second, outcome, exit_code, reason }]);
  });
});

describe('a run that could not start', () => {
  const begunAt = new Date('2026-11-20T03:00:00Z');
  const error = new RekapError('usage', 'The key file is gone.');
  const record = (warehouse: string, begun = begunAt) =>
    recordEarlyFailure({ warehouse, source: 'https://source.test', begunAt: begun }, error);

  it('is recorded once, without an id', async () => {
    const warehouse = await smallWarehouse([first]);
    for (let time = 0; time < 2; time += 1) await record(warehouse);
    expect(await readRunLines(warehouse)).toMatchObject([
      { run: null, outcome: 'failed', exit_code: 2, snapshot: first, reason: error.message },
    ]);
    await record(warehouse, new Date(begunAt.getTime() + 1));
    expect(await readRunLines(warehouse)).toHaveLength(2);
  });

  it('is not recorded in a folder that is not a warehouse', async () => {
    const folder = await temporaryFolder();
    await expect(record(folder)).rejects.toMatchObject({ code: 'warehouse' });
    await expect(readRunLines(folder)).rejects.toThrow('ENOENT');
  });
});
