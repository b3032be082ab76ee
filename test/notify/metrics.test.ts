/** The metrics say what the log of runs says, in names and a format that Prometheus takes; the alerts go by names that there are. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRuns, type RunLine } from '../../src/warehouse/runs-log.ts';
import { metrics, renderMetrics } from '../../src/notify/metrics.ts';
import { summarizeRuns } from '../../src/snapshots/freshness.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '../..');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const line = (day: number, more: Partial<RunLine> = {}): RunLine => ({
  run: `run ${day}`,
  kind: 'sync',
  started_at: `2026-11-${day}T03:00:00.500Z`,
  finished_at: `2026-11-${day}T03:01:00.000Z`,
  outcome: 'published',
  exit_code: 0,
  source: 'test',
  snapshot: null,
  reason: '',
  requests: 178,
  retries: 2,
  ...more,
});

const nights = [
  line(20, { rows: { voters: 514 }, violation_ages: { error: { new: 1, resolved: 0, standing: 4 } } }),
  line(21, { outcome: 'refused', exit_code: 3, steps: { fetch: 1500 } }),
  line(22, { outcome: 'dry run' }),
  line(23, { kind: 'replay' }),
];
const summary = summarizeRuns(nights);

describe('the metrics', () => {
  it('tell the newest success apart from the last sync, and leave dry runs and replays out', () => {
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

  it('are there before anything ran, without a value that nobody knows', () => {
    expect(renderMetrics(summarizeRuns([]))).toBe(
      '# HELP rekap_gate_refusals_total Total syncs that the quality gate refused.\n# TYPE rekap_gate_refusals_total counter\nrekap_gate_refusals_total 0\n',
    );
  });

  it('are written as a file after each sync', async () => {
    const file = join(await temporaryFolder(), 'rekap.prom');
    const warehouse = await temporaryFolder();
    const { code } = await runHere(['sync', '--sample', '--metrics-file', file, '--warehouse', warehouse], {
      PATH: process.env['PATH'] ?? '',
    });
    expect(code).toBe(0);
    const text = await readFile(file, 'utf8');
    expect(text).toContain('rekap_rows{dataset="voters"} 514\n');
    const ofSyncs = Object.keys(metrics).filter((name) => !/^rekap_(schedule|last_push)_/.test(name));
    for (const name of ofSyncs) expect(text, name).toContain(`# TYPE ${name} `);
  });

  it.each(['current/manifest.json', 'snapshots/x', 'landing/x', 'runs.jsonl'])(
    'are refused where the file is %s of the warehouse, also before the first sync',
    async (place) => {
      const warehouse = join(await temporaryFolder(), 'warehouse');
      const words = ['sync', '--sample', '--warehouse', warehouse];
      const withFile = [...words, '--metrics-file', join(warehouse, place)];
      const refused = { code: 2, stderr: expect.stringContaining('--metrics-file') as string };
      expect(await runHere(withFile)).toMatchObject(refused);
      expect((await runHere(words)).code).toBe(0);
      expect(await runHere(withFile)).toMatchObject(refused);
    },
  );

  it('are not written over a file that a link leads to, also where only the sync makes that file', async () => {
    const folder = await temporaryFolder();
    const [warehouse, file] = [join(folder, 'warehouse'), join(folder, 'link')];
    await symlink('warehouse/runs.jsonl', file);
    const words = ['sync', '--sample', '--warehouse', warehouse, '--metrics-file', file];
    const stderr = expect.stringContaining('--metrics-file never writes') as string;
    expect(await runHere(words)).toMatchObject({ code: 0, stderr });
    expect(await readRuns(warehouse)).toHaveLength(1);
    expect(await runHere(words)).toMatchObject({ code: 2, stderr });
  });

  it('tell of a schedule when it syncs next, and whether it does now', () => {
    const nextAt = new Date('2026-11-24T03:00:00Z');
    const waiting = renderMetrics(summary, { isRunning: false, nextAt, retries: 2 });
    expect(waiting).toContain(`rekap_schedule_next_run_timestamp_seconds ${nextAt.getTime() / 1000}\n`);
    expect(waiting).toContain('rekap_schedule_running 0\n');
    expect(waiting).toContain('rekap_schedule_retries_total 2\n');
    const running = renderMetrics(summary, { isRunning: true, nextAt: null, retries: 0 });
    expect(running).toContain('rekap_schedule_running 1\n');
    expect(running).not.toContain('rekap_schedule_next_run_timestamp_seconds ');
  });

  it.skipIf(!hasPromtool)('are what promtool takes (skipped where it is not there)', () => {
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: renderMetrics(summary),
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('the alert rules', () => {
  const file = join(root, 'deploy/prometheus/alerts.yaml');

  it('go by metrics that there are', () => {
    const named = [...readFileSync(file, 'utf8').matchAll(/\brekap_\w+/g)].map(([name]) => name);
    expect(named.length).toBeGreaterThan(4);
    for (const name of named) expect(Object.keys(metrics)).toContain(name);
  });

  it('each have their line in the runbook', () => {
    const runbook = readFileSync(join(root, 'docs/how-to/operate.md'), 'utf8');
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/alert: (\w+)/g))
      expect(runbook).toContain(`| ${name} |`);
  });

  it.skipIf(!hasPromtool)('are what promtool takes (skipped where it is not there)', () => {
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect(stdout).toContain('SUCCESS');
    expect(status).toBe(0);
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

  it('goes by metrics that there are, and shows all that a sync gives', () => {
    const shown = new Set(expressions.flatMap((expr) => expr.match(/\brekap_\w+/g) ?? []));
    for (const name of shown) expect(Object.keys(metrics)).toContain(name);
    const ofSyncs = Object.keys(metrics).filter((name) => !name.startsWith('rekap_schedule_'));
    const isBeside = (name: string): boolean => /_requests$|last_(run|push)_timestamp/.test(name);
    expect(ofSyncs.filter((name) => !shown.has(name) && !isBeside(name))).toEqual([]);
  });

  it('has panels that lie beside each other', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  it.skipIf(!hasPromtool)('asks what promtool takes (skipped where it is not there)', async () => {
    const rules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }));
    const file = join(await temporaryFolder(), 'rules.yaml');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('SUCCESS') as string });
  });
});
