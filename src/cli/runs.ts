/** rekap runs: lists all runs, or shows one in detail. */

import { declareCommand } from './options/option.ts';
import { pick } from './options/all-options.ts';
import { renderTable } from './print/table.ts';
import { paint, printable } from './print/terminal.ts';
import { inColumns, widthOf, wrap } from './print/wrap-text.ts';
import { RekapError } from '../errors.ts';
import { readAllRuns } from '../publish/killed-runs.ts';
import type { RunLine } from '../warehouse/runs-log.ts';
import { requireWarehouse } from '../warehouse/warehouse.ts';
import { formatNumber, formatSeconds } from '../runtime/text.ts';

export const command = declareCommand({
  positionals: { id: 'ID of a run [default: list all]' },
  options: pick('warehouse', 'json'),
  examples: [
    ['rekap runs', 'all runs'],
    ['rekap runs 20261120T030002Z-1f3a9c', 'one run in detail'],
  ],
  async run({ warehouse }, [id]) {
    await requireWarehouse(warehouse);
    const { lines } = await readAllRuns(warehouse);
    if (id === undefined) return { isList: true, lines };
    // A replayed run has several lines.
    const own = lines.filter(({ run }) => run === id);
    if (own.length > 0) return { isList: false, lines: own };
    const message = `Unknown run ${JSON.stringify(id)}.`;
    throw new RekapError('run-not-found', message, 'To list the runs, use "rekap runs".');
  },
  toJson: ({ lines }) => lines,
  print({ isList, lines }) {
    if (lines.length === 0) return 'No runs found.\n';
    return isList ? renderRuns(lines) : `${lines.map(renderRun).join('\n\n')}\n`;
  },
});

function renderRuns(lines: readonly RunLine[]): string {
  const rows = lines.map((line) => [
    line.started_at.slice(0, 16).replace('T', ' '),
    line.kind,
    paint(/^(failed|refused|interrupted)$/.test(line.outcome) ? 'red' : 'green', line.outcome),
    String(line.exit_code),
    formatSeconds(Date.parse(line.finished_at) - Date.parse(line.started_at)),
    line.run ?? '–',
  ]);
  const head = ['started (UTC)', 'kind', 'outcome', 'exit', 'duration', 'run'];
  const [title, ...table] = renderTable(rows, { head, right: [3, 4], width: Number.POSITIVE_INFINITY }).split('\n');
  const texts = lines.flatMap((line, index) => [table[index]!, ...describeReason(line)]);
  return `${[title, ...texts].join('\n')}\n`;
}

function renderRun(line: RunLine): string {
  const width = widthOf(process.stdout);
  const counted = (counts: Readonly<Record<string, number>> = {}, what: string): [string, string][] =>
    Object.entries(counts).map(([name, count]) => [`${what} ${name}`, formatNumber(count)]);
  const facts: [string, string][] = [
    ['outcome', `${line.outcome}, exit code ${line.exit_code}`],
    ['started', line.started_at],
    ['finished', line.finished_at],
    ['source', printable(line.source)],
    ['requests', formatNumber(line.requests)],
    ['retries', formatNumber(line.retries)],
    ...counted(line.statuses, 'responses with'),
    ...counted(line.rows, 'rows of'),
    ['current snapshot', line.snapshot ?? '–'],
  ];
  if (line.reason !== '') facts.push(['reason', printable(line.reason)]);
  const steps = Object.entries(line.steps ?? {}).map(
    ([step, ms]) => [step.replaceAll('_', ' '), formatSeconds(ms)] as const,
  );
  const warnings = (line.warnings ?? []).flatMap((warning) => wrap(`- ${printable(warning)}`, width));
  return [
    paint('bold', `${line.kind} ${line.run}`),
    ...inColumns(facts, width),
    ...(steps.length > 0 ? ['', paint('bold', 'Steps'), ...inColumns(steps, width)] : []),
    ...(warnings.length > 0 ? ['', paint('bold', 'Warnings'), ...warnings] : []),
  ].join('\n');
}

function describeReason({ reason, bucket, kind, snapshot }: RunLine): string[] {
  const first = printable(reason.split('\n')[0]!);
  if (first === '') return bucket === undefined ? [] : [`    ${snapshot} ${kind === 'pull' ? 'from' : 'to'} ${bucket}`];
  return wrap(first, widthOf(process.stdout) - 4).map((line) => `    ${line}`);
}
