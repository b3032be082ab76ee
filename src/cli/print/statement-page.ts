/** Writes a statement about a snapshot as one page, for a terminal or in HTML, in English or Indonesian. */

import { paint, printable } from './terminal.ts';
import { renderTable } from './table.ts';
import { wrap } from './wrap-text.ts';
import type { Language } from '../../project/sql-file.ts';
import { style } from '../../report/style.ts';
import { closedPage, html, table } from '../../runtime/html.ts';
import { formatDecimal } from '../../runtime/text.ts';
import type { StatedDataset, Statement } from '../../snapshots/statement.ts';
import type { Grade } from '../../stages.ts';

type Count = (number: number) => string;

const english = {
  title: (project: string, place: string) => `Statement on ${project}${place === '' ? '' : `: ${place}`}`,
  facts: {
    source: 'Source',
    read: 'Read (UTC)',
    snapshot: 'Snapshot',
    sha256: 'SHA-256 of its manifest',
    tool: 'Read with',
  },
  complete: 'What was read',
  head: ['Dataset', 'Rows', 'Lists read completely', 'Proof'],
  lists: (confirmed: string, all: string) => `${confirmed} of ${all}`,
  grades: {
    overlap: 'read twice, with the last record of each page again (overlap)',
    repaged: 'read twice, with pages of different sizes (repaged)',
    rechained: 'read twice, with pages of different sizes that name the next one (rechained)',
    repeated: 'read twice, with the same requests (repeated)',
    chain: 'read twice, with the same requests; each page names the next one (chain)',
    single: 'read in one response (single)',
    incremental: 'what changed was read, and joins the rows of the sync before (incremental)',
  } satisfies Record<Grade, string>,
  totals: 'Totals',
  totalsHead: ['Column', 'Sum of the known values', 'Rows with a value'],
  unknown: 'What is unknown or contradictory',
  noValue: (column: string, rows: number, count: Count) =>
    `${column} has no value in ${count(rows)} ${rows === 1 ? 'row' : 'rows'}.`,
  quarantined: (dataset: string, records: number, count: Count) =>
    `${count(records)} ${records === 1 ? 'record' : 'records'} of ${dataset} could not become a row.`,
  check: (dataset: string, check: string, severity: string, rows: number, count: Count) =>
    `${dataset}: ${check}, ${severity} in ${count(rows)} ${rows === 1 ? 'case' : 'cases'}.`,
  carriedOver: (dataset: string, rows: number, count: Count) =>
    `${count(rows)} rows of ${dataset} were read by an earlier sync, within the times above.`,
  noRow: (dataset: string) => `${dataset} has no row with this name. The source may spell it differently there.`,
  nothing: 'Nothing: every column has a value in every row, and all checks pass.',
  meaning:
    'This says that the rows are those that the source returned, as far as the proof above reaches: no record was lost, none was counted twice, and no file of the tables was changed since. It does not say that the figures of the source are right.',
  verify: (again: string) =>
    `To check it, run "rekap snapshots verify" and "${again}" on the same warehouse. The hash must be the one above.`,
};

const indonesian: typeof english = {
  title: (project, place) => `Pernyataan tentang ${project}${place === '' ? '' : `: ${place}`}`,
  facts: {
    source: 'Sumber',
    read: 'Diambil (UTC)',
    snapshot: 'Snapshot',
    sha256: 'SHA-256 manifest',
    tool: 'Diambil dengan',
  },
  complete: 'Data yang diambil',
  head: ['Dataset', 'Baris', 'Daftar yang terbaca lengkap', 'Bukti'],
  lists: (confirmed, all) => `${confirmed} dari ${all}`,
  grades: {
    overlap: 'dibaca dua kali, data terakhir setiap halaman dibaca ulang (overlap)',
    repaged: 'dibaca dua kali, dengan ukuran halaman yang berbeda (repaged)',
    rechained:
      'dibaca dua kali, dengan ukuran halaman yang berbeda; setiap halaman menyebut halaman berikutnya (rechained)',
    repeated: 'dibaca dua kali, dengan permintaan yang sama (repeated)',
    chain: 'dibaca dua kali, dengan permintaan yang sama; setiap halaman menyebut halaman berikutnya (chain)',
    single: 'dibaca dalam satu respons (single)',
    incremental: 'perubahannya dibaca, dan menyambung dengan baris pengambilan sebelumnya (incremental)',
  },
  totals: 'Jumlah',
  totalsHead: ['Kolom', 'Jumlah nilai yang diketahui', 'Baris yang bernilai'],
  unknown: 'Yang tidak diketahui atau bertentangan',
  noValue: (column, rows, count) => `${column} tidak bernilai pada ${count(rows)} baris.`,
  quarantined: (dataset, records, count) => `${count(records)} data ${dataset} tidak dapat menjadi baris.`,
  check: (dataset, check, severity, rows, count) =>
    `${dataset}: ${check}, ${severity === 'error' ? 'kesalahan' : 'peringatan'} pada ${count(rows)} kasus.`,
  carriedOver: (dataset, rows, count) =>
    `${count(rows)} baris ${dataset} berasal dari pengambilan data sebelumnya, dalam waktu di atas.`,
  noRow: (dataset) => `${dataset} tidak memiliki baris dengan nama ini. Mungkin sumber mengejanya berbeda di sana.`,
  nothing: 'Tidak ada: setiap kolom bernilai pada setiap baris, dan semua pemeriksaan lolos.',
  meaning:
    'Artinya: baris-baris ini adalah yang diberikan oleh sumber, sejauh bukti di atas: tidak ada data yang hilang atau dihitung dua kali, dan tidak ada berkas tabel yang diubah sejak itu. Pernyataan ini tidak berarti bahwa angka sumber benar.',
  verify: (again) =>
    `Untuk memeriksanya, jalankan "rekap snapshots verify" dan "${again}" pada warehouse yang sama. Hash-nya harus sama dengan yang di atas.`,
};

