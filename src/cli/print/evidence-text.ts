/** Renders evidence as text, in English or Indonesian. */

import { paint, printable } from './terminal.ts';
import { wrap } from './wrap-text.ts';
import type { Language } from '../../project/sql-file.ts';
import { formatNumber } from '../../runtime/text.ts';
import type { Evidence, EvidenceFigure, PastEvent, EvidenceViolation } from '../../snapshots/find-evidence.ts';
import type { ReceivedRecord } from '../../snapshots/received-records.ts';

const translations = {
  en: {
    partition: 'partition',
    since: 'since',
    error: 'error',
    warning: 'warning',
    sum: 'sum',
    difference: 'difference',
    empty: 'No records are in quarantine.',
    none: 'All checks pass.',
    quarantined: 'In quarantine',
    received: 'As received from the source',
    'full listing': 'from the full listing',
    'partition listing': 'from the partition listing',
    place: 'record',
    same: 'Both listings contain the same record:',
    one: 'Record:',
    nothing: 'The stored responses do not contain this record.',
    history: 'History',
    restated: 'changed:',
    appeared: 'appeared',
    resolved: 'resolved',
  },
  id: {
    partition: 'bagian',
    since: 'sejak',
    error: 'kesalahan',
    warning: 'peringatan',
    sum: 'jumlah',
    difference: 'selisih',
    empty: 'Tidak ada data yang dikarantina.',
    none: 'Data lolos semua pemeriksaan.',
    quarantined: 'Data dikarantina',
    received: 'Asal-usul data',
    'full listing': 'dari daftar lengkap',
    'partition listing': 'dari daftar per bagian',
    place: 'data nomor',
    same: 'Kedua daftar memuat data yang sama:',
    one: 'Isi data:',
    nothing: 'Data ini tidak ditemukan dalam respons yang tersimpan.',
    history: 'Riwayat perubahan',
    restated: 'berubah:',
    appeared: 'muncul',
    resolved: 'teratasi',
  },
} as const satisfies Readonly<Record<Language, Readonly<Record<string, string>>>>;
type Labels = (typeof translations)[Language];

/** @param width Maximum line length, except for names and URLs. */
export function renderEvidence(found: readonly Evidence[], language: Language, width: number): string {
  const labels = translations[language];
  if (found.length === 0) return `${labels.empty}\n`;
  return `${found.map((evidence) => renderOne(evidence, labels, language, width)).join('\n\n\n')}\n`;
}

function renderOne(evidence: Evidence, labels: Labels, language: Language, width: number): string {
  const { dataset, place, quarantined, figures, violations, records, history } = evidence;
  const head =
    place === null
      ? `${paint('bold', dataset)}\n${paint('red', labels.quarantined)}: ${printable(quarantined ?? '')}`
      : paint(
          'bold',
          `${dataset}: ${Object.values(place)
            .toReversed()
            .map((value) => printable(value))
            .join(', ')}`,
        );
  const parts = [
    head,
    ...(figures.length > 0 ? [renderFigures(figures, language).join('\n')] : []),
    ...violations.map((violation) => renderViolation(violation, labels, language, width)),
    ...(place !== null && violations.length === 0 ? [paint('green', labels.none)] : []),
    renderRecords(records, labels),
    ...(history.length > 0
      ? [[paint('bold', labels.history), ...history.map((event) => renderEvent(event, labels, language))].join('\n')]
      : []),
  ];
  return parts.join('\n\n');
}

function renderViolation(violation: EvidenceViolation, labels: Labels, language: Language, width: number): string {
  const { severity, check_name, messages, since, first_snapshot, figures, expected, actual } = violation;
  const sum = figures.length > 1 && expected !== null && actual !== null ? [expected, actual].map(Number) : null;
  return [
    `${paint(severity === 'error' ? 'red' : 'yellow', severity === 'error' ? labels.error : labels.warning)}  ${paint('bold', check_name)}, ${labels.since} ${since} UTC (${first_snapshot})`,
    ...wrap(printable(messages[language]), width - 2).map((line) => `  ${line}`),
    ...(sum === null
      ? renderFigures(figures, language)
      : [
          ...renderFigures(figures.slice(0, -1), language),
          renderLine(labels.sum, groups(sum[0]!, language), ''),
          ...renderFigures(figures.slice(-1), language),
          renderLine(labels.difference, groups(sum[1]! - sum[0]!, language), ''),
        ]),
  ].join('\n');
}

function renderFigures(figures: readonly EvidenceFigure[], language: Language): string[] {
  return figures.map(({ column, value, field }) => renderLine(column, readable(value, language), field));
}

function renderLine(name: string, value: string, field: string): string {
  return `    ${name.padEnd(14)} ${value.padStart(12)}   ${paint('dim', field)}`.trimEnd();
}

function readable(value: string | null, language: Language): string {
  if (value === null) return '–';
  return /^\d{1,15}$/.test(value) ? groups(Number(value), language) : printable(value);
}

function groups(number: number, language: Language): string {
  return language === 'en' ? formatNumber(number) : formatNumber(number).replaceAll(',', '.');
}

function renderRecords(records: readonly ReceivedRecord[], labels: Labels): string {
  if (records.length === 0) return labels.nothing;
  const texts = new Set(records.map(({ record }) => record));
  const lines = records.flatMap(({ account, url, at, sha256, place, record }) => [
    `  ${account === 'partition' ? labels['partition listing'] : labels['full listing']}, ${at}, ${labels.place} ${place}`,
    `    ${printable(url)}`,
    `    SHA-256 ${sha256}`,
    ...(texts.size > 1 ? layOut(record) : []),
  ]);
  const [first] = texts;
  const once = texts.size > 1 ? [] : [`  ${records.length > 1 ? labels.same : labels.one}`, ...layOut(first!)];
  return [paint('bold', labels.received), ...lines, ...once].join('\n');
}

/** Puts each field on a line, unless that changes more than whitespace. */
function layOut(record: string): string[] {
  const text = printable(record, Number.MAX_SAFE_INTEGER);
  try {
    const parsed: unknown = JSON.parse(record);
    const laidOut = JSON.stringify(parsed, null, 2);
    if (JSON.stringify(parsed) === record.replaceAll(/(?<=[{,:"])\s+|\s+(?=[}"])/g, ''))
      return laidOut.split('\n').map((line) => `    ${printable(line, Number.MAX_SAFE_INTEGER)}`);
  } catch {
    // Invalid JSON is shown unchanged.
  }
  return [`    ${text}`];
}

function renderEvent(
  { snapshot, kind, column, check, before, after }: PastEvent,
  labels: Labels,
  language: Language,
): string {
  const what =
    kind === 'restated'
      ? `${labels.restated} ${readable(before, language)} → ${readable(after, language)}`
      : `${check}: ${labels[kind]}`;
  return `  ${snapshot}  ${column} ${what}`;
}
