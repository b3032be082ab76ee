/** What runs.jsonl says of a run that ended, failed, was killed, or could not begin. */

import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ExitCode, interruptedBy, RekapError } from '../../src/errors.ts';
import { makeWarehouse } from '../../src/publish/snapshot-folder.ts';
import { outcomeOf, recordEnd, recordFailure, recordKilled, recordEarlyFailure } from '../../src/publish/record-run.ts';
import type { Run } from '../../src/run-options.ts';
import { describedRun } from '../support/landed.ts';
import { manualClock } from '../support/manual-clock.ts';
import { datasetOf, manifestOf } from '../support/manifests.ts';
import { readRunLines } from '../support/run-lines.ts';
import { addSnapshot, nights, smallWarehouse } from '../support/small-snapshots.ts';
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
    figures: null,
  };
}

describe('the outcome of a run that failed', () => {
  it.each([
    [ExitCode.gate, 'refused'],
    [ExitCode.busy, 'refused'],
    [ExitCode.unexpected, 'failed'],
    [ExitCode.usage, 'failed'],
    [ExitCode.source, 'failed'],
    [ExitCode.bucket, 'failed'],
    [ExitCode.hungUp, 'interrupted'],
    [ExitCode.interrupted, 'interrupted'],
    [ExitCode.terminated, 'interrupted'],
    [137, 'interrupted'],
  ])('with exit code %i is "%s"', (exitCode, outcome) => {
    expect(outcomeOf(exitCode)).toBe(outcome);
  });
});

describe('a run that ended', () => {
  it('has its steps, rows and figures in its line, and no more than fifty warnings', async () => {
    const warehouse = await smallWarehouse([first]);
    const warnings = Array.from({ length: 60 }, (_, index) => `warning ${index}`);
    const manifest = manifestOf({
      datasets: { voters: datasetOf({ rows: 7, quarantined: 2 }) },
      violation_ages: { error: { new: 1, resolved: 0, standing: 0 } },
    });
    await recordEnd(runIn(warehouse, warnings), { outcome: 'published', current: second, manifest });
    expect(await readRunLines(warehouse)).toEqual([
      {
        run: second,
        kind: 'sync',
        started_at: '2026-11-20T03:00:00.000Z',
        finished_at: '2026-11-20T03:01:00.000Z',
        outcome: 'published',
        exit_code: 0,
        source: 'test',
        snapshot: second,
        reason: '',
        requests: 0,
        retries: 0,
        bytes: 0,
        statuses: {},
        steps: { fetch: 30_000, build_tables: 20_000 },
        warnings: warnings.slice(0, 50),
        rows: { voters: 7 },
        quarantined: { voters: 2 },
        violation_ages: { error: { new: 1, resolved: 0, standing: 0 } },
      },
    ]);
  });

  it('by a failure names the snapshot that stays current, and never the key, not even in the stack', async () => {
    const warehouse = await smallWarehouse([first]);
    const woven = new RekapError('source-status', `The source said ${testKey}.`);
    // Reading the stack fixes the message in it.
    expect(woven.stack).toContain(testKey);
    const shown = await recordFailure(runIn(warehouse), woven);
    expect(shown).toBe(woven);
    expect(woven.message).toBe('The source said [redacted].');
    expect(woven.stack).toContain('[redacted]');
    expect(woven.stack).not.toContain(testKey);
    const [line] = await readRunLines(warehouse);
    expect(line).toMatchObject({ outcome: 'failed', exit_code: 4, reason: woven.message, snapshot: first });
  });

  it.each<[unknown, string, number, string]>([
    [new RekapError('gate', 'Refused.'), 'refused', 3, 'Refused.'],
    [interruptedBy('SIGTERM'), 'interrupted', 143, 'Terminated.'],
    [new Error('a fault'), 'failed', 1, 'a fault'],
    ['a text', 'failed', 1, 'a text'],
  ])('by %s says so', async (error, outcome, exit_code, reason) => {
    const warehouse = await smallWarehouse([first]);
    await recordFailure(runIn(warehouse), error);
    expect(await readRunLines(warehouse)).toMatchObject([{ run: second, outcome, exit_code, reason }]);
  });
});

describe('a run that could not begin', () => {
  const begunAt = new Date('2026-11-20T03:00:00Z');
  const error = new RekapError('usage', 'The key file is gone.');
  const record = (warehouse: string, begun = begunAt) =>
    recordEarlyFailure({ warehouse, source: 'https://source.test', begunAt: begun }, error);

  it('gets one line, without an id', async () => {
    const warehouse = await smallWarehouse([first]);
    for (let time = 0; time < 2; time += 1) await record(warehouse);
    expect(await readRunLines(warehouse)).toEqual([
      {
        run: null,
        kind: 'sync',
        started_at: begunAt.toISOString(),
        finished_at: expect.any(String),
        outcome: 'failed',
        exit_code: 2,
        source: 'https://source.test',
        snapshot: first,
        reason: error.message,
        requests: 0,
        retries: 0,
      },
    ]);
    await record(warehouse, new Date(begunAt.getTime() + 1));
    expect(await readRunLines(warehouse)).toHaveLength(2);
  });

  it('gets none in a folder that is no warehouse', async () => {
    const folder = await temporaryFolder();
    await expect(record(folder)).rejects.toMatchObject({ code: 'warehouse' });
    await expect(readRunLines(folder)).rejects.toThrow('ENOENT');
  });
});

describe('a run that was killed', () => {
  const heard = new Date('2026-11-22T03:00:30Z');

  async function killed(warehouse: string, id: string): Promise<void> {
    const landing = join(warehouse, 'landing', id);
    await mkdir(landing);
    await writeFile(join(landing, 'run.json'), JSON.stringify(describedRun({ run: id })));
    await writeFile(join(landing, 'answers.jsonl'), '');
    await utimes(join(landing, 'answers.jsonl'), heard, heard);
  }

  const line = {
    kind: 'sync',
    started_at: describedRun().started_at,
    finished_at: heard.toISOString(),
    exit_code: 137,
    source: 'http://source.test',
    requests: 0,
    retries: 0,
  };

  it('is called interrupted, unless its snapshot was published', async () => {
    const warehouse = await temporaryFolder();
    await makeWarehouse(warehouse, () => undefined);
    await killed(warehouse, first);
    await recordKilled(warehouse);
    await addSnapshot(warehouse, second);
    await killed(warehouse, second);
    for (let time = 0; time < 2; time += 1) await recordKilled(warehouse);
    const reason = expect.stringMatching(/./) as string;
    expect(await readRunLines(warehouse)).toEqual([
      { ...line, run: first, outcome: 'interrupted', snapshot: null, reason },
      { ...line, run: second, outcome: 'published', snapshot: second, reason },
    ]);
  });

  it('gets no line in a warehouse whose log was removed', async () => {
    const warehouse = await smallWarehouse([first]);
    await killed(warehouse, second);
    await recordKilled(warehouse);
    await expect(readRunLines(warehouse)).rejects.toThrow('ENOENT');
  });
});
