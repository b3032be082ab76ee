/** rekap status depends on the newest success, the last sync and the last push. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunLine } from '../../src/warehouse/runs-log.ts';
import { allRuns, rolledBackWarehouse, runAt } from '../support/all-runs.ts';

const now = new Date('2026-11-24T06:00:00Z');
const day = 86_400_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

describe('rekap status', () => {
  const [published, pushed, , , , unchanged, refused, busy] = allRuns as readonly RunLine[] & Record<number, RunLine>;
  const [pushFailed, pushInterrupted] = allRuns.slice(-2);
  const killed = runAt('24T03:00', {
    outcome: 'interrupted',
    exit_code: 137,
    reason: `Killed.${'x'.repeat(300)}\nand more`,
  });
  const fresh = { state: 'fresh', newest_published: published, failure: null };
  const failed = { state: 'failed', newest_success: published, age_seconds: 3 * 86_400 + 3 * 3600 };

  it.each<[readonly RunLine[], number, string, object]>([
    [
      [published!, pushed!],
      0,
      'fresh: published 2026-11-21 03:00 UTC (3 d ago), 1,514 + 514 rows, 1 new error, 3 standing errors',
      fresh,
    ],
    [
      [published!, unchanged!, busy!],
      0,
      'fresh: unchanged since 2026-11-21 03:00 UTC, checked 2 d ago, 1,514 rows',
      { ...fresh, newest_success: unchanged },
    ],
    [
      [published!, refused!],
      7,
      'failed: newest success 3 d ago; last run failed: The quality gate refused to publish:',
      { ...failed, failure: refused },
    ],
    [
      [published!, pushFailed!, pushInterrupted!],
      7,
      'failed: newest success 3 d ago; last push failed: The bucket is gone.',
      { ...failed, failure: pushFailed },
    ],
    [
      [killed],
      6,
      `stale: nothing is published; last run failed: Killed.${'x'.repeat(193)}`,
      { state: 'stale', newest_success: null, age_seconds: null },
    ],
    [[], 6, 'stale: nothing is published yet', { state: 'stale', failure: null, age_seconds: null }],
  ])('prints the state after these runs: %#', async (lines, code, text, value) => {
    const { run, json } = await rolledBackWarehouse(lines);
    expect(await run('status', '--max-age', '7d')).toEqual({ code, stderr: '', stdout: `${text}\n` });
    const read = await json('status', '--max-age', '7d');
    expect(read).toEqual({
      code,
      value: expect.objectContaining({
        exit_code: code,
        max_age_seconds: (7 * day) / 1000,
        unended_run: null,
        ...value,
      }),
    });
  });

  it('is fresh until exactly --max-age, and then stale', async () => {
    const { json } = await rolledBackWarehouse([published!]);
    expect((await json('status', '--max-age', '75h')).code).toBe(0);
    vi.setSystemTime(now.getTime() + 1);
    expect((await json('status', '--max-age', '75h')).code).toBe(6);
  });

  it('names a run that has stored responses but no record of its end', async () => {
    const { warehouse, run, json } = await rolledBackWarehouse([published!]);
    const landed = (id: string) => mkdir(join(warehouse, 'landing', id));
    await landed('20261121T030000Z-aaaaaa');
    expect((await json('status', '--max-age', '7d')).value).toMatchObject({ unended_run: null });
    await landed('20261124T055900Z-aaaaaa');
    expect((await json('status', '--max-age', '7d')).value).toMatchObject({ unended_run: '20261124T055900Z-aaaaaa' });
    const { stdout } = await run('status', '--max-age', '7d');
    expect(stdout.split('\n')[1]).toContain('Run 20261124T055900Z-aaaaaa has not finished');
  });
});
