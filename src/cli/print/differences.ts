/** Writes the differences of two snapshots as text: changed records, and new and resolved violations. */

import { stripVTControlCharacters } from 'node:util';
import { renderTable } from './table.ts';
import { paint, printable, writeOut } from './terminal.ts';
import type { AnyPipeline } from '../../project/declaration.ts';
import { displayText, type QueryResult } from '../../snapshots/query/query-result.ts';
import type { ComparedSnapshots } from '../../snapshots/diff-snapshots.ts';
import { formatNumber } from '../../runtime/text.ts';

/** Maximum records of each kind. */
const maxRecords = 200;

type Row = Readonly<Record<string, string>>;

export async function writeDifferences(
  result: QueryResult,
  { before, after }: ComparedSnapshots,
  notes: readonly string[],
): Promise<void> {
  const records = await readRecords(result, after.manifest.project.pipelines);
  const kinds = ['changed', 'added', 'removed'];
  const where = notes.length === 0 ? '' : ' in the datasets that both snapshots contain';
  const counts = kinds.map(
    (kind) => `${formatNumber(records.filter((record) => record.kind === kind).length)} ${kind}`,
  );
  const summary = records.length === 0 ? `No figures changed${where}` : `Records: ${counts.join(', ')}`;
  await writeOut(`Changes from snapshot ${paint('bold', before.id)} to ${paint('bold', after.id)}\n${summary}.\n`);
  for (const note of notes) await writeOut(`${note}\n`);
  await writeByKind(records, { changed: 'Changed', added: 'Added', removed: 'Removed' }, renderRecord);
}

/** Writes the violations that only one of the snapshots has; nothing if there are none. */
export async function writeViolations(result: QueryResult, pipelines: readonly AnyPipeline[]): Promise<void> {
  const rows = (await readRows(result)).map((row) => ({ ...row, kind: row['kind']! }));
  await writeByKind(rows, { new: 'New violations', resolved: 'Resolved violations' }, (row: Row) => {
    const severity = paint(row['severity'] === 'error' ? 'red' : 'yellow', row['severity']!.padEnd(7));
    const place = paint('cyan', placeOf(row, pipelines));
    return `  ${severity}  ${place}\n             ${row['check_name']}: ${printable(row['message']!)}\n`;
  });
}

async function writeByKind<Item extends { readonly kind: string }>(
  items: readonly Item[],
  headings: Readonly<Record<string, string>>,
  render: (item: Item) => string,
): Promise<void> {
  for (const [kind, heading] of Object.entries(headings)) {
    const own = items.filter((item) => item.kind === kind);
    if (own.length === 0) continue;
    await writeOut(`\n${paint('bold', `${heading}: ${formatNumber(own.length)}`)}\n`);
    for (const item of own.slice(0, maxRecords)) await writeOut(render(item));
    const more = `  and ${formatNumber(own.length - maxRecords)} more; query the tables to see all\n`;
    if (own.length > maxRecords) await writeOut(paint('dim', more));
  }
}

async function readRows(result: QueryResult): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const group of result.groups())
    for (const values of group)
      rows.push(
        Object.fromEntries(result.columns.map(({ name }, index) => [name, displayText(values[index] ?? null)])),
      );
  return rows;
}

function keyOf(row: Row, pipelines: readonly AnyPipeline[]): string[] {
  const { key } = pipelines.find(({ table }) => table === row['dataset'])!;
  return [row['dataset']!, ...key.map((name) => row[name]!)];
}

/** Returns the parts of the key, the most specific first. */
function placeOf(row: Row, pipelines: readonly AnyPipeline[]): string {
  return keyOf(row, pipelines)
    .toReversed()
    .map((part) => printable(part))
    .join(', ');
}

interface ChangedRecord {
  readonly place: string;
  readonly kind: string;
  readonly differences: Row[];
}

/** Groups the rows by key. Raw keys are compared, because two of them can print alike. */
async function readRecords(result: QueryResult, pipelines: readonly AnyPipeline[]): Promise<readonly ChangedRecord[]> {
  const records = new Map<string, ChangedRecord>();
  for (const row of await readRows(result)) {
    const identity = JSON.stringify(keyOf(row, pipelines));
    const record = records.get(identity) ?? { place: placeOf(row, pipelines), kind: row['kind']!, differences: [] };
    records.set(identity, record);
    record.differences.push(row);
  }
  return [...records.values()];
}

function renderRecord({ place, differences }: ChangedRecord): string {
  const rows = differences.map((difference) => {
    const [old, now, since] = [difference['old_value']!, difference['new_value']!, difference['since']!];
    const name = `    ${printable(difference['column_name']!)}`;
    return [
      name,
      readable(old),
      readable(now),
      signedChange(old, now),
      since === '' ? '' : `since ${printable(since)}`,
    ];
  });
  const table = renderTable(rows, { head: ['', '', '', '', ''], right: [1, 2, 3] }).split('\n');
  const lines = table.filter((line) => stripVTControlCharacters(line).trim() !== '');
  return `  ${paint('cyan', place)}\n${lines.join('\n')}\n`;
}

function readable(value: string): string {
  if (value === '') return '–';
  return /^\d{1,15}$/.test(value) ? formatNumber(Number(value)) : printable(value);
}

function signedChange(old: string, now: string): string {
  if (![old, now].every((value) => /^\d{1,15}$/.test(value))) return '';
  const by = Number(now) - Number(old);
  return `${by > 0 ? '+' : '−'}${formatNumber(Math.abs(by))}`;
}
