/** Compares two snapshots: records that were added, removed or changed, by column, and since when. */

import {
  attachReadOnly,
  columnList,
  type Database,
  openDatabase,
  quoteIdentifier,
  quoteText,
} from '../runtime/database.ts';
import { explainDamage, seal } from '../warehouse/open-published.ts';
import { asQueryResult, type QueryResult } from './query/query-result.ts';
import { streamResult } from './query/stream-result.ts';
import { changesTableName } from '../warehouse/snapshot-format.ts';
import { readSnapshot, requireCurrent, requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';
import { RekapError } from '../errors.ts';
import { columnNames, differencesSql, sharedColumns } from '../load/changes.ts';
import {
  changedNumbers,
  changesTable,
  placeColumns,
  selectList,
  violationColumns,
  violationIdentity,
} from '../load/tables.ts';
import type { AnyPipeline } from '../project/declaration.ts';

export interface ComparedSnapshots {
  readonly before: Snapshot;
  readonly after: Snapshot;
}

/** Returns the snapshots to compare. `b` defaults to the current one, and `a` to the parent of `b`. */
export async function chooseSnapshots(
  warehouse: string,
  a: string | undefined,
  b: string | undefined,
): Promise<ComparedSnapshots> {
  const after = b === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, b);
  const id = a ?? after.manifest.previous;
  if (id === null) {
    const what = `Snapshot ${after.id} is the first of its history, so there is no previous snapshot to compare.`;
    const next = 'Give the IDs of two snapshots. To list them, run "rekap snapshots".';
    throw new RekapError('snapshot-not-found', what, next);
  }
  return { before: await readSnapshot(warehouse, id), after };
}

export interface LoneDataset {
  readonly table: string;
  readonly rows: number;
  readonly snapshot: string;
}

/** Returns the datasets that only one snapshot has. Their records don't count as differences. */
export function loneDatasets({ before, after }: ComparedSnapshots): LoneDataset[] {
  return [[before, after] as const, [after, before] as const].flatMap(([one, other]) =>
    Object.entries(one.manifest.datasets)
      .filter(([table]) => other.manifest.datasets[table] === undefined)
      .map(([table, { rows }]) => ({ table, rows, snapshot: one.id })),
  );
}

/** Passes the differences to `use`, sorted, with the columns of `changes` and `since`, the snapshot with the new value if known. */
export async function diffSnapshots<Value>(
  pipelines: readonly AnyPipeline[],
  compared: ComparedSnapshots,
  use: (result: QueryResult) => Promise<Value>,
): Promise<Value> {
  return queryBoth(compared, use, async (database) => {
    const selects: string[] = [];
    for (const pipeline of pipelines) {
      const before = new Set(await sharedColumns(database, 'old', pipeline));
      const columns = (await sharedColumns(database, 'new', pipeline)).filter((name) => before.has(name));
      if (columns.length === 0) continue;
      const table = quoteIdentifier(pipeline.table);
      const tables = { before: `old.${table}`, after: `new.${table}` };
      selects.push(differencesSql(pipeline, { ...tables, columns, place: placeColumns(pipelines) }));
    }
    const differences = selects.length > 0 ? selects.join(' UNION ALL ') : noDifferenceSql(pipelines);
    const since = await sinceSql(database, pipelines, compared.before.id);
    const order = columnList(['dataset', ...placeColumns(pipelines).map(({ name }) => name)]);
    const names = pipelines.flatMap(({ columns }) => Object.keys(columns)).map(quoteText);
    return `SELECT d.*, ${since} AS since FROM (${differences}) d ORDER BY ${order}, list_position([${names.join(', ')}], column_name)`;
  });
}

/** Passes the violations that only one snapshot has to `use`, with a column `kind` ('new' or 'resolved'). */
export async function diffViolations<Value>(
  pipelines: readonly AnyPipeline[],
  compared: ComparedSnapshots,
  use: (result: QueryResult) => Promise<Value>,
): Promise<Value> {
  const identity = violationIdentity(pipelines).map(quoteIdentifier);
  const same = identity.map((name) => `a.${name} IS NOT DISTINCT FROM b.${name}`).join(' AND ');
  const columns = columnList(['severity', ...violationIdentity(pipelines), 'message']);
  return queryBoth(compared, use, async (database) => {
    const violationsOf = async (snapshot: string): Promise<string> => {
      const existing = await columnNames(database, snapshot, 'violations');
      return `(SELECT ${selectList(violationColumns(pipelines), existing)} FROM ${snapshot}.violations)`;
    };
    const both = { old: await violationsOf('old'), new: await violationsOf('new') };
    const onlyIn = (kind: string, one: string, other: string): string =>
      `SELECT '${kind}' AS kind, ${columns} FROM ${one} a WHERE NOT EXISTS (FROM ${other} b WHERE ${same})`;
    return `${onlyIn('new', both.new, both.old)} UNION ALL ${onlyIn('resolved', both.old, both.new)} ORDER BY ALL`;
  });
}

async function queryBoth<Value>(
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

function noDifferenceSql(pipelines: readonly AnyPipeline[]): string {
  const columns = changesTable(pipelines).columns.filter(
    ({ name }) => name !== 'snapshot_id' && !changedNumbers.includes(name),
  );
  return `SELECT ${columns.map(({ name, type }) => `NULL::${type} AS ${quoteIdentifier(name)}`).join(', ')} WHERE false`;
}

/** Returns SQL for the last snapshot after `from` that changed the same column of the same record. */
async function sinceSql(database: Database, pipelines: readonly AnyPipeline[], from: string): Promise<string> {
  const history = await columnNames(database, 'new', changesTableName);
  if (history.size === 0) return 'NULL::VARCHAR';
  const same = changesTable(pipelines)
    // The history may not have the key columns of newer datasets.
    .columns.filter(
      ({ name }) => history.has(name) && !['old_value', 'kind', 'snapshot_id', ...changedNumbers].includes(name),
    )
    .map(({ name, type }) => `c.${quoteIdentifier(name)}::${type} IS NOT DISTINCT FROM d.${quoteIdentifier(name)}`);
  return `(SELECT max(c.snapshot_id) FROM new.${changesTableName} c WHERE c.snapshot_id > ${quoteText(from)} AND ${same.join(' AND ')})`;
}
