/** Renders the metrics of a warehouse in the Prometheus text format. */

import type { RunLine } from '../warehouse/runs-log.ts';
import type { RunsSummary } from '../snapshots/freshness.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** All metrics. docs/reference/metrics.md is generated from this. */
export const metrics = {
  rekap_last_success_timestamp_seconds: ['gauge', 'Start of the newest successful sync, in Unix time.'],
  rekap_last_run_timestamp_seconds: ['gauge', 'Start of the last sync, in Unix time.'],
  rekap_last_run_exit_code: ['gauge', 'Exit code of the last sync.'],
  rekap_last_run_duration_seconds: ['gauge', 'Duration of the last sync in seconds, by step.'],
  rekap_last_run_requests: ['gauge', 'Requests sent by the last sync.'],
  rekap_last_run_responses: ['gauge', 'Responses received by the last sync, by status.'],
  rekap_last_run_retries: ['gauge', 'Retried requests of the last sync.'],
  rekap_last_run_received_bytes: ['gauge', 'Bytes received by the last sync.'],
  rekap_rows: ['gauge', 'Rows after the newest successful sync, by dataset.'],
  rekap_quarantined_records: ['gauge', 'Records in quarantine after the newest successful sync, by dataset.'],
  rekap_violations: [
    'gauge',
    'Violations after the newest successful sync, by severity and age (new, resolved, standing).',
  ],
  rekap_runs_total: ['counter', 'Total syncs, by outcome.'],
  rekap_gate_refusals_total: ['counter', 'Total syncs that the quality gate refused.'],
  rekap_last_push_timestamp_seconds: ['gauge', 'Start of the last push, in Unix time.'],
  rekap_last_push_exit_code: ['gauge', 'Exit code of the last push.'],
  rekap_schedule_next_run_timestamp_seconds: [
    'gauge',
    'Start of the next sync, in Unix time. Only from `rekap schedule`.',
  ],
  rekap_schedule_running: [
    'gauge',
    '1 while a sync runs. 0 while waiting for the next sync or a retry. Only from `rekap schedule`.',
  ],
  rekap_schedule_retries_total: ['counter', 'Retried syncs since the scheduler started. Only from `rekap schedule`.'],
} as const satisfies Readonly<Record<string, readonly [type: 'gauge' | 'counter', help: string]>>;

type MetricName = keyof typeof metrics;

export interface ScheduleState {
  isRunning: boolean;
  /** When the next sync begins; null while one runs. */
  nextAt: Date | null;
  retries: number;
}

type Samples = Partial<Record<MetricName, readonly Sample[]>>;

export function renderMetrics(runs: RunsSummary, schedule?: Readonly<ScheduleState>): string {
  const { last, success, push, outcomes, refusals } = runs;
  const samples: Samples = {
    ...(success !== null && describeSuccess(success)),
    ...(last !== null && describeLast(last)),
    ...(push !== null && {
      rekap_last_push_timestamp_seconds: [[{}, unixTime(push.started_at)]],
      rekap_last_push_exit_code: [[{}, push.exit_code]],
    }),
    rekap_runs_total: byLabel('outcome', Object.fromEntries([...outcomes].toSorted(([a], [b]) => (a < b ? -1 : 1)))),
    rekap_gate_refusals_total: [[{}, refusals]],
    ...(schedule !== undefined && {
      rekap_schedule_next_run_timestamp_seconds:
        schedule.nextAt === null ? [] : [[{}, Math.floor(schedule.nextAt.getTime() / 1000)]],
      rekap_schedule_running: [[{}, schedule.isRunning ? 1 : 0]],
      rekap_schedule_retries_total: [[{}, schedule.retries]],
    }),
  };
  return Object.entries(metrics)
    .flatMap(([name, [type, help]]) => {
      const own = samples[name as MetricName] ?? [];
      if (own.length === 0) return [];
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...own.map((sample) => renderSample(name, sample))];
    })
    .map((line) => `${line}\n`)
    .join('');
}

function describeSuccess({ started_at, rows, quarantined, violation_ages = {} }: RunLine): Samples {
  return {
    rekap_last_success_timestamp_seconds: [[{}, unixTime(started_at)]],
    rekap_rows: byLabel('dataset', rows),
    rekap_quarantined_records: byLabel('dataset', quarantined),
    rekap_violations: Object.entries(violation_ages).flatMap(([severity, ages]) =>
      byLabel('age', ages).map(([age, count]) => [{ severity, ...age }, count] as const),
    ),
  };
}

function describeLast({ started_at, exit_code, steps = {}, requests, statuses, retries, bytes }: RunLine): Samples {
  return {
    rekap_last_run_timestamp_seconds: [[{}, unixTime(started_at)]],
    rekap_last_run_exit_code: [[{}, exit_code]],
    rekap_last_run_duration_seconds: byLabel('step', steps).map(([step, ms]) => [step, ms / 1000] as const),
    rekap_last_run_requests: [[{}, requests]],
    rekap_last_run_responses: byLabel('status', statuses),
    rekap_last_run_retries: [[{}, retries]],
    rekap_last_run_received_bytes: bytes === undefined ? [] : [[{}, bytes]],
  };
}

function byLabel(label: string, counts: Readonly<Record<string, number>> = {}): Sample[] {
  return Object.entries(counts).map(([value, count]) => [{ [label]: value }, count]);
}

function unixTime(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

function renderSample(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) =>
      `${label}="${text.replaceAll(/["\\\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))}"`,
  );
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}
