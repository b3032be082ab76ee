/** Writes a query's result as CSV or JSON: exact values, no formula that a spreadsheet runs, nothing that deceives a terminal. */

import { escapeDeceptive } from '../../runtime/text.ts';
import { displayText, isDuckDbs, jsonValue, plainValue, type QueryResult, type ResultValue } from './query-result.ts';

/** Takes text piece by piece; waits where the reader is slow. */
export type Write = (text: string) => Promise<void>;

/**
 * CSV after RFC 4180, with a header, LF line ends, NULL as nothing and an empty text as "". A text that a spreadsheet would
 * take for a formula gets an apostrophe. Gives the number of rows.
 */
export async function writeCsv(result: QueryResult, write: Write): Promise<number> {
  const { columns } = result;
  await write(`${columns.map(({ name }) => csvText(withoutFormula(name))).join(',')}\n`);
  let rows = 0;
  for await (const group of result.groups()) {
    rows += group.length;
    await write(group.map((row) => `${row.map(csvValue).join(',')}\n`).join(''));
  }
  return rows;
}

/** A JSON array of one object per row, one row a line; whole numbers beyond 2^53 become texts, so that none is rounded. */
export async function writeJson(result: QueryResult, write: Write): Promise<number> {
  // Written member by member: an object would put columns with names like 2024 first.
  const names = result.columns.map(({ name }) => escapeDeceptive(JSON.stringify(name)));
  let rows = 0;
  await write('[');
  for await (const group of result.groups()) {
    const lines = group.map(
      (row) =>
        `{${row.map((value, index) => `${names[index]}:${escapeDeceptive(JSON.stringify(plainValue(value), jsonValue))}`).join(',')}}`,
    );
    if (lines.length > 0) await write(`${rows === 0 ? '' : ','}\n${lines.join(',\n')}`);
    rows += group.length;
  }
  await write(rows === 0 ? ']\n' : '\n]\n');
  return rows;
}

/** A table as Markdown has it; numbers are set right. Gives the number of rows. */
export async function writeMarkdown({ columns, groups }: QueryResult, write: Write): Promise<number> {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const rules = columns.map(({ type }) => (/INT|DOUBLE|FLOAT|DECIMAL/.test(type) ? '---:' : '---'));
  await write(line(columns.map(({ name }) => markdownText(name))) + line(rules));
  let rows = 0;
  for await (const group of groups()) {
    rows += group.length;
    await write(group.map((row) => line(row.map((value) => markdownText(displayText(value))))).join(''));
  }
  return rows;
}

/** A text that stays in its cell and is no markup. */
function markdownText(text: string): string {
  return escapeDeceptive(text.replaceAll(/[\\|`*_<>[\]]/g, String.raw`\$&`).replaceAll(/\s+/g, ' '));
}

function csvValue(value: ResultValue): string {
  if (value === null) return '';
  if (value === '') return '""';
  const text = displayText(value);
  // Numbers, and DuckDB's own values that print as such, may be negative; lists and structs hold texts too.
  const holdsText = typeof value === 'string' || (typeof value === 'object' && !isDuckDbs(value));
  return csvText(holdsText ? withoutFormula(text) : text);
}

/** What begins a formula, for some spreadsheets also in full width. */
const formula = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/**
 * A text that no spreadsheet runs: an apostrophe in front makes it text (OWASP, CSV injection). White space and what does not
 * show may stand before the formula. So may a semicolon, tab or line break: where the decimal sign is a comma, as in
 * Indonesia, a spreadsheet separates CSV at semicolons, and then our quotes do not hold a text together.
 */
function withoutFormula(text: string): string {
  if (!formula.test(text) && !/^[\t\r\n]/.test(text)) return text;
  // Whole runs, then a look at what follows: a pattern that looks ahead would take the square of the time on a long run.
  const guarded = text.replace(/[;"\s\p{C}]+/gu, (run, at: number) => {
    if (!formula.test(text.charAt(at + run.length))) return run;
    const cellAt = 1 + Math.max(...[';', '\t', '\r', '\n'].map((separator) => run.lastIndexOf(separator)));
    return cellAt === 0 && at > 0 ? run : `${run.slice(0, cellAt)}'${run.slice(cellAt)}`;
  });
  return formula.test(guarded.charAt(0)) || /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
