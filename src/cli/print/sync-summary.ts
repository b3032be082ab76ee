/** Renders the summary of a sync: the datasets, changes, failed checks and requests, and the paths of the files. */

import { join } from 'node:path';
import { allOptions } from '../options/all-options.ts';
import { renderTable } from './table.ts';
import { complete, paint, printable } from './terminal.ts';
import { fitLines } from './wrap-text.ts';
import type { Project } from '../../project/declaration.ts';
import type { ViolationAges } from '../../load/violation-history.ts';
import type { SyncResult } from '../../publish/run.ts';
import { countOf, formatBytes, formatNumber, formatSeconds } from '../../runtime/text.ts';
import { grades, type Verdict } from '../../stages.ts';
import { describeReadings } from '../../warehouse/describe-reading.ts';
import { databaseFile, type Manifest, type ManifestDataset, reportFile } from '../../warehouse/snapshot-format.ts';

const longestExample = 300;

export function renderSummary(result: SyncResult, project: Project): string {
  const prose = (text: string): string => fitLines(text, process.stdout);
  const head = [headline(result), describePin(result)].filter((line) => line !== '');
  const isUnchanged = result.outcome === 'unchanged';
  const parts = isUnchanged
    ? [...head, describeContents(result, project), ...notes(result), requests(result), warnings(result)].map(prose)
    : [
        prose(head.join('\n')),
        datasetTable(result, project),
        ...[notes(result).join('\n'), changes(result), brokenChecks(result), requests(result)].map(prose),
        warnings(result),
        places(result),
      ];
  return `${parts.filter((part) => part !== '').join(isUnchanged ? '\n' : '\n\n')}\n`;
}

function headline({ kind, outcome, run, snapshot, current, equals, manifest }: SyncResult): string {
  const source = nameSource(manifest.source);
  const id = (name: string | null): string => paint('bold', name ?? '');
  const done = (text: string): string => paint(['green', 'bold'], text);
  const parquet = manifest.files.filter(({ path }) => path.endsWith('.parquet')).length;
  const same = `with the same figures and ${parquet} identical Parquet files.`;
  const from = kind === 'replay' ? `from the responses of run ${manifest.run}: ${source}` : `from ${source}`;
  switch (outcome) {
    case 'reproduced': {
      const how =
        equals === null
          ? 'with the same rows and figures. Its history refers to other snapshots and was not compared.'
          : same;
      return `${done('Reproduced')} snapshot ${id(snapshot)} from ${origin(manifest)}, ${how}`;
    }
    case 'published': {
      const equal = equals === null ? '' : ` It equals snapshot ${equals}, ${same}`;
      return `${done('Published')} snapshot ${id(run)} ${from}.${equal}`;
    }
    case 'held':
      return `${done('Kept')} snapshot ${id(run)} ${from}, but did not make it current.`;
    case 'unchanged':
      if (snapshot !== current) return `${done('No changes')} at ${source} since snapshot ${id(snapshot)}.`;
      return `${done(isPartial(manifest) ? 'No changes in the requested data' : 'No changes')} at ${source}: snapshot ${id(current)} stays current.`;
    case 'dry run': {
      const what =
        kind === 'replay'
          ? 'the replayed run was a dry run too. All data was checked again.'
          : 'all data was fetched and checked.';
      return `${paint(['cyan', 'bold'], 'Dry run:')} ${what} Nothing was published.`;
    }
  }
}

/** Says how far the proof reaches, if only what changed was read. */
function notes({ manifest }: SyncResult): string[] {
  return describeReadings(manifest.datasets).map((note) => printable(note));
}

/** Explains why a new snapshot doesn't become current. Returns an empty string if it does. */
function describePin({ pinned, current, warehouse }: SyncResult): string {
  if (pinned === null) return '';
  return `Snapshot ${paint('bold', pinned)} is pinned, so ${pinned === current ? 'it' : current} stays current until you run ${command('sync --unpin', warehouse)}.`;
}

/** Returns a command with the warehouse of the run. A replay can write to another warehouse than the command line names. */
function command(line: string, warehouse: string): string {
  return complete(`"rekap ${line}"`, warehouse === allOptions.warehouse.default ? null : warehouse);
}

export function nameSource(source: string): string {
  return source === 'sample' ? 'the sample (for testing only)' : printable(source);
}

function isPartial({ datasets }: Manifest): boolean {
  return Object.values(datasets).some(({ carried_over, reading }) => carried_over > 0 && reading?.scope !== 'window');
}

