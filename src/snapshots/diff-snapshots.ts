/** Compares two snapshots of a warehouse: which records came, went or were restated, column by column, and since when. */

import {
  attachReadOnly,
  columnList,
  type Database,
  openDatabase,
  quoteIdentifier,
  quoteText,
  tableColumns,
} from '../runtime/database.ts';
import { explainDamage, seal } from '../warehouse/open-published.ts';
import { asQueryResult, type QueryResult } from './query/query-result.ts';
import { streamResult } from './query/stream-result.ts';
import { changesTableName } from '../warehouse/snapshot-format.ts';
import { readSnapshot, requireCurrent, requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';
import { RekapError } from '../errors.ts';
import { differencesSql, sharedColumns } from '../load/changes.ts';
import { changesTable, placeColumns, selectList, stagedViolationsTable, violationIdentity } from '../load/tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';

/** The two snapshots of a comparison. */
export interface ComparedSnapshots {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** The snapshots that are meant: B is the current one unless it is named, A the one before B. */
export async function chooseSnapshots(
  warehouse: string,
  a: string | undefined,
  b: string | undefined,
): Promise<ComparedSnapshots> {
  const after = b === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, b);
  const id = a ?? after.manifest.previous;
  if (id === null) {
    throw new RekapError(
      'snapshot-not-found',
      `Snapshot ${after.id} is the first of its history, so there is no previous snapshot to compare.`,
      'Give the IDs of two snapshots. To list them, run "rekap snapshots list".',
    );
  }
  return { before: await readSnapshot(warehouse, id), after };
}

/** A dataset that only one of two snapshots has: it was declared, or given up, between them. */
export interface LoneDataset {
  readonly table: string;
  readonly rows: number;
  /** Id of the snapshot that has it. */
  readonly snapshot: string;
}

/** The datasets that only one of the two names. Their records are no differences: nobody restated them. */
export function loneDatasets({ before, after }: ComparedSnapshots): LoneDataset[] {
  return [[before, after] as const, [after, before] as const].flatMap(([one, other]) =>
    Object.entries(one.manifest.datasets)
      .filter(([table]) => other.manifest.datasets[table] === undefined)
      .map(([table, { rows }]) => ({ table, rows, snapshot: one.id })),
  );
}

/**
 * Hands the differences to `use`, sorted: dataset, the key columns, column_name, old_value, new_value, kind ('changed', 'added',
 * 'removed') and since, the snapshot that brought the new value, where the later snapshot's history knows it.
 */
export async function diffSnapshots<Value>(
  pipelines: readonly AnyPipeline[],
  compared: ComparedSnapshots,
  use: (result: QueryResult) => Promise<Value>,
): Promise<Value> {
  return askBoth(compared, use, async (database) => {
    const selects: string[] = [];
    for (const pipeline of pipelines) {
      const there = new Set(await sharedColumns(database, 'old', pipeline));
      const columns = (await sharedColumns(database, 'new', pipeline)).filter((name) => there.has(name));
      if (columns.length === 0) continue;
      const table = quoteIdentifier(pipeline.table);
      selects.push(
        differencesSql(pipeline, {
          before: `old.${table}`,
          after: `new.${table}`,
          columns,
          place: placeColumns(pipelines),
        }),
      );
    }
    const differences = selects.length > 0 ? selects.join(' UNION ALL ') : noDifferenceSql(pipelines);
    const since = await sinceSql(database, pipelines, compared.before.id);
    const order = columnList(['dataset', ...placeColumns(pipelines).map(({ name }) => name)]);
    // The columns of a record stay in the order of its table.
    const names = pipelines.flatMap(({ columns }) => Object.keys(columns)).map(quoteText);
    return `SELECT d.*, ${since} AS since FROM (${differences}) d ORDER BY ${order}, list_position([${names.join(', ')}], column_name)`;
  });
}

/**
 * Hands the violations that only one of the two has to `use`: kind ('new' or 'resolved'), severity, dataset, the key columns, check_name,
 * column_name and message. A check that is broken in the same column of the same row stands, whatever the values are.
 */
export async function diffViolations<Value>(
  pipelines: readonly AnyPipeline[],
  compared: ComparedSnapshots,
  use: (result: QueryResult) => Promise<Value>,
): Promise<Value> {
  const identity = violationIdentity(pipelines).map(quoteIdentifier);
  const same = identity.map((name) => `a.${name} IS NOT DISTINCT FROM b.${name}`).join(' AND ');
  const wanted = new Set([...violationIdentity(pipelines), 'severity', 'message']);
  const own = stagedViolationsTable(pipelines).columns.filter(({ name }) => wanted.has(name));
  const columns = columnList(['severity', ...violationIdentity(pipelines), 'message']);
  return askBoth(compared, use, async (database) => {
    const violationsOf = async (snapshot: string): Promise<string> => {
      const there = new Set(
        (await tableColumns(database, snapshot, 'violations')).map(({ column_name }) => column_name),
      );
      return `(SELECT ${selectList(own, there, pipelines) ?? columns} FROM ${snapshot}.violations)`;
    };
    const both = { old: await violationsOf('old'), new: await violationsOf('new') };
    const onlyIn = (kind: string, one: string, other: string): string =>
      `SELECT '${kind}' AS kind, ${columns} FROM ${one} a WHERE NOT EXISTS (FROM ${other} b WHERE ${same})`;
    return `${onlyIn('new', both.new, both.old)} UNION ALL ${onlyIn('resolved', both.old, both.new)} ORDER BY ALL`;
  });
}

/** Hands what a query gives over both snapshots, which are attached as `old` and `new`. */
async function askBoth<Value>(
  { before, after }: ComparedSnapshots,
  use: (result: QueryResult) => Promise<Value>,
  makeSql: (database: Database) => Promise<string>,
): Promise<Value> {
  const database = await openDatabase(':memory:');
  try {
    for (const [name, snapshot] of Object.entries({ old: before, new: after }))
      await attachReadOnly(database, await requireDatabase(snapshot), name);
    await seal(database);
    const statement = { sql: await makeSql(database), prepare: (sql: string) => database.connection.prepare(sql) };
    return await streamResult(statement, (streamed) => use(asQueryResult(streamed)));
  } catch (error) {
    const next = `To find the damage and its repair, run "rekap snapshots verify ${before.id}" and "rekap snapshots verify ${after.id}".`;
    throw explainDamage(error, `The DuckDB file of snapshot ${before.id} or ${after.id}`, next) ?? error;
  } finally {
    database.close();
  }
}

/** What two snapshots without a common dataset differ in: the columns of a difference, and no row. */
function noDifferenceSql(pipelines: readonly AnyPipeline[]): string {
  const columns = changesTable(pipelines).columns.filter(({ name }) => name !== 'snapshot_id');
  return `SELECT ${columns.map(({ name, type }) => `NULL::${type} AS ${quoteIdentifier(name)}`).join(', ')} WHERE false`;
}

/** The last snapshot after `from` that changed the same column of the same record. */
async function sinceSql(database: Database, pipelines: readonly AnyPipeline[], from: string): Promise<string> {
  const history = new Set(
    (await tableColumns(database, 'new', changesTableName)).map(({ column_name }) => column_name),
  );
  if (history.size === 0) return 'NULL::VARCHAR';
  const same = changesTable(pipelines)
    .columns.map(({ name }) => name)
    // A column that only a later dataset's key has, the history does not.
    .filter((name) => history.has(name) && !['old_value', 'kind', 'snapshot_id'].includes(name))
    .map((name) => `c.${quoteIdentifier(name)} IS NOT DISTINCT FROM d.${quoteIdentifier(name)}`);
  return `(SELECT max(c.snapshot_id) FROM new.${changesTableName} c WHERE c.snapshot_id > ${quoteText(from)} AND ${same.join(' AND ')})`;
}
