/** Commands and metrics of a warehouse with every kind of run. */

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { renderMetrics } from '../../src/notify/metrics.ts';
import { summarizeRuns } from '../../src/snapshots/freshness.ts';
import { allRuns, rolledBackWarehouse, runAt } from '../support/all-runs.ts';
import { nights } from '../support/small-snapshots.ts';

const now = new Date('2026-11-24T06:00:00Z');

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }));
afterEach(() => void vi.useRealTimers());

describe('rekap runs', () => {
  it('lists every run, with the reason of a failure and the bucket of a transfer', async () => {
    const { run, json } = await rolledBackWarehouse();
    const { code, stdout } = await run('runs');
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.trimEnd())).toEqual([
      'started (UTC)     kind    outcome      exit  duration  run',
      '2026-11-21 03:00  sync    published       0    60.0 s  20261121T030000Z-aaaaaa',
      '2026-11-21 03:02  push    pushed          0    60.0 s  –',
      '    20261121T030000Z-000001 to s3://figures/dpr',
      '2026-11-21 04:00  replay  reproduced      0    60.0 s  20261121T040000Z-aaaaaa',
      '2026-11-21 05:00  sync    dry run         0    60.0 s  20261121T050000Z-aaaaaa',
      '2026-11-21 06:00  pull    pulled          0    60.0 s  –',
      '    20261121T030000Z-000001 from s3://figures/dpr',
      '2026-11-22 03:00  sync    unchanged       0    60.0 s  20261122T030000Z-aaaaaa',
      '2026-11-23 03:00  sync    refused         3    60.0 s  20261123T030000Z-aaaaaa',
      '    The quality gate refused to publish:',
      '2026-11-23 03:05  sync    refused         5    60.0 s  –',
      '    Another sync holds the warehouse.',
      '2026-11-23 04:00  sync    failed          4    60.0 s  20261123T040000Z-aaaaaa',
      '    The source cannot be reached.',
      '2026-11-24 03:00  sync    interrupted   137    60.0 s  20261124T030000Z-aaaaaa',
      '    The process was killed.',
      '2026-11-24 04:00  push    failed          8    60.0 s  –',
      '    The bucket is gone.',
      '2026-11-24 05:00  push    interrupted   143    60.0 s  –',
      '    Terminated.',
      '',
    ]);
    expect(await json('runs')).toEqual({ code: 0, value: allRuns });
  });

  it('shows all details of one run', async () => {
    const { run, json } = await rolledBackWarehouse();
    const { stdout } = await run('runs', '20261121T030000Z-aaaaaa');
    expect(stdout.split('\n').map((line) => line.trim().replaceAll(/ {2,}/g, ': '))).toEqual([
      'sync 20261121T030000Z-aaaaaa',
      'outcome: published, exit code 0',
      'started: 2026-11-21T03:00:00.000Z',
      'finished: 2026-11-21T03:01:00.000Z',
      'source: test',
      'requests: 178',
      'retries: 2',
      'responses with 200: 176',
      'responses with 503: 2',
      'rows of voters: 1,514',
      'rows of voting_rights_users: 514',
      'current snapshot: 20261121T030000Z-000001',
      '',
      'Steps',
      'fetch: 41.0 s',
      'build tables: 19.0 s',
      '',
      'Warnings',
      '- The first warning.',
      '- The second.',
      '',
    ]);
    const refused = await run('runs', '20261123T030000Z-aaaaaa');
    expect(refused.stdout).toContain('- a reason');
    expect(await json('runs', '20261124T030000Z-aaaaaa')).toEqual({ code: 0, value: [allRuns[9]] });
    expect((await run('runs', '20261124T030000Z-bbbbbb')).code).toBe(2);
  });
});

describe('rekap snapshots', () => {
  it('lists all, and marks the current one after a rollback', async () => {
    const { run, json } = await rolledBackWarehouse();
    const { stdout } = await run('snapshots');
    const marked = stdout.split('\n').filter((line) => line.includes('Z-'));
    expect(marked.map((line) => [line.includes('● current'), /\d{8}T\d{6}Z-\d+/.exec(line)![0]])).toEqual([
      [false, nights[0]],
      [true, nights[1]],
      [false, nights[2]],
    ]);
    expect((await json('snapshots')).value).toEqual(
      nights.slice(0, 3).map((id) => ({
        id,
        current: id === nights[1],
        pinned: false,
        damaged: null,
        next: null,
        created_at: '2026-11-20T03:00:02.000Z',
        source: 'test',
        rows: { voters: 1 },
      })),
    );
  });

  it('shows the current one unless another is named', async () => {
    const { json } = await rolledBackWarehouse();
    expect((await json('snapshots', 'current')).value).toMatchObject({ snapshot: nights[1] });
    expect((await json('snapshots', nights[2])).value).toMatchObject({ snapshot: nights[2] });
  });
});

describe('the metrics of all runs', () => {
  it("count each outcome, and don't count a busy warehouse as a refusal of the gate", () => {
    const samples = renderMetrics(summarizeRuns(allRuns))
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(samples).toEqual([
      `rekap_last_success_timestamp_seconds ${Date.UTC(2026, 10, 22, 3) / 1000}`,
      `rekap_last_run_timestamp_seconds ${Date.UTC(2026, 10, 24, 3) / 1000}`,
      'rekap_last_run_exit_code 137',
      'rekap_last_run_requests 178',
      'rekap_last_run_retries 2',
      'rekap_rows{dataset="voters"} 1514',
      'rekap_runs_total{outcome="failed"} 1',
      'rekap_runs_total{outcome="interrupted"} 1',
      'rekap_runs_total{outcome="published"} 1',
      'rekap_runs_total{outcome="pulled"} 1',
      'rekap_runs_total{outcome="refused"} 2',
      'rekap_runs_total{outcome="unchanged"} 1',
      'rekap_gate_refusals_total 1',
      `rekap_last_push_timestamp_seconds ${Date.UTC(2026, 10, 24, 4) / 1000}`,
      'rekap_last_push_exit_code 8',
    ]);
  });

  it('contain every figure of a run', () => {
    expect(renderMetrics(summarizeRuns(allRuns.slice(0, 1))).split('\n')).toEqual(
      expect.arrayContaining([
        'rekap_last_run_duration_seconds{step="fetch"} 41',
        'rekap_last_run_duration_seconds{step="build_tables"} 19',
        'rekap_last_run_responses{status="200"} 176',
        'rekap_last_run_responses{status="503"} 2',
        'rekap_last_run_received_bytes 4096',
        'rekap_quarantined_records{dataset="voters"} 1',
        'rekap_violations{severity="error",age="resolved"} 2',
        'rekap_violations{severity="warning",age="standing"} 4',
      ]),
    );
    expect(renderMetrics(summarizeRuns([runAt('21T03:00', { rows: { 'a"b\\c\nd': 1 } })]))).toContain(
      String.raw`rekap_rows{dataset="a\"b\\c\nd"} 1`,
    );
  });
});