/** Names what a replay was built from. The responses of a partial run contain only a part of the rows. */
function origin({ datasets, previous, run }: Manifest): string {
  const all = Object.values(datasets);
  const carried = all.reduce((total, dataset) => total + dataset.carried_over, 0);
  if (carried === 0) return `the responses of run ${run}`;
  const read = all.reduce((total, dataset) => total + dataset.ledger.published, 0);
  return `the responses of run ${run} (${countOf(read, 'row')}) and snapshot ${previous} (${countOf(carried, 'row')} carried over)`;
}

function datasetTable({ manifest, run }: SyncResult, { pipelines }: Project): string {
  const rows = pipelines.flatMap(({ table }): Record<string, string>[] => {
    const dataset = manifest.datasets[table];
    if (dataset === undefined || (dataset.partitions.length === 0 && dataset.rows === 0)) return [];
    const { ledger, violations, carried_over, rows: count } = dataset;
    const now = readNow(run, dataset);
    return [
      {
        dataset: table,
        partitions: countPartitions(now),
        pages: formatNumber(countPages(now)),
        records: formatNumber(ledger.fetched),
        published: formatNumber(ledger.published),
        quarantined: formatNumber(ledger.quarantined),
        duplicates: formatNumber(ledger.duplicates),
        'carried over': formatNumber(carried_over),
        rows: formatNumber(count),
        violations: formatNumber(Object.values(violations).reduce((total, each) => total + each, 0)),
        proof: listGrades(now),
      },
    ];
  });
  const isShown = (name: string): boolean => name !== 'carried over' || rows.some((row) => row[name] !== '0');
  const head = Object.keys(rows[0] ?? { dataset: '' }).filter(isShown);
  const right = head.flatMap((name, index) => (name === 'dataset' || name === 'proof' ? [] : [index]));
  const cells = rows.map((row) => head.map((name) => row[name]!));
  return renderTable(cells, { head, right });
}

function changes({ kind, run, manifest, outcome, pruned, warehouse }: SyncResult): string {
  const lines = Object.entries(manifest.datasets).flatMap(([table, dataset]) => {
    const { added, removed, changed } = dataset.changes;
    const counts = `${countOf(changed, 'record')} changed, ${formatNumber(added)} added, ${formatNumber(removed)} removed`;
    return added + removed + changed === 0 ? [] : [`  ${table}: ${counts}`];
  });
  if (lines.length === 0) return '';
  const { previous } = manifest;
  // The folder of a replay may not contain the previous snapshot.
  const canCompare = kind === 'sync' && !pruned.some((id) => id === previous);
  const diff = outcome === 'held' ? `diff ${previous} ${run}` : 'diff';
  const next = canCompare ? `run ${command(diff, warehouse)}` : 'query the table changes';
  const details = outcome === 'dry run' ? '' : ` (for details, ${next})`;
  return [`${paint('bold', `Changes since snapshot ${previous}`)}${details}`, ...lines].join('\n');
}

/** Mentions duplicates: the key may be too short, or a field may be missing in it. */
function describeDuplicates({ datasets }: Manifest): string {
  const count = Object.values(datasets).reduce((sum, { ledger }) => sum + ledger.duplicates, 0);
  return count === 0
    ? ''
    : ` ${countOf(count, 'record')} equal to another one with the same key ${count === 1 ? 'is' : 'are'} left out.`;
}

/** Lists new violations by name, and counts those that the previous snapshot already had. */
function brokenChecks({ broken_checks: checks, outcome, manifest }: SyncResult): string {
  const ages = manifest.previous === null ? [] : agesOf(manifest).map((line) => paint('bold', line));
  if (checks.length === 0) return [`All checks pass.${describeDuplicates(manifest)}`, ...ages].join('\n');
  const isDry = outcome === 'dry run';
  const lines = checks.flatMap(({ dataset, check, severity, count, new: fresh, examples }) => {
    const isFirst = manifest.previous === null;
    const named = isFirst ? count : fresh;
    const shown = examples.slice(0, named);
    const more = `and ${formatNumber(named - shown.length)} more${isDry ? '' : ' in the table violations'}`;
    return [
      `${paint(severity === 'error' ? 'red' : 'yellow', severity.padEnd(7))}  ${paint('bold', check)} in ${dataset}: ${isFirst ? formatNumber(count) : countAges({ new: fresh, resolved: 0, standing: count - fresh })}`,
      ...shown.map(
        ({ partition, place, message }) =>
          `           ${printable(place === '' ? `partition ${partition}` : place, longestExample)}: ${printable(message, longestExample)}`,
      ),
      ...(named > shown.length ? [paint('dim', `           ${more}`)] : []),
    ];
  });
  return [
    `Checks that fail (facts about the source; the rows ${isDry ? 'would be' : 'are'} published and flagged):`,
    ...ages,
    ...lines,
  ].join('\n');
}