/** Returns the content of the page in order, for both forms. */
function layOut(statement: Statement, language: Language) {
  const words = language === 'en' ? english : indonesian;
  const { datasets, place, source } = statement;
  const count: Count = (number) => digits(String(number), language);
  const times = datasets.flatMap(({ read }) => read ?? []).toSorted();
  const minute = (time: string): string => time.slice(0, 16).replace('T', ' ');
  const [first, last] = [times[0] ?? '', times.at(-1) ?? ''].map(minute) as [string, string];
  const total = (dataset: StatedDataset): string[][] =>
    dataset.sums.map(({ of, column, sum, known, rows }) => [
      `${dataset.dataset}.${column}${of === '' ? '' : `, ${of}`}`,
      sum === null ? '–' : digits(sum, language),
      words.lists(count(known), count(rows)),
    ]);
  const doubts = datasets.flatMap(({ dataset, rows, unknown, quarantined, violations, carriedOver, reading }) => [
    ...(rows === 0 ? [words.noRow(dataset)] : []),
    ...(reading[language] === null ? [] : [`${dataset}: ${reading[language]}`]),
    ...((carriedOver ?? 0) > 0 ? [words.carriedOver(dataset, carriedOver!, count)] : []),
    ...(quarantined > 0 ? [words.quarantined(dataset, quarantined, count)] : []),
    ...unknown.map(({ column, rows: without }) => words.noValue(`${dataset}.${column}`, without, count)),
    ...violations.map(({ check, severity, rows: cases }) => words.check(dataset, check, severity, cases, count)),
  ]);
  const named = place === null ? '' : ` '${place.name.replaceAll("'", String.raw`'\''`)}' --column ${place.column}`;
  const only = statement.only === null ? '' : ` --dataset ${statement.only.join(',')}`;
  const again = `rekap evidence --statement${named}${only} --snapshot ${statement.snapshot}`;
  return {
    title: words.title(statement.project, place === null ? '' : `${place.name} (${place.column})`),
    facts: [
      [words.facts.source, source],
      [words.facts.read, first === last ? first : `${first} – ${last}`],
      [words.facts.snapshot, statement.snapshot],
      [words.facts.sha256, statement.sha256],
      [words.facts.tool, statement.tool],
    ] satisfies [string, string][],
    tables: [
      {
        caption: words.complete,
        head: words.head,
        rows: datasets
          .filter((dataset) => dataset.rows > 0)
          .map(({ title, rows, lists, confirmed, grades }) => [
            title,
            count(rows),
            words.lists(count(confirmed), count(lists)),
            grades.map((grade) => words.grades[grade as Grade]).join('; '),
          ]),
        numbers: [1],
      },
      { caption: words.totals, head: words.totalsHead, rows: datasets.flatMap(total), numbers: [1] },
    ].filter(({ rows }) => rows.length > 0),
    unknown: { title: words.unknown, items: doubts.length === 0 ? [words.nothing] : doubts },
    closing: [words.meaning, words.verify(again)],
  };
}

function digits(number: string, language: Language): string {
  const grouped = formatDecimal(number);
  return language === 'en' ? grouped : grouped.replaceAll(/[.,]/g, (mark) => (mark === ',' ? '.' : ','));
}

/** @param width Maximum line length, except for names and hashes. */
export function statementText(statement: Statement, notice: string | null, language: Language, width: number): string {
  const { title, facts, tables, unknown, closing } = layOut(statement, language);
  const label = Math.max(...facts.map(([name]) => name.length)) + 2;
  const paragraph = (text: string): string => wrap(printable(text), width).join('\n');
  return `${[
    paint('bold', printable(title)),
    ...(notice === null ? [] : [paint('red', notice)]),
    facts.map(([name, value]) => `${name.padEnd(label)}${printable(value)}`).join('\n'),
    ...tables.map(({ caption, head, rows, numbers }) => {
      const cells = rows.map((row) => row.map((cell) => printable(cell)));
      return `${paint('bold', caption)}\n${renderTable(cells, { head, right: numbers, width })}`;
    }),
    [paint('bold', unknown.title), ...unknown.items.map((item) => wrap(printable(item), width - 2).join('\n  '))].join(
      '\n',
    ),
    ...closing.map(paragraph),
  ].join('\n\n')}\n`;
}

const ownStyle = `section { border: 0; margin-top: 1rem; padding-top: 0; }
body { max-width: 52rem; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.2rem 1.5rem; overflow-wrap: anywhere; }
dt { color: var(--quiet); } dd { margin: 0; }
`;

/** Returns a page without external resources that fits on one sheet. */
export function statementHtml(statement: Statement, notice: string | null, language: Language): string {
  const { title, facts, tables, unknown, closing } = layOut(statement, language);
  const content = html`<main>
    ${notice === null ? null : html`<p class="sample">${notice}</p>`}
    <h1>${title}</h1>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    ${tables.map(({ caption, head, rows, numbers }) => html`<section>${table(rows, { caption, head, numbers })}</section>`)}
    <section>
      <h2>${unknown.title}</h2>
      <ul>
        ${unknown.items.map((item) => html`<li>${item}</li>`)}
      </ul>
    </section>
    ${closing.map((text) => html`<p>${text}</p>`)}
  </main>`;
  return closedPage({ language, title, style: style + ownStyle, content });
}
