/** rekap diff: what the source restated between two snapshots. */

import { stripVTControlCharacters } from 'node:util';
import { declareCommand } from './options/option.ts';
import { resultOptions, warehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { QueryResult } from '../snapshots/query/query-result.ts';
import type { ComparedSnapshots, LoneDataset } from '../snapshots/diff-snapshots.ts';
import { countOf, formatNumber } from '../runtime/text.ts';

/** So many records are for reading; whoever needs more needs the other formats. */
const mostRecords = 200;

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
    const lone = loneDatasets(compared).map((dataset) => printable(nameLone(dataset)));
    if (format !== 'table') for (const sentence of lone) process.stderr.write(`${sentence}\n`);
    await (violations ? diffViolations : diffSnapshots)(pipelines, compared, async (result) => {
      if (format === 'csv') return void (await writeCsv(result, writeOut));
      if (format === 'json') return void (await writeJson(result, writeOut));
      await (violations ? writeViolations : writeDifferences)(result, compared, pipelines, lone);
    });
    const notice = sampleNotice(compared.after.manifest) ?? sampleNotice(compared.before.manifest);
    if (notice === null) return;
    if (format === 'table') await writeOut(`${notice}\n`);
    else process.stderr.write(`${notice}\n`);
  },
});

/** A dataset that came or went as a whole, as a sentence. */
function nameLone({ table, rows, snapshot }: LoneDataset): string {
  return `Only snapshot ${snapshot} contains the dataset ${table} (${countOf(rows, 'row')}).`;
}

/** Refuses a warehouse whose current snapshot is the only one: nobody can name two then. */
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

/** A difference as the result's rows have it, by column name. */
type Difference = Readonly<Record<string, string>>;

type WriteOf = (
  result: QueryResult,
  compared: ComparedSnapshots,
  pipelines: readonly AnyPipeline[],
  lone: readonly string[],
) => Promise<void>;

const writeDifferences: WriteOf = async (result, compared, pipelines, lone) => {
  const records = await collectRecords(result, pipelines);
  const none =
    lone.length === 0 ? 'No figures changed' : 'No figures changed in the datasets that both snapshots contain';
  const headings = { changed: 'Changed', added: 'Added', removed: 'Removed' };
  await writeByKind(records, { compared, headings, none, what: 'Records', lone, render: renderRecord });
};

const writeViolations: WriteOf = async (result, compared, pipelines, lone) => {
  const { paint } = await import('./print/terminal.ts');
  const rows = (await readTexts(result)).map((row) => ({ ...row, kind: row['kind']! }));
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
    lone,
    render,
  });
};

interface KindsToWrite<Item> {
  readonly compared: ComparedSnapshots;
  /** By kind, in the order in which they are shown. */
  readonly headings: Readonly<Record<string, string>>;
  readonly none: string;
  /** What is counted. */
  readonly what: string;
  readonly lone: readonly string[];
  readonly render: (item: Item) => Promise<string>;
}

async function writeByKind<Item extends { readonly kind: string }>(
  items: readonly Item[],
  { compared: { before, after }, headings, none, what, lone, render }: KindsToWrite<Item>,
): Promise<void> {
  const { paint, writeOut } = await import('./print/terminal.ts');
  const kinds = Object.entries(headings).map(
    ([kind, heading]) => ({ kind, heading, own: items.filter((item) => item.kind === kind) }) as const,
  );
  const counts = kinds.map(({ kind, own }) => `${formatNumber(own.length)} ${kind}`);
  await writeOut(
    `Changes from snapshot ${paint('bold', before.id)} to ${paint('bold', after.id)}\n${items.length === 0 ? none : `${what}: ${counts.join(', ')}`}.\n`,
  );
  for (const sentence of lone) await writeOut(`${sentence}\n`);
  for (const { heading, own } of kinds) {
    if (own.length === 0) continue;
    await writeOut(`\n${paint('bold', heading)}\n`);
    for (const item of own.slice(0, mostRecords)) await writeOut(await render(item));
    if (own.length > mostRecords)
      await writeOut(
        paint('dim', `  and ${formatNumber(own.length - mostRecords)} more; use --format csv to see all\n`),
      );
  }
}

/** Every row as texts that are safe to print, by column name. */
async function readTexts(result: QueryResult): Promise<Difference[]> {
  const [{ displayText }, { printable }] = await Promise.all([
    import('../snapshots/query/query-result.ts'),
    import('./print/terminal.ts'),
  ]);
  const rows: Difference[] = [];
  for await (const group of result.groups())
    for (const row of group)
      rows.push(
        Object.fromEntries(result.columns.map(({ name }, index) => [name, printable(displayText(row[index] ?? null))])),
      );
  return rows;
}

/** The most telling part comes first, as on an envelope. */
function placeOf(row: Difference, pipelines: readonly AnyPipeline[]): string {
  const { key } = pipelines.find(({ table }) => table === row['dataset'])!;
  return [...key.map((name) => row[name]).toReversed(), row['dataset']].join(', ');
}

/** The differences of each record, and the record's name as it is shown. */
interface ChangedRecord {
  readonly place: string;
  readonly kind: string;
  readonly differences: Difference[];
}

/** Two names that look alike once they are safe to print are still two records. */
async function collectRecords(
  result: QueryResult,
  pipelines: readonly AnyPipeline[],
): Promise<readonly ChangedRecord[]> {
  const [{ displayText }, { printable }] = await Promise.all([
    import('../snapshots/query/query-result.ts'),
    import('./print/terminal.ts'),
  ]);
  const records = new Map<string, ChangedRecord>();
  for await (const group of result.groups()) {
    for (const row of group) {
      const difference: Difference = Object.fromEntries(
        result.columns.map(({ name }, index) => [name, printable(displayText(row[index] ?? null))]),
      );
      const { key } = pipelines.find(({ table }) => table === difference['dataset'])!;
      const place = placeOf(difference, pipelines);
      const raw = (name: string) =>
        displayText(row[result.columns.findIndex((column) => column.name === name)] ?? null);
      const identity = JSON.stringify(['dataset', ...key].map(raw));
      const before = records.get(identity);
      if (before === undefined) records.set(identity, { place, kind: difference['kind']!, differences: [difference] });
      else before.differences.push(difference);
    }
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
      step(old, now),
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

/** By how much a figure moved. */
function step(old: string, now: string): string {
  if (![old, now].every((value) => /^\d{1,15}$/.test(value))) return '';
  const by = Number(now) - Number(old);
  return `${by > 0 ? '+' : '−'}${formatNumber(Math.abs(by))}`;
}
