/** Renders evidence as text, in English or Indonesian. */

import { paint, printable } from './terminal.ts';
import { wrap } from './wrap-text.ts';
import type { Language } from '../../project/sql-file.ts';
import { formatNumber } from '../../runtime/text.ts';
import type { Evidence, EvidenceFigure, PastEvent, EvidenceViolation } from '../../snapshots/find-evidence.ts';
import type { ReceivedRecord } from '../../snapshots/received-records.ts';

const labels = {
  since: { en: 'since', id: 'sejak' },
  error: { en: 'error', id: 'kesalahan' },
  warning: { en: 'warning', id: 'peringatan' },
  sum: { en: 'sum', id: 'jumlah' },
  difference: { en: 'difference', id: 'selisih' },
  empty: { en: 'No records are in quarantine.', id: 'Tidak ada data yang dikarantina.' },
  none: { en: 'All checks pass.', id: 'Data lolos semua pemeriksaan.' },
  quarantined: { en: 'In quarantine', id: 'Data dikarantina' },
  received: { en: 'As received from the source', id: 'Asal-usul data' },
  list: { en: 'from the list', id: 'dari daftar' },
  'full listing': { en: 'from the full listing', id: 'dari daftar lengkap' },
  partition: { en: 'from the partition listing', id: 'dari daftar per bagian' },
  place: { en: 'record', id: 'data nomor' },
  same: { en: 'These responses contain the same record:', id: 'Semua respons ini memuat data yang sama:' },
  one: { en: 'Record:', id: 'Isi data:' },
  nothing: {
    en: 'The stored responses do not contain this record.',
    id: 'Data ini tidak ditemukan dalam respons yang tersimpan.',
  },
  history: { en: 'History', id: 'Riwayat perubahan' },
  restated: { en: 'changed:', id: 'berubah:' },
  appeared: { en: 'appeared', id: 'muncul' },
  resolved: { en: 'resolved', id: 'teratasi' },
} as const satisfies Readonly<Record<string, Readonly<Record<Language, string>>>>;

/** @param width Maximum line length, except for names and URLs. */
export function renderEvidence(found: readonly Evidence[], language: Language, width: number): string {
  if (found.length === 0) return `${labels.empty[language]}\n`;
  return `${found.map((evidence) => renderOne(evidence, language, width)).join('\n\n\n')}\n`;
}

function renderOne(evidence: Evidence, language: Language, width: number): string {
  const { dataset, place, quarantined, figures, violations, records, history } = evidence;
  const names = Object.values(place ?? {}).map((value) => printable(value));
  const head =
    place === null
      ? `${paint('bold', dataset)}\n${paint('red', labels.quarantined[language])}: ${printable(quarantined ?? '')}`
      : paint('bold', `${dataset}: ${names.toReversed().join(', ')}`);
  const parts = [
    head,
    ...(figures.length > 0 ? [renderFigures(figures, language).join('\n')] : []),
    ...violations.map((violation) => renderViolation(violation, language, width)),
    ...(place !== null && violations.length === 0 ? [paint('green', labels.none[language])] : []),
    renderRecords(records, language),
    ...(history.length > 0
      ? [[paint('bold', labels.history[language]), ...history.map((event) => renderEvent(event, language))].join('\n')]
      : []),
  ];
  return parts.join('\n\n');
}

function renderViolation(violation: EvidenceViolation, language: Language, width: number): string {
  const { severity, check_name, messages, since, first_snapshot, figures, expected, actual } = violation;
  const sum = figures.length > 1 && expected !== null && actual !== null ? [expected, actual].map(Number) : null;
  return [
    `${paint(severity === 'error' ? 'red' : 'yellow', severity === 'error' ? labels.error[language] : labels.warning[language])}  ${paint('bold', check_name)}, ${labels.since[language]} ${since} UTC (${first_snapshot})`,
    ...wrap(printable(messages[language]), width - 2).map((line) => `  ${line}`),
    ...(sum === null
      ? renderFigures(figures, language)
      : [
          ...renderFigures(figures.slice(0, -1), language),
          renderLine(labels.sum[language], groups(sum[0]!, language), ''),
          ...renderFigures(figures.slice(-1), language),
          renderLine(labels.difference[language], groups(sum[1]! - sum[0]!, language), ''),
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

function renderRecords(records: readonly ReceivedRecord[], language: Language): string {
  if (records.length === 0) return labels.nothing[language];
  const texts = new Set(records.map(({ record }) => record));
  const lines = records.flatMap(({ account, url, at, sha256, place, record }) => [
    `  ${labels[account][language]}, ${at}, ${labels.place[language]} ${place}`,
    `    ${printable(url)}`,
    `    SHA-256 ${sha256}`,
    ...(texts.size > 1 ? layOut(record) : []),
  ]);
  const [first] = texts;
  const once =
    texts.size > 1 ? [] : [`  ${records.length > 1 ? labels.same[language] : labels.one[language]}`, ...layOut(first!)];
  return [paint('bold', labels.received[language]), ...lines, ...once].join('\n');
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

function renderEvent({ snapshot, kind, column, check, before, after }: PastEvent, language: Language): string {
  const what =
    kind === 'restated'
      ? `${labels.restated[language]} ${readable(before, language)} → ${readable(after, language)}`
      : `${check}: ${labels[kind][language]}`;
  return `  ${snapshot}  ${column} ${what}`;
}
