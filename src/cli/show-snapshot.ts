/** A snapshot's manifest as text: datasets, files, and how each was proved. */

import type { Snapshot } from '../warehouse.ts';
import { countDistricts } from './count-districts.ts';
import { formatBytes } from './sync-summary.ts';
import { renderTable } from './table.ts';
import { formatNumber, paint, printable } from './terminal.ts';

export function renderSnapshot({ id, folder, manifest }: Snapshot): string {
  const datasets = Object.entries(manifest.datasets).map(([table, dataset]) => {
    const read = dataset.districts.filter(({ dapil, received }) => dapil !== null && received > 0);
    const bySweep = read.filter(({ proof }) => proof === 'sweep').length;
    const times = read.map(({ readAt }) => readAt).toSorted();
    const violations = Object.values(dataset.violations).reduce((sum, count) => sum + count, 0);
    return [
      table,
      formatNumber(dataset.rows),
      formatNumber(dataset.quarantined),
      formatNumber(violations),
      countDistricts(dataset.districts),
      `${formatNumber(bySweep)} by the sweep, ${formatNumber(read.length - bySweep)} by an empty page`,
      times.length === 0 ? '' : `${shortTime(times[0]!)} to ${shortTime(times.at(-1)!)}`,
    ];
  });
  const files = manifest.files.map(({ path, bytes, sha256 }) => [path, formatBytes(bytes), sha256.slice(0, 16)]);
  return [
    `Snapshot ${paint('bold', id)} of ${printable(manifest.source)}, made ${shortTime(manifest.created_at)} UTC by ${manifest.tool.name} ${printable(manifest.tool.version)}`,
    manifest.previous === null ? 'The first of its warehouse.' : `The one before: ${printable(manifest.previous)}`,
    '',
    renderTable(datasets, {
      head: ['dataset', 'rows', 'quarantined', 'violations', 'districts', 'proved complete', 'read (UTC)'],
      right: [1, 2, 3, 4],
      whole: [0, 5, 6],
    }),
    '',
    renderTable(files, { head: ['file', 'size', 'SHA-256'], right: [1], whole: [0] }),
    ...(manifest.warnings.length > 0
      ? ['', 'Warnings:', ...manifest.warnings.map((warning) => `  ${printable(warning)}`)]
      : []),
    '',
    folder,
    '',
  ].join('\n');
}

function shortTime(iso: string): string {
  return printable(iso.slice(0, 16).replace('T', ' '));
}
