/** rekap diff: shows what the source changed between two snapshots. */

import { stripVTControlCharacters } from 'node:util';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import type { ComparedSnapshots, LoneDataset } from '../snapshots/diff-snapshots.ts';
import { countOf, formatNumber } from '../runtime/text.ts';

/** Maximum records of each kind in the text output. */
const maxRecords = 200;

export const command = declareCommand({
  positionals: {
    a: 'ID of the earlier snapshot [default: the previous snapshot of B]',
    b: 'ID of the later snapshot [default: the current snapshot]',
  },
  options: {
    ...pick('warehouse', 'format'),
    json: { ...allOptions.json, describe: 'same as --format json' },
  },
  exclusive: ['format', 'json'],
  examples: [
    ['rekap diff', 'the last published change, with new and resolved violations'],
    ['rekap diff 20261101T030002Z-1f3a9c', 'all changes since that snapshot'],
    ['rekap diff --format csv > restated.csv', 'a file for a spreadsheet'],
  ],
  async run({ warehouse, json, format = json ? 'json' : 'table' }, [a, b]) {
    const [
      { chooseSnapshots, diffSnapshots, diffViolations, loneDatasets },
      { writeCsv, writeJson },
      { printable, writeOut },
      { sampleNotice },
    ] = await Promise.all([
      import('../snapshots/diff-snapshots.ts'),
      import('../snapshots/query/write-result.ts'),
      import('./print/terminal.ts'),
      import('../warehouse/snapshot-format.ts'),
    ]);
    if (a === undefined) await requireAnother(warehouse);
    const compared = await chooseSnapshots(warehouse, a, b);
    const { pipelines } = compared.after.manifest.project;
    const notes = loneDatasets(compared).map((dataset) => printable(describeLone(dataset)));
    if (format !== 'table') for (const note of notes) process.stderr.write(`${note}\n`);
    await diffSnapshots(pipelines, compared, async (result) => {
      if (format === 'csv') return void (await writeCsv(result, writeOut));
      if (format === 'json') return void (await writeJson(result, writeOut));
      await writeDifferences(result, compared, pipelines, notes);
    });
    if (format === 'table') await diffViolations(pipelines, compared, (result) => writeViolations(result, pipelines));
    const notice = sampleNotice(compared.after.manifest) ?? sampleNotice(compared.before.manifest);
    if (notice === null) return;
    if (format === 'table') await writeOut(`${notice}\n`);
    else process.stderr.write(`${notice}\n`);
  },
});

function describeLone({ table, rows, snapshot }: LoneDataset): string {
  return `Only snapshot ${snapshot} contains the dataset ${table} (${countOf(rows, 'row')}).`;
}

/** @throws `snapshot-not-found` if the warehouse contains only one snapshot. */
async function requireAnother(warehouse: string): Promise<void> {
  const { listSnapshotIds, requireCurrent } = await import('../warehouse/warehouse.ts');
  const { id } = await requireCurrent(warehouse);
  if ((await listSnapshotIds(warehouse)).length > 1) return;
  throw new RekapError(
    'snapshot-not-found',
    `The warehouse ${warehouse} contains only one snapshot, ${id}, so there is nothing to compare.`,
    'The next sync that finds changed figures publishes a second snapshot.',
  );
}

type Difference = Readonly<Record<string, string>>;

async function writeDifferences(
  result: QueryResult,
  { before, after }: ComparedSnapshots,
  pipelines: readonly AnyPipeline[],
  notes: readonly string[],
): Promise<void> {
  const { paint, writeOut } = await import('./print/terminal.ts');
  const records = groupByKey(await readRows(result), pipelines);
  const headings = { changed: 'Changed', added: 'Added', removed: 'Removed' };
  const where = notes.length === 0 ? '' : ' in the datasets that both snapshots contain';
  const counts = Object.keys(headings).map((kind) => `${formatNumber(countKind(records, kind))} ${kind}`);
  await writeOut(
    `Changes from snapshot ${paint('bold', before.id)} to ${paint('bold', after.id)}\n${records.length === 0 ? `No figures changed${where}` : `Records: ${counts.join(', ')}`}.\n`,
  );
  for (const note of notes) await writeOut(`${note}\n`);
  await writeByKind(records, headings, renderRecord);
}

