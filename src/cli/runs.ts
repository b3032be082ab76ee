/** rekap runs: lists all runs, or shows one in detail. */

import { declareCommand } from './options/option.ts';
import { readDuration } from './options/duration.ts';
import { jsonOption, warehouseOption } from './options/shared.ts';
import { paint, printable, printJson } from './print/terminal.ts';
import { inColumns, widthOf, wrap } from './print/wrap-text.ts';
import { RekapError } from '../errors.ts';
import type { RunLine } from '../warehouse/runs-log.ts';
import { formatNumber, formatSeconds } from '../runtime/text.ts';

const options = { ...warehouseOption, ...jsonOption } as const;

export const listRunsCommand = declareCommand({
  options: {
    ...options,
    failed: { type: 'boolean', describe: 'only runs that failed, were refused or were interrupted' },
    since: {
      type: 'string',
      describe: 'only runs since a time: a duration such as 7d, or a date such as 2026-11-20',
    },
  },
  examples: [
    ['rekap runs', 'all runs'],
    ['rekap runs --failed --since 30d', 'failed runs of the last 30 days'],
  ],
  async run({ warehouse, json, failed, since }) {
    const from = since === undefined ? 0 : readSince(since);
    const [{ readAllRuns }, { requireWarehouse }, { renderTable }] = await Promise.all([
      import('../publish/killed-runs.ts'),
      import('../warehouse/warehouse.ts'),
      import('./print/table.ts'),
    ]);
    await requireWarehouse(warehouse);
    const lines = (await readAllRuns(warehouse)).lines.filter(
      (line) => Date.parse(line.started_at) >= from && (!failed || isFailure(line)),
    );
    if (json) return printJson(lines);
    if (lines.length === 0) return void process.stdout.write('No runs found.\n');
    const rows = lines.map((line) => [
      line.started_at.slice(0, 16).replace('T', ' '),
      line.kind,
      paint(isFailure(line) ? 'red' : 'green', line.outcome),
      String(line.exit_code),
      duration(line),
      line.run ?? '–',
    ]);
    const head = ['started (UTC)', 'kind', 'outcome', 'exit', 'duration', 'run'];
    const [title, ...table] = renderTable(rows, { head, right: [3, 4], width: Number.POSITIVE_INFINITY }).split('\n');
    const texts = lines.flatMap((line, index) => [table[index]!, ...describeReason(line)]);
    process.stdout.write(`${[title, ...texts].join('\n')}\n`);
  },
});

export const showRunCommand = declareCommand({
  positionals: { id: 'ID of a run, as shown by "rekap runs"' },
  options,
  examples: [['rekap runs show 20261120T030002Z-1f3a9c', 'show one run']],
  async run({ warehouse, json }, [id]) {
    const [{ readAllRuns }, { requireWarehouse }] = await Promise.all([
      import('../publish/killed-runs.ts'),
      import('../warehouse/warehouse.ts'),
    ]);
    await requireWarehouse(warehouse);
    // A replayed run has several lines.
    const lines = (await readAllRuns(warehouse)).lines.filter(({ run }) => run === id);
    if (lines.length === 0)
      throw new RekapError(
        'run-not-found',
        `Unknown run ${JSON.stringify(id)}.`,
        'To list the runs, use "rekap runs".',
      );
    if (json) return printJson(lines);
    const width = widthOf(process.stdout);
    const blocks = lines.map((line) => {
      const facts: [string, string][] = [
        ['outcome', `${line.outcome}, exit code ${line.exit_code}`],
        ['started', line.started_at],
        ['finished', line.finished_at],
        ['source', printable(line.source)],
        ['requests', formatNumber(line.requests)],
        ['retries', formatNumber(line.retries)],
        ...Object.entries(line.statuses ?? {}).map(([status, count]): [string, string] => [
          `responses with ${status}`,
          formatNumber(count),
        ]),
        ...Object.entries(line.rows ?? {}).map(([table, count]): [string, string] => [
          `rows of ${table}`,
          formatNumber(count),
        ]),
        ['current snapshot', line.snapshot ?? '–'],
        ...(line.reason === '' ? [] : [['reason', printable(line.reason, 2000)] as [string, string]]),
      ];
      const steps = Object.entries(line.steps ?? {}).map(([step, ms]): [string, string] => [
        step.replaceAll('_', ' '),
        formatSeconds(ms),
      ]);
      const warnings = (line.warnings ?? []).flatMap((warning) => wrap(`- ${printable(warning, 2000)}`, width));
      return [
        paint('bold', `${line.kind} ${line.run}`),
        ...inColumns(facts, width),
        ...(steps.length > 0 ? ['', paint('bold', 'Steps'), ...inColumns(steps, width)] : []),
        ...(warnings.length > 0 ? ['', paint('bold', 'Warnings'), ...warnings] : []),
      ].join('\n');
    });
    process.stdout.write(`${blocks.join('\n\n')}\n`);
  },
});

function describeReason({ reason, bucket, kind, snapshot }: RunLine): string[] {
  const first = printable(reason.split('\n')[0]!, 2000);
  if (first === '') return bucket === undefined ? [] : [`    ${snapshot} ${kind === 'pull' ? 'from' : 'to'} ${bucket}`];
  return wrap(first, widthOf(process.stdout) - 4).map((line) => `    ${line}`);
}

function isFailure({ outcome }: RunLine): boolean {
  return outcome === 'failed' || outcome === 'refused' || outcome === 'interrupted';
}

function duration({ started_at, finished_at }: RunLine): string {
  return formatSeconds(Date.parse(finished_at) - Date.parse(started_at));
}

/** Returns milliseconds since 1970. */
function readSince(text: string): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(day) ? Date.now() - readDuration(text, 'since') : day;
}
