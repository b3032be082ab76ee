/** rekap status: reports whether the data is fresh, as a line of text and an exit code. */

import { usageError } from './options/usage-error.ts';
import { readAllRuns } from '../publish/killed-runs.ts';
import { countOf, formatAge, formatNumber } from '../runtime/text.ts';
import { judgeStatus, type Status } from '../snapshots/freshness.ts';
import type { RunLine } from '../warehouse/runs-log.ts';
import { readPinnedId, requireWarehouse } from '../warehouse/warehouse.ts';
import { pick } from './options/all-options.ts';
import { nameOption } from './options/invocation.ts';
import { declareCommand } from './options/option.ts';
import { complete, paint, printable } from './print/terminal.ts';
import { fitLines } from './print/wrap-text.ts';

const colors = { fresh: 'green', stale: 'red', failed: 'red' } as const;

export const command = declareCommand({
  options: pick('warehouse', 'max-age', 'json'),
  examples: [
    ['rekap status', 'exit code 0 fresh, 6 stale, 7 last run failed'],
    ['rekap status --max-age 8d', 'for a weekly sync'],
  ],
  async run({ warehouse, 'max-age': maxAge }) {
    const bound = readDuration(maxAge, 'max-age');
    await requireWarehouse(warehouse);
    const { lines, running } = await readAllRuns(warehouse);
    return { ...judgeStatus(lines, new Date(), bound), bound, running, pinned: await readPinnedId(warehouse) };
  },
  toJson: ({ state, exitCode, age, bound, newestSuccess, newestPublished, failure, running, pinned }) => ({
    state,
    exit_code: exitCode,
    age_seconds: age === null ? null : Math.round(age / 1000),
    max_age_seconds: bound / 1000,
    newest_success: newestSuccess,
    newest_published: newestPublished,
    failure,
    unended_run: running,
    pinned,
  }),
  print({ running, pinned, ...status }) {
    const lines = [`${paint([colors[status.state], 'bold'], status.state)}: ${printable(describe(status))}`];
    lines.push(...(status.newestSuccess?.notes ?? []).map((note) => printable(note)));
    if (pinned !== null)
      lines.push(`Snapshot ${pinned} is pinned. It stays current until you run ${complete('"rekap sync --unpin"')}.`);
    if (running !== null) lines.push(`Run ${running} is running.`);
    return fitLines(`${lines.join('\n')}\n`, process.stdout);
  },
  finish: ({ exitCode }) => exitCode,
});

/** Maximum characters of a reason. `rekap runs` shows all. */
const maxReasonLength = 200;

function describe({ state, newestSuccess, newestPublished, failure, age }: Status): string {
  const what = failure?.kind === 'push' ? 'push' : failure?.kind === 'lake' ? 'publication to the catalog' : 'run';
  const failed = failure === null ? [] : [`last ${what} failed: ${shorten(failure.reason)}`];
  if (newestSuccess === null)
    return failed.length === 0 ? 'nothing is published yet' : `nothing is published; ${failed[0]}`;
  if (state !== 'fresh') return [`last success ${formatAge(age!)} ago`, ...failed].join('; ');
  const published = newestPublished ?? newestSuccess;
  const at = `${published.started_at.slice(0, 16).replace('T', ' ')} UTC`;
  const when =
    newestSuccess.outcome === 'unchanged'
      ? `unchanged since ${at}, checked ${formatAge(age!)} ago`
      : `${published.outcome} ${at} (${formatAge(age!)} ago)`;
  return [when, ...describeContent(newestSuccess)].join(', ');
}

/** Returns the first line of a reason, the first item of its list, and the number of other lines. Cuts it after a word. */
function shorten(reason: string): string {
  const [first, second, ...others] = reason.split('\n').map((line) => line.replace(/^ *(- )?/, ''));
  const text = second === undefined ? first! : `${first} ${second}`;
  const shown = text.length > maxReasonLength ? `${text.slice(0, maxReasonLength).replace(/\s+\S*$/, '')}…` : text;
  return others.length === 0 ? shown : `${shown} (and ${formatNumber(others.length)} more)`;
}

function describeContent({ rows = {}, violation_ages: ages = {} }: RunLine): string[] {
  const counts = Object.values(rows).map((count) => formatNumber(count));
  const errors = ages['error'] ?? { new: 0, standing: 0 };
  return [
    ...(counts.length > 0 ? [`${counts.join(' + ')} rows`] : []),
    ...(errors.new > 0 ? [countOf(errors.new, 'new error')] : []),
    ...(errors.standing > 0 ? [countOf(errors.standing, 'earlier error')] : []),
  ];
}

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns milliseconds. @throws `usage` if the text isn't a duration. */
export function readDuration(text: string, option: string): number {
  const [, number, unit] = /^(\d{1,6})\s*([smhd])$/.exec(text.trim()) ?? [];
  if (number !== undefined && Number(number) > 0) return Number(number) * units[unit!]!;
  throw usageError(
    `${nameOption(option)} ${JSON.stringify(text)} is not a valid duration.`,
    'Use a number followed by s, m, h or d, such as 26h.',
  );
}
