/** The metrics show the log of runs in the format of Prometheus, and the alerts and the dashboard use existing metrics. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRuns } from '../../src/warehouse/runs-log.ts';
import { metrics, renderMetrics } from '../../src/notify/metrics.ts';
import { summarizeRuns } from '../../src/snapshots/freshness.ts';
import { runAt } from '../support/all-runs.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const nights = [
  runAt('20T03:00', { rows: { voters: 514 }, violation_ages: { error: { new: 1, resolved: 0, standing: 4 } } }),
  runAt('21T03:00', { outcome: 'refused', exit_code: 3, steps: { fetch: 1500 } }),
  runAt('22T03:00', { outcome: 'dry run' }),
  runAt('23T03:00', { kind: 'replay' }),
];
const summary = summarizeRuns(nights);

describe('the metrics', () => {
  it('separate the newest success from the last sync, and ignore dry runs and replays', () => {
    const text = renderMetrics(summary);
    const of = (name: string) =>
      text.split('\n').filter((each) => each.startsWith(`${name}{`) || each.startsWith(`${name} `));
    expect(of('rekap_last_success_timestamp_seconds')).toEqual([
      `rekap_last_success_timestamp_seconds ${Date.UTC(2026, 10, 20, 3) / 1000}`,
    ]);
    expect(of('rekap_last_run_exit_code')).toEqual(['rekap_last_run_exit_code 3']);
    expect(of('rekap_last_run_duration_seconds')).toEqual(['rekap_last_run_duration_seconds{step="fetch"} 1.5']);
    expect(of('rekap_rows')).toEqual(['rekap_rows{dataset="voters"} 514']);
    expect(of('rekap_violations')).toContain('rekap_violations{severity="error",age="standing"} 4');
    expect(of('rekap_runs_total')).toEqual([
      'rekap_runs_total{outcome="published"} 1',
      'rekap_runs_total{outcome="refused"} 1',
    ]);
    expect(of('rekap_gate_refusals_total')).toEqual(['rekap_gate_refusals_total 1']);
  });

  it('have no unknown values before the first run', () => {
    expect(renderMetrics(summarizeRuns([])).match(/^[^#].*/gm)).toEqual(['rekap_gate_refusals_total 0']);
  });

  it.each(['current/manifest.json', 'snapshots/x', 'landing/x', 'runs.jsonl'])(
    'are never written to %s of the warehouse',
    async (path) => {
      const warehouse = join(await temporaryFolder(), 'warehouse');
      const command = ['sync', '--sample', '--warehouse', warehouse, '--metrics-file', join(warehouse, path)];
      expect(await runHere(command)).toMatchObject({ code: 2, stderr: expect.stringContaining('--metrics-file') });
    },
  );

  it('are written after a sync, but never over a file of the warehouse that a link leads to', async () => {
    const folder = await temporaryFolder();
    const [warehouse, link, file] = ['warehouse', 'link', 'rekap.prom'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await symlink('warehouse/runs.jsonl', link);
    const command = ['sync', '--sample', '--warehouse', warehouse, '--metrics-file'];
    const stderr = expect.stringContaining('--metrics-file never writes') as string;
    // The link leads to a file that this sync creates.
    expect(await runHere([...command, link])).toMatchObject({ code: 0, stderr });
    expect(await readRuns(warehouse)).toHaveLength(1);
    expect(await runHere([...command, link])).toMatchObject({ code: 2, stderr });
    expect((await runHere([...command, file])).code).toBe(0);
    const text = await readFile(file, 'utf8');
    expect(text).toContain('rekap_rows{dataset="voters"} 514\n');
    const ofSyncs = Object.keys(metrics).filter((name) => !/^rekap_(schedule|last_push)_/.test(name));
    for (const name of ofSyncs) expect(text, name).toContain(`# TYPE ${name} `);
  });

  it('show when a schedule syncs next, and whether it is syncing', () => {
    const nextAt = new Date('2026-11-24T03:00:00Z');
    const waiting = renderMetrics(summary, { isRunning: false, nextAt, retries: 2 });
    expect(waiting).toContain(`rekap_schedule_next_run_timestamp_seconds ${nextAt.getTime() / 1000}\n`);
    expect(waiting).toContain('rekap_schedule_running 0\n');
    expect(waiting).toContain('rekap_schedule_retries_total 2\n');
    const running = renderMetrics(summary, { isRunning: true, nextAt: null, retries: 0 });
    expect(running).toContain('rekap_schedule_running 1\n');
    expect(running).not.toContain('rekap_schedule_next_run_timestamp_seconds ');
  });
});

const alerts = join(root, 'deploy/prometheus/alerts.yaml');

describe('the alert rules', () => {
  it('use existing metrics', () => {
    const named = [...readFileSync(alerts, 'utf8').matchAll(/\brekap_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(4);
    for (const name of named) expect(Object.keys(metrics)).toContain(name);
  });

  it('are listed in the runbook', () => {
    const runbook = readFileSync(join(root, 'docs/how-to/operate.md'), 'utf8');
    for (const [, name] of readFileSync(alerts, 'utf8').matchAll(/alert: (\w+)/g))
      expect(runbook).toContain(`| ${name} |`);
  });
});

describe('the Grafana dashboard', () => {
  const { panels } = JSON.parse(readFileSync(join(root, 'deploy/grafana/rekap.json'), 'utf8')) as {
    panels: {
      id: number;
      title: string;
      gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
      targets: { expr: string }[];
    }[];
  };
  const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

  it('uses existing metrics, and shows all metrics of a sync', () => {
    const shown = new Set(expressions.flatMap((expr) => expr.match(/\brekap_\w+/g) ?? []));
    for (const name of shown) expect(Object.keys(metrics)).toContain(name);
    const ofSyncs = Object.keys(metrics).filter((name) => !name.startsWith('rekap_schedule_'));
    const isOptional = (name: string): boolean => /_requests$|last_(run|push)_timestamp/.test(name);
    expect(ofSyncs.filter((name) => !shown.has(name) && !isOptional(name))).toEqual([]);
  });

  it('has panels that do not overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it.skipIf(!hasPromtool)('passes promtool, as do the alerts and the metrics (skipped without promtool)', async () => {
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(await temporaryFolder(), 'rules.yaml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const check = (words: string[], input = '') =>
      spawnSync('promtool', ['check', ...words], { input, encoding: 'utf8' });
    for (const one of [file, alerts]) expect(check(['rules', one])).toMatchObject({ status: 0 });
    expect(check(['metrics'], renderMetrics(summary))).toMatchObject({ status: 0, stderr: '' });
  });
});
