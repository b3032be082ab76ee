/** Renders what a probe found, as tables. */

import { whySkipped } from '../../probe/columns.ts';
import type { Probe } from '../../probe/probe.ts';
import { maxRequests } from '../../probe/prober.ts';
import { countOf } from '../../runtime/text.ts';
import { renderTable } from './table.ts';
import { paint, printable } from './terminal.ts';

export function renderProbe(probe: Probe): string {
  const { requests } = probe;
  const sent = requests.map(({ target, status, note }, place) => [
    String(place + 1),
    status === 0 ? '–' : String(status),
    printable(target),
    printable(note),
  ]);
  const head = ['', 'status', 'request', 'what it showed'];
  return [
    section(`${countOf(requests.length, 'request')} of at most ${maxRequests} to ${probe.origin}`, sent, head, [0, 1]),
    section('The list', findings(probe), ['', 'found', 'why']),
    section(
      `Columns, from ${countOf(probe.records.length, 'record')}`,
      probe.columns.map(({ name, definition: { kind, field, nullable }, why }) =>
        [name, nullable === true ? `${kind}, nullable` : kind, field, why].map((text) => printable(text)),
      ),
      ['column', 'kind', 'field', 'why'],
    ),
  ].join('');
}

function section(
  title: string,
  rows: readonly (readonly string[])[],
  head: readonly string[],
  right: readonly number[] = [],
): string {
  return `\n${paint('bold', title)}\n${renderTable(rows, { head, right })}\n`;
}

function findings({ envelope, paging, partition, keys, records, skipped }: Probe): string[][] {
  const { by = 'not found', ...names } = paging.paging ?? {};
  const unique = (different: number): string =>
    different === records.length
      ? `unique in ${records.length} records`
      : `not unique: ${different} different values in ${records.length} records`;
  return [
    ['format', envelope.format === 'json' ? 'JSON' : 'NDJSON', ''],
    ['records', envelope.records === '' ? 'the whole response' : envelope.records, envelope.why],
    ...(envelope.reportedCount === undefined
      ? []
      : [['reported count', envelope.reportedCount.pointer, `it was ${envelope.reportedCount.value}`]]),
    [
      'paging',
      [
        by,
        ...Object.entries(names).map(
          ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
        ),
      ].join(' '),
      paging.why,
    ],
    ...paging.guesses.map((guess) => ['', 'check this', guess]),
    ...(paging.cap === null ? [] : [['page cap', String(paging.cap.size), paging.cap.why]]),
    partition === null
      ? ['partitions', 'none', 'no tried parameter filters the list']
      : ['partitions', partition.parameter, partition.why],
    ...keys.map(({ columns, different }, place) => [place === 0 ? 'key' : 'or', columns.join(', '), unique(different)]),
    ...(keys.length === 0 ? [['key', 'none', 'no column is without null and could identify a record']] : []),
    ...skipped.map((field) => ['left out', field, whySkipped]),
  ].map((row) => row.map((text) => printable(text)));
}
