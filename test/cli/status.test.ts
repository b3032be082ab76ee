/** rekap status depends on the last success, the last sync and the last push. */

import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { RunLine } from '../../src/warehouse/runs-log.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { allRuns, rolledBackWarehouse, runAt } from '../support/all-runs.ts';
import { holdDatabase } from '../support/hold-database.ts';
import { addKilled } from '../support/killed-run.ts';

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
    reason: `${'Killed again. '.repeat(20)}\nand more`,
  });
  const fresh = { state: 'fresh', newest_published: published, failure: null };
  const failed = { state: 'failed', newest_success: published, age_seconds: 3 * 86_400 + 3 * 3600 };

  it.each<[readonly RunLine[], number, string, object]>([
    [
      [published!, pushed!],
      0,
      'fresh: published 2026-11-21 03:00 UTC (3 d ago), 1,514 + 514 rows, 1 new error, 3 earlier errors',
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
      'failed: last success 3 d ago; last run failed: The quality gate refused to publish: a reason (and 2 more)',
      { ...failed, failure: refused },
    ],
    [
      [published!, pushFailed!, pushInterrupted!],
      7,
      'failed: last success 3 d ago; last push failed: The bucket is gone.',
      { ...failed, failure: pushFailed },
    ],
    [
      [killed],
      6,
      `stale: nothing is published; last run failed: ${'Killed again. '.repeat(14).trimEnd()}…`,
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

  it('is failed as soon as the process of a run is gone, and shows a run that is running', async () => {
    const { warehouse, run, json } = await rolledBackWarehouse([published!]);
    const killedRun = '20261124T055900Z-aaaaaa';
    await addKilled(warehouse, killedRun);
    expect(await run('status', '--max-age', '7d')).toMatchObject({
      code: 7,
      stdout: 'failed: last success 3 d ago; last run failed: The process was killed, or the machine stopped.\n',
    });
    const failure = { run: killedRun, outcome: 'interrupted', exit_code: 137 };
    expect(await json('status', '--max-age', '7d')).toMatchObject({ code: 7, value: { failure, unended_run: null } });
    expect((await json('runs', killedRun)).value).toMatchObject([failure]);
    await holdDatabase(warehousePaths(warehouse).lock);
    expect(await json('status', '--max-age', '7d')).toMatchObject({
      code: 0,
      value: { state: 'fresh', failure: null, unended_run: killedRun },
    });
    expect((await run('status', '--max-age', '7d')).stdout).toContain(`Run ${killedRun} is running.\n`);
  });

  it('fits into a terminal of 80 columns, and cuts no word', async () => {
    const reason = `The source refused the API key: https://host/api/list?limit=1000&offset=0 returned status 401: {"type":"about:blank","title":"Unauthorized","status":401,"detail":"The header x-api-key is missing.","instance":"/api/list"}`;
    const { run } = await rolledBackWarehouse([
      published!,
      runAt('23T03:00', { outcome: 'failed', exit_code: 4, reason }),
    ]);
    const { isTTY, columns } = process.stdout;
    onTestFinished(() => void Object.assign(process.stdout, { isTTY, columns }));
    Object.assign(process.stdout, { isTTY: true, columns: 80 });
    const { stdout } = await run('status', '--max-age', '7d');
    const lines = stripVTControlCharacters(stdout).trimEnd().split('\n');
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
    const shown = lines.map((line) => line.trim()).join(' ');
    expect(shown).toMatch(/…$/);
    expect(reason).toContain(`${shown.slice(shown.indexOf('The source'), -1)} `);
  });
});