/** Writes the violations that only one of the snapshots has; nothing if there are none. */
async function writeViolations(result: QueryResult, pipelines: readonly AnyPipeline[]): Promise<void> {
  const { paint } = await import('./print/terminal.ts');
  const rows = (await readRows(result)).map(({ text }) => ({ ...text, kind: text['kind']! }));
  const headings = { new: 'New violations', resolved: 'Resolved violations' };
  await writeByKind(rows, headings, async (row: Difference) => {
    const severity = paint(row['severity'] === 'error' ? 'red' : 'yellow', row['severity']!.padEnd(7));
    return `  ${severity}  ${paint('cyan', placeOf(row, pipelines))}\n             ${row['check_name']}: ${row['message']}\n`;
  });
}

function countKind(items: readonly { readonly kind: string }[], kind: string): number {
  return items.filter((item) => item.kind === kind).length;
}

async function writeByKind<Item extends { readonly kind: string }>(
  items: readonly Item[],
  headings: Readonly<Record<string, string>>,
  render: (item: Item) => Promise<string>,
): Promise<void> {
  const { paint, writeOut } = await import('./print/terminal.ts');
  for (const [kind, heading] of Object.entries(headings)) {
    const own = items.filter((item) => item.kind === kind);
    if (own.length === 0) continue;
    await writeOut(`\n${paint('bold', `${heading}: ${formatNumber(own.length)}`)}\n`);
    for (const item of own.slice(0, maxRecords)) await writeOut(await render(item));
    const more = `  and ${formatNumber(own.length - maxRecords)} more; query the tables to see all\n`;
    if (own.length > maxRecords) await writeOut(paint('dim', more));
  }
}

interface Row {
  readonly raw: Difference;
  /** Safe to print. */
  readonly text: Difference;
}

async function readRows(result: QueryResult): Promise<Row[]> {
  const [{ displayText }, { printable }] = await Promise.all([
    import('../snapshots/query/query-result.ts'),
    import('./print/terminal.ts'),
  ]);
  const rows: Row[] = [];
  for await (const group of result.groups())
    for (const values of group) {
      const raw = result.columns.map(({ name }, index) => [name, displayText(values[index] ?? null)] as const);
      const text = raw.map(([name, value]) => [name, printable(value)] as const);
      rows.push({ raw: Object.fromEntries(raw), text: Object.fromEntries(text) });
    }
  return rows;
}

/** Returns the parts of the key, the most specific first. */
function placeOf(row: Difference, pipelines: readonly AnyPipeline[]): string {
  const { key } = pipelines.find(({ table }) => table === row['dataset'])!;
  return [...key.map((name) => row[name]).toReversed(), row['dataset']].join(', ');
}

interface ChangedRecord {
  readonly place: string;
  readonly kind: string;
  readonly differences: Difference[];
}

/** Groups the rows by key. Raw keys are compared, because two of them can print alike. */
function groupByKey(rows: readonly Row[], pipelines: readonly AnyPipeline[]): readonly ChangedRecord[] {
  const records = new Map<string, ChangedRecord>();
  for (const { raw, text } of rows) {
    const { key } = pipelines.find(({ table }) => table === raw['dataset'])!;
    const identity = JSON.stringify(['dataset', ...key].map((name) => raw[name]));
    const record = records.get(identity);
    if (record === undefined)
      records.set(identity, { place: placeOf(text, pipelines), kind: text['kind']!, differences: [text] });
    else record.differences.push(text);
  }
  return [...records.values()];
}

async function renderRecord({ place, differences }: ChangedRecord): Promise<string> {
  const [{ paint }, { renderTable }] = await Promise.all([import('./print/terminal.ts'), import('./print/table.ts')]);
  const rows = differences.map((difference) => {
    const [old, now] = [difference['old_value']!, difference['new_value']!];
    return [
      `    ${difference['column_name']}`,
      readable(old),
      readable(now),
      signedChange(old, now),
      difference['since'] === '' ? '' : `since ${difference['since']}`,
    ];
  });
  const table = renderTable(rows, { head: ['', '', '', '', ''], right: [1, 2, 3] });
  return `  ${paint('cyan', place)}\n${table
    .split('\n')
    .filter((line) => stripVTControlCharacters(line).trim() !== '')
    .join('\n')}\n`;
}

function readable(value: string): string {
  if (value === '') return '–';
  return /^\d{1,15}$/.test(value) ? formatNumber(Number(value)) : value;
}

function signedChange(old: string, now: string): string {
  if (![old, now].every((value) => /^\d{1,15}$/.test(value))) return '';
  const by = Number(now) - Number(old);
  return `${by > 0 ? '+' : '−'}${formatNumber(Math.abs(by))}`;
}
