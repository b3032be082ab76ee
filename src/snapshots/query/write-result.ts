/** Writes a query's result as CSV, JSON or Markdown, without formulas that a spreadsheet would run or text that deceives a terminal. */

import { escapeDeceptive } from '../../runtime/text.ts';
import { withFile } from '../../runtime/with-file.ts';
import {
  displayText,
  isDuckDbValue,
  jsonValue,
  plainValue,
  type QueryResult,
  type ResultValue,
} from './query-result.ts';

export type Write = (text: string) => Promise<void>;

/** Writes CSV as in RFC 4180 with a header and LF line ends. NULL is empty, and an empty string is "". Returns the number of rows. */
export async function writeCsv(result: QueryResult, write: Write): Promise<number> {
  await write(`${result.columns.map(({ name }) => csvText(withoutFormula(name))).join(',')}\n`);
  return writeLines(result, write, (row) => `${row.map(csvValue).join(',')}\n`);
}

async function writeLines(
  { groups }: QueryResult,
  write: Write,
  lineOf: (row: readonly ResultValue[]) => string,
): Promise<number> {
  let rows = 0;
  for await (const group of groups()) {
    rows += group.length;
    await write(group.map(lineOf).join(''));
  }
  return rows;
}

/** Writes CSV to a new file. */
export async function writeCsvFile(result: QueryResult, path: string): Promise<number> {
  return withFile(path, 'wx', (file) => writeCsv(result, (text) => file.appendFile(text)));
}

/** Writes a JSON array with one object per row and line. Integers beyond 2^53 become strings, so that none is rounded. */
export async function writeJson(result: QueryResult, write: Write): Promise<number> {
  // Member by member, because an object would put columns with names like 2024 first.
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

/** Writes a Markdown table with right-aligned numbers. Returns the number of rows. */
export async function writeMarkdown(result: QueryResult, write: Write): Promise<number> {
  const { columns } = result;
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  const rules = columns.map(({ type }) => (/INT|DOUBLE|FLOAT|DECIMAL/.test(type) ? '---:' : '---'));
  await write(line(columns.map(({ name }) => markdownText(name))) + line(rules));
  return writeLines(result, write, (row) => line(row.map((value) => markdownText(displayText(value)))));
}

function markdownText(text: string): string {
  return escapeDeceptive(text.replaceAll(/[\\|`*_<>[\]]/g, String.raw`\$&`).replaceAll(/\s+/g, ' '));
}

function csvValue(value: ResultValue): string {
  if (value === null) return '';
  if (value === '') return '""';
  const text = displayText(value);
  const holdsText = typeof value === 'string' || (typeof value === 'object' && !isDuckDbValue(value));
  return csvText(holdsText ? withoutFormula(text) : text);
}

const formula = /[=+\-@\uff1d\uff0b\uff0d\uff20]/;

/**
 * Prefixes formulas with an apostrophe, so that no spreadsheet runs them (OWASP, CSV injection).
 * White space and invisible characters may precede a formula. So may a semicolon, tab or line break:
 * with a decimal comma, as in Indonesia, spreadsheets split CSV at semicolons and ignore our quotes.
 */
function withoutFormula(text: string): string {
  if (!formula.test(text) && !/^[\t\r\n]/.test(text)) return text;
  // Matches whole runs, because a pattern with lookahead takes quadratic time.
  const guarded = text.replace(/[;"\s\p{C}]+/gu, (run, at: number) => {
    if (!formula.test(text.charAt(at + run.length))) return run;
    const cellAt = 1 + Math.max(...[';', '\t', '\r', '\n'].map((separator) => run.lastIndexOf(separator)));
    return cellAt === 0 && at > 0 ? run : `${run.slice(0, cellAt)}'${run.slice(cellAt)}`;
  });
  return formula.test(guarded.charAt(0)) || /^[\t\r\n]/.test(guarded) ? `'${guarded}` : guarded;
}

/** Quotes a leading U+FEFF too, because readers drop it at the start of a file. */
function csvText(text: string): string {
  return /[",\r\n]|^\ufeff/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
