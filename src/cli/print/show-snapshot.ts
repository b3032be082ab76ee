/** Renders the manifest of a snapshot as text. */

import { countPartitions, listGrades, nameSource } from './sync-summary.ts';
import { renderTable } from './table.ts';
import { paint, printable } from './terminal.ts';
import { fitLines } from './wrap-text.ts';
import { formatBytes, formatNumber } from '../../runtime/text.ts';
import type { Verdict } from '../../stages.ts';
import type { Snapshot } from '../../warehouse/warehouse.ts';

export function renderSnapshot({ id, folder, manifest }: Snapshot): string {
  const datasets = Object.entries(manifest.datasets).map(([table, dataset]) => {
    const isWhole = dataset.partitions.every(({ partition }) => partition === null);
    const read = dataset.partitions.filter(
      ({ partition, received }) => (isWhole || partition !== null) && received > 0,
    );
    const violations = Object.values(dataset.violations).reduce((sum, count) => sum + count, 0);
    return [
      printable(table),
      formatNumber(dataset.rows),
      formatNumber(dataset.quarantined),
      formatNumber(violations),
      countPartitions(dataset.partitions),
      howProved(read),
      listGrades(read),
      whenRead(read),
    ];
  });
  const files = manifest.files.map(({ path, bytes, sha256 }) => [
    printable(path),
    formatBytes(bytes),
    `${printable(sha256.slice(0, 16))}…`,
  ]);
  const prose = (text: string): string => fitLines(text, process.stdout);
  return [
    prose(
      `Snapshot ${paint('bold', id)} from ${nameSource(manifest.source)}, created ${shortTime(manifest.created_at)} UTC by ${manifest.tool.name} ${printable(manifest.tool.version)}`,
    ),
    manifest.previous === null
      ? 'This is the first snapshot of its history.'
      : `Previous snapshot: ${printable(manifest.previous)}`,
    '',
    renderTable(datasets, {
      head: ['dataset', 'rows', 'in quarantine', 'violations', 'partitions', 'proved complete', 'proof', 'read (UTC)'],
      right: [1, 2, 3, 4],
    }).trimEnd(),
    '',
    renderTable(files, { head: ['file', 'size', 'SHA-256'], right: [1] }),
    ...(manifest.warnings.length > 0
      ? ['', 'Warnings:', ...manifest.warnings.map((warning) => prose(`  ${printable(warning)}`))]
      : []),
    '',
    folder,
    '',
  ].join('\n');
}

function howProved(read: readonly Verdict[]): string {
  const byList = read.filter(({ proof }) => proof === 'full listing').length;
  const windows = read.filter(({ window }) => window !== undefined).length;
  const parts = [
    [byList, byList === 1 ? 'matches the full listing' : 'match the full listing'],
    [windows, 'window of what changed'],
    [read.length - byList - windows, 'read to the end'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, how]) => `${formatNumber(count)} ${how}`)
    .join(', ');
}

/** Returns the first and the last time that a partition was read, with seconds only if both are in the same minute. */
function whenRead(read: readonly Verdict[]): string {
  const times = read.map(({ read_at }) => read_at).toSorted();
  const [first, last] = [times[0], times.at(-1)];
  if (first === undefined || last === undefined) return '';
  if (shortTime(first) !== shortTime(last)) return `${shortTime(first)} to ${shortTime(last)}`;
  const [from, to] = [shortTime(first, 19), shortTime(last, 19)];
  return from === to ? from : `${from} to ${to}`;
}

/** Returns the time to the minute, or with a length of 19, to the second. */
function shortTime(iso: string, length = 16): string {
  return printable(iso.slice(0, length).replace('T', ' '));
}
