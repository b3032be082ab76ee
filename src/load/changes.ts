/** Finds the rows in which two versions of a table differ, and keeps their history in the table `changes`. */

import { columnList, type Database, quoteIdentifier, quoteText, tableColumns } from '../runtime/database.ts';
import { changedNumbers, changesTable, placeColumns, selectList, type TableColumn } from './tables.ts';
import { cursorSql } from '../kinds/cursor.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import { changesTableName } from '../warehouse/snapshot-format.ts';

export interface ChangeCounts {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/** Changes of records whose cursor is before `from`: the windows of incremental syncs could not show them. */
export interface WindowBound {
  readonly cursor: string;
  /** In the unit of the cursor. */
  readonly from: bigint;
}

/**
 * Returns a SELECT of the differences between two tables of a dataset, with the columns of `changes` except `snapshot_id`.
 * @param before, after Names of the tables, as SQL.
 * @param columns The columns to compare, which both tables have.
 * @param place The columns of all keys of the project.
 * @param missed SQL that is true if windows could not show a change, on the relations o (before) and n (after).
 */
export function differencesSql(
  pipeline: AnyPipeline,
  {
    before,
    after,
    columns,
    place,
    missed = 'false',
  }: {
    readonly before: string;
    readonly after: string;
    readonly columns: readonly string[];
    readonly place: readonly TableColumn[];
    readonly missed?: string;
  },
): string {
  const { key, table } = pipeline;
  const first = quoteIdentifier(key[0]!);
  const places = place.map(({ name, type }) => {
    const column = quoteIdentifier(name);
    return `${key.includes(name) ? `coalesce(n.${column}, o.${column})` : 'NULL'}::${type} AS ${column}`;
  });
  const compared = columns.filter((name) => !key.includes(name)).map((name) => [name, quoteIdentifier(name)] as const);
  // A table of nothing but its key has at least the last part of the key in its changes.
  const described = compared.length > 0 ? compared : [[key.at(-1)!, quoteIdentifier(key.at(-1)!)] as const];
  const values = described.map(
    ([name, column]) =>
      `{column_name: ${quoteText(name)}, old_value: o.${column}::VARCHAR, new_value: n.${column}::VARCHAR}`,
  );
  const differs = [
    `o.${first} IS NULL`,
    `n.${first} IS NULL`,
    ...compared.map(([, column]) => `o.${column} IS DISTINCT FROM n.${column}`),
  ];
  const same = key.map((name) => `o.${quoteIdentifier(name)} = n.${quoteIdentifier(name)}`);
  return `SELECT ${quoteText(table)} AS dataset, * EXCLUDE (kind, missed), kind, missed FROM (
    SELECT ${places.join(', ')}, unnest([${values.join(', ')}], recursive := true),
      CASE WHEN o.${first} IS NULL THEN 'added' WHEN n.${first} IS NULL THEN 'removed' ELSE 'changed' END AS kind, ${missed} AS missed
    FROM ${before} o FULL JOIN ${after} n ON ${same.join(' AND ')} WHERE ${differs.join(' OR ')}
  ) WHERE kind <> 'changed' OR old_value IS DISTINCT FROM new_value`;
}

/** Returns the columns of a pipeline that its table in an attached database has too. Empty if the table does not have the whole key. */
export async function sharedColumns(database: Database, attached: string, pipeline: AnyPipeline): Promise<string[]> {
  const existing = await columnNames(database, attached, pipeline.table);
  if (!pipeline.key.every((name) => existing.has(name))) return [];
  return Object.keys(pipeline.columns).filter((name) => existing.has(name));
}

export async function columnNames(database: Database, attached: string, table: string): Promise<Set<string>> {
  return new Set((await tableColumns(database, attached, table)).map(({ column_name }) => column_name));
}

/** Returns a SELECT for the new table `changes`: the history from the previous snapshot, and the differences from it. */
export async function changesSql(
  database: Database,
  pipelines: readonly AnyPipeline[],
  snapshot: string,
  bounds: ReadonlyMap<string, WindowBound>,
): Promise<string> {
  const earlier = await columnNames(database, 'previous', changesTableName);
  const columns = selectList(
    changesTable(pipelines).columns.filter(({ name }) => !changedNumbers.includes(name)),
    earlier,
  );
  const selects = [`SELECT ${columns} FROM previous.${changesTableName}`];
  for (const pipeline of pipelines) {
    const shared = await sharedColumns(database, 'previous', pipeline);
    if (shared.length === 0) continue;
    const table = quoteIdentifier(pipeline.table);
    const bound = bounds.get(pipeline.table);
    const cursorIn = (relation: string): string => cursorSql(pipeline.columns[bound!.cursor]!, bound!.cursor, relation);
    const differences = differencesSql(pipeline, {
      ...(bound !== undefined && {
        // A record without a readable cursor is in no window.
        missed: `coalesce(greatest(${cursorIn('n')}, ${cursorIn('o')}) < ${bound.from}, true)`,
      }),
      before: `previous.${table}`,
      after: table,
      columns: shared,
      place: placeColumns(pipelines),
    });
    selects.push(`SELECT * EXCLUDE (missed), ${quoteText(snapshot)} AS snapshot_id, missed FROM (${differences})`);
  }
  const numbers = pipelines.flatMap(({ table, columns: declared }) =>
    Object.entries(declared)
      .filter(([, { kind }]) => ['integer', 'count', 'decimal'].includes(kind))
      .map(([name]) => quoteText(`${table}.${name}`)),
  );
  const number = (column: string): string =>
    `CASE WHEN dataset || '.' || column_name IN (${['NULL', ...numbers].join(', ')}) THEN try_cast(${column} AS DOUBLE) END`;
  return `SELECT * EXCLUDE (missed), ${number('old_value')} AS old_number, ${number('new_value')} AS new_number, missed FROM (${selects.join(' UNION ALL ')})`;
}

/** Counts the changed records of a snapshot, and those of them that windows missed. */
export async function countChanges(
  database: Database,
  pipeline: AnyPipeline,
  snapshot: string,
): Promise<{ changes: ChangeCounts; missed: ChangeCounts }> {
  const rows = await database.rows<{ kind: keyof ChangeCounts; records: bigint; late: bigint }>(
    `SELECT kind, count(DISTINCT (${columnList(pipeline.key)})) AS records,
       count(DISTINCT (${columnList(pipeline.key)})) FILTER (missed) AS late FROM ${changesTableName}
     WHERE snapshot_id = ${quoteText(snapshot)} AND dataset = ${quoteText(pipeline.table)} GROUP BY kind`,
  );
  const counts = (count: 'records' | 'late'): ChangeCounts => ({
    added: 0,
    removed: 0,
    changed: 0,
    ...Object.fromEntries(rows.map((row) => [row.kind, Number(row[count])])),
  });
  return { changes: counts('records'), missed: counts('late') };
}
