/** rekap diff: shows what the source changed between two snapshots. */

import { stripVTControlCharacters } from 'node:util';
import { declareCommand } from './options/option.ts';
import { resultOptions, warehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import type { ComparedSnapshots, LoneDataset } from '../snapshots/diff-snapshots.ts';
import { countOf, formatNumber } from '../runtime/text.ts';

/** Maximum records of each kind in the text output. */
const maxRecords = 200;

export const diffCommand = declareCommand({
  positionals: {
    a: 'ID of the earlier snapshot [default: the previous snapshot of B]',
    b: 'ID of the later snapshot [default: the current snapshot]',
  },
  options: {
    ...warehouseOption,
    violations: { type: 'boolean', describe: 'show new and resolved violations instead of figures' },
    ...resultOptions,
  },
  exclusive: ['format', 'json'],
  examples: [
    ['rekap diff', 'the last published change'],
    ['rekap diff 20261101T030002Z-1f3a9c', 'all changes since that snapshot'],
    ['rekap diff --violations', 'new and resolved errors and warnings'],
    ['rekap diff --format csv > restated.csv', 'a file for a spreadsheet'],
  ],
  async run({ warehouse, violations, json, format = json ? 'json' : 'table' }, [a, b]) {
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
    await (violations ? diffViolations : diffSnapshots)(pipelines, compared, async (result) => {
      if (format === 'csv') return void (await writeCsv(result, writeOut));
      if (format === 'json') return void (await writeJson(result, writeOut));
      await (violations ? writeViolations : writeDifferences)(result, compared, pipelines, notes);
    });
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

type WriteChanges = (
  result: QueryResult,
  compared: ComparedSnapshots,
  pipelines: readonly AnyPipeline[],
  notes: readonly string[],
) => Promise<void>;

const writeDifferences: WriteChanges = async (result, compared, pipelines, notes) => {
  const records = groupByKey(await readRows(result), pipelines);
  const none =
    notes.length === 0 ? 'No figures changed' : 'No figures changed in the datasets that both snapshots contain';
  const headings = { changed: 'Changed', added: 'Added', removed: 'Removed' };
  await writeByKind(records, { compared, headings, none, what: 'Records', notes, render: renderRecord });
};

const writeViolations: WriteChanges = async (result, compared, pipelines, notes) => {
  const { paint } = await import('./print/terminal.ts');
  const rows = (await readRows(result)).map(({ text }) => ({ ...text, kind: text['kind']! }));
  const render = async (row: Difference): Promise<string> => {
    const severity = paint(row['severity'] === 'error' ? 'red' : 'yellow', row['severity']!.padEnd(7));
    return `  ${severity}  ${paint('cyan', placeOf(row, pipelines))}\n             ${row['check_name']}: ${row['message']}\n`;
  };
  const headings = { new: 'New', resolved: 'Resolved' };
  await writeByKind(rows, {
    compared,
    headings,
    none: 'No violations are new or resolved',
    what: 'Violations',
    notes,
    render,
  });
};

interface KindsOptions<Item> {
  readonly compared: ComparedSnapshots;
  readonly headings: Readonly<Record<string, string>>;
  readonly none: string;
  readonly what: string;
  readonly notes: readonly string[];
  readonly render: (item: Item) => Promise<string>;
}

async function writeByKind<Item extends { readonly kind: string }>(
  items: readonly Item[],
  { compared: { before, after }, headings, none, what, notes, render }: KindsOptions<Item>,
): Promise<void> {
  const { paint, writeOut } = await import('./print/terminal.ts');
  const kinds = Object.entries(headings).map(
    ([kind, heading]) => ({ kind, heading, own: items.filter((item) => item.kind === kind) }) as const,
  );
  const counts = kinds.map(({ kind, own }) => `${formatNumber(own.length)} ${kind}`);
  await writeOut(
    `Changes from snapshot ${paint('bold', before.id)} to ${paint('bold', after.id)}\n${items.length === 0 ? none : `${what}: ${counts.join(', ')}`}.\n`,
  );
  for (const note of notes) await writeOut(`${note}\n`);
  for (const { heading, own } of kinds) {
    if (own.length === 0) continue;
    await writeOut(`\n${paint('bold', heading)}\n`);
    for (const item of own.slice(0, maxRecords)) await writeOut(await render(item));
    if (own.length > maxRecords)
      await writeOut(
        paint('dim', `  and ${formatNumber(own.length - maxRecords)} more; use --format csv to see all\n`),
      );
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
