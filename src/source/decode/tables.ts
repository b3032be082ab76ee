/** Converts responses that are tables with a row of names, to one JSON record per line: CSV, and JSON arrays of rows. */

import { createRequire } from 'node:module';
import type { CsvError } from 'csv-parse/sync';
import type { AnyPipeline } from '../../project/declaration.ts';
import { JsonText, OPEN_BRACKET, ScanError } from './json-text.ts';

/** Loaded when the first table is read. */
const require = createRequire(import.meta.url);

/** Returns the records of a response as NDJSON; the same bytes if the format isn't a table. @throws ScanError */
export function asLines({ format, delimiter = ',' }: Pick<AnyPipeline, 'format' | 'delimiter'>, body: Buffer): Buffer {
  if (format !== 'csv' && format !== 'rows') return body;
  const rows = format === 'csv' ? csvRows(body, delimiter) : jsonRows(body);
  const [names, ...records] = rows;
  if (names === undefined) throw new ScanError('it has no row of names', 0);
  const repeated = names.find((name, place) => names.indexOf(name) < place);
  if (repeated !== undefined) throw new ScanError(`its first row has the name ${repeated} twice`, 0);
  return Buffer.from(
    records.map((values) => `{${values.map((value, place) => `${names[place]}:${value}`).join(',')}}\n`).join(''),
  );
}

/** Returns the values as JSON. Every row must have as many as the first one, and every quote must be closed. */
function csvRows(body: Buffer, delimiter: string): string[][] {
  if (/^(?:\xef\xbb\xbf)?\s*</.test(body.toString('latin1', 0, 1000)))
    throw new ScanError('it is HTML or XML, not CSV', 0);
  const { parse } = require('csv-parse/sync') as typeof import('csv-parse/sync');
  try {
    const rows = parse(body, { bom: true, delimiter, skip_empty_lines: true });
    return rows.map((row) => row.map((value) => JSON.stringify(value)));
  } catch (error) {
    const { code, message } = error as CsvError;
    // An open quote, or a last row that is too short, is a response that was cut.
    const isCut = code === 'CSV_QUOTE_NOT_CLOSED' || (isShort(error as CsvError) && body.at(-1) !== 0x0a);
    throw new ScanError(`it is not CSV with rows of equal length: ${message}`, isCut ? body.length : 0);
  }
}

function isShort({ code, message }: CsvError): boolean {
  const [, expected, got] = /expect (\d+), got (\d+)/.exec(message) ?? [];
  return code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH' && Number(got) < Number(expected);
}

/** Returns the values as they are written, because parsing would round numbers. */
function jsonRows(body: Buffer): string[][] {
  const text = new JsonText(body);
  const rows: string[][] = [];
  text.skipSpace();
  const open = (): void => {
    if (body[text.at] !== OPEN_BRACKET) throw new ScanError('it is not a JSON array of rows', text.at);
  };
  open();
  text.passMembers(OPEN_BRACKET, () => {
    open();
    const row: string[] = [];
    text.passMembers(OPEN_BRACKET, () => {
      const start = text.at;
      text.passValue(3);
      row.push(text.text(start, text.at));
    });
    const { length } = rows[0] ?? row;
    if (row.length !== length) throw new ScanError(`row ${rows.length + 1} has ${row.length} values, not ${length}`, 0);
    rows.push(row);
  });
  text.skipSpace();
  if (text.at !== body.length) throw new ScanError(`there is more text after the array, at byte ${text.at}`, text.at);
  if (rows[0]?.some((name) => !name.startsWith('"')) === true) throw new ScanError('its first row has no names', 0);
  return rows;
}

/** Writes records as such a table, with these fields. */
export function writeTable(pipeline: AnyPipeline, records: readonly string[]): string {
  const fields = Object.values(pipeline.columns).map(({ field }) => field);
  const rows = records.map((text) => {
    const record = JSON.parse(text) as Readonly<Record<string, unknown>>;
    return fields.map((field) => record[field] ?? null);
  });
  if (pipeline.format === 'rows') return JSON.stringify([fields, ...rows]);
  const { delimiter = ',' } = pipeline;
  const cell = (value: unknown): string => {
    const plain = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
    return /["\r\n]/.test(plain) || plain.includes(delimiter) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [fields, ...rows].map((row) => `${row.map(cell).join(delimiter)}\n`).join('');
}