/** Returns a line per severity, such as "errors: 2 new, 1 resolved, 4 from earlier". */
function agesOf({ violation_ages: ages }: Manifest): string[] {
  return Object.entries(ages)
    .filter(([, { new: fresh, resolved, standing }]) => fresh + resolved + standing > 0)
    .map(([severity, counts]) => `${severity}s: ${countAges(counts)}`);
}

function countAges({ new: fresh, resolved, standing }: ViolationAges): string {
  return Object.entries({ new: fresh, resolved, 'from earlier': standing })
    .flatMap(([age, count]) => (count === 0 ? [] : [`${formatNumber(count)} ${age}`]))
    .join(', ');
}

function describeContents({ manifest }: SyncResult, { pipelines }: Project): string {
  const rows = pipelines.flatMap(({ table }) => {
    const dataset = manifest.datasets[table];
    return dataset === undefined ? [] : [`${formatNumber(dataset.rows)} ${table}`];
  });
  return [rows.join(', '), ...agesOf(manifest)].join('; ');
}

/** Returns the verdicts of this run, without those of partitions that were carried over. */
function readNow(run: string, { partitions }: ManifestDataset): Verdict[] {
  return partitions.filter((verdict) => verdict.run === run);
}

function requests({ kind, figures, manifest, run }: SyncResult): string {
  const { requests: count, retries, bytes, throttled, lowest_concurrency, from_landing, milliseconds } = figures;
  const took = formatSeconds(milliseconds);
  if (kind === 'replay') return `${countOf(from_landing, 'page')} read from the stored responses, 0 requests, ${took}`;
  const landed = from_landing === 0 ? '' : `${countOf(from_landing, 'page')} from stored responses, `;
  const retried = `${formatNumber(retries)} ${retries === 1 ? 'retry' : 'retries'}`;
  const pages = countPages(Object.values(manifest.datasets).flatMap((dataset) => readNow(run, dataset)));
  const checks = count - retries - pages;
  const named = from_landing > 0 || checks <= 0 ? '' : `${countOf(checks, 'completeness check')}, `;
  const slower =
    throttled === 0
      ? ''
      : `throttled ${throttled === 1 ? 'once' : `${formatNumber(throttled)} times`} to ${countOf(lowest_concurrency, 'concurrent request')}, `;
  return `${countOf(count, 'request')} (${named}${retried}), ${landed}${slower}${formatBytes(bytes)}, ${took}`;
}

/** Counts the warnings, because standard output doesn't contain them. */
function warnings({ warnings: { length } }: SyncResult): string {
  return length === 0 ? '' : paint('yellow', `${countOf(length, 'warning')}, printed on standard error`);
}

function places({ outcome, current, warehouse, landing, snapshot, pruned, manifest }: SyncResult): string {
  if (outcome === 'dry run' && landing !== null) return `The responses are stored in ${landing}`;
  const folder = current === snapshot ? join(warehouse, 'current') : join(warehouse, 'snapshots', snapshot ?? '');
  const hasReport = manifest.files.some(({ path }) => path === reportFile);
  const lines = [
    ...(hasReport ? [['Report', join(folder, reportFile)]] : []),
    ['DuckDB', join(folder, databaseFile)],
    ['Parquet', join(folder, 'parquet')],
    ['Manifest', join(folder, 'manifest.json')],
    ['Responses', landing ?? 'not stored (--keep-landing)'],
  ].map(([name, path]) => `${name!.padEnd(9)} ${path}`);
  if (pruned.length > 0)
    lines.push(paint('dim', `${pruned.length === 1 ? '1 old snapshot' : `${pruned.length} old snapshots`} removed`));
  return lines.join('\n');
}

function countPages(verdicts: readonly Verdict[]): number {
  return verdicts.reduce((total, { pages }) => total + pages, 0);
}

export function listGrades(verdicts: readonly Verdict[]): string {
  return grades.filter((grade) => verdicts.some((verdict) => verdict.grade === grade)).join(', ');
}

/** Returns "84", or "75 (84 requested)" if the source has no records for some partitions. */
export function countPartitions(verdicts: readonly Verdict[]): string {
  const requested = verdicts.filter(({ partition }) => partition !== null);
  if (requested.length === 0) return '–';
  const read = requested.filter(({ received }) => received > 0);
  const count = formatNumber(read.length);
  return read.length === requested.length ? count : `${count} (${formatNumber(requested.length)} requested)`;
}
