/** Collects what can be said of a snapshot, or of one place in it: what was read, what proves it, and what is unknown. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RekapError } from '../errors.ts';
import type { AnyPipeline } from '../project/declaration.ts';
import type { Language } from '../project/sql-file.ts';
import { describeReading } from '../warehouse/describe-reading.ts';
import { partitionParameters, partitionSql } from '../project/partition-list.ts';
import { computeSha256 } from '../publish/manifest.ts';
import { escapePointer, fieldPath } from '../project/field-path.ts';
import { columnList, type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { type ManifestDataset, manifestFile } from '../warehouse/snapshot-format.ts';
import { requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';
import { damagedError, verifyPublished } from './manage-snapshots.ts';

export interface StatedDataset {
  readonly dataset: string;
  readonly title: string;
  readonly rows: number;
  /** Lists that hold the rows: partitions, or the one list of the dataset. */
  readonly lists: number;
  readonly confirmed: number;
  readonly grades: readonly string[];
  /** First and last time of reading, ISO 8601; null without a list. */
  readonly read: readonly [first: string, last: string] | null;
  /** Rows of earlier syncs. Null for a place: the times say when its lists were read. */
  readonly carriedOver: number | null;
  /** How far the proof reaches, if only what changed was read. */
  readonly reading: Readonly<Record<Language, string | null>>;
  /**
   * Watched columns: the exact sum of known values as digits, and how many rows have one. `of` are the values of the key before the partition,
   * such as a year, because sums over several of them count people twice; empty if the dataset has only one.
   */
  readonly sums: readonly {
    readonly of: string;
    readonly column: string;
    readonly sum: string | null;
    readonly known: number;
    readonly rows: number;
  }[];
  /** Columns with rows that have no value. */
  readonly unknown: readonly { readonly column: string; readonly field: string; readonly rows: number }[];
  readonly quarantined: number;
  readonly violations: readonly { readonly check: string; readonly severity: string; readonly rows: number }[];
}

export interface Statement {
  readonly project: string;
  readonly source: string;
  readonly snapshot: string;
  readonly tool: string;
  /** SHA-256 of manifest.json, which contains those of all files. */
  readonly sha256: string;
  /** The place, and the column that has its name; null for the whole snapshot. */
  readonly place: { readonly name: string; readonly column: string } | null;
  /** The only datasets that it is about; null for all. */
  readonly only: readonly string[] | null;
  readonly datasets: readonly StatedDataset[];
}

/**
 * @param name A place; null for everything.
 * @param scope.column Where to look for the name. If undefined, in all columns with text or in the key.
 * @param scope.datasets If undefined, all.
 * @throws `verification` if a file of the snapshot was altered, `usage` if the name is unknown or ambiguous.
 */
export async function collectStatement(
  warehouse: string,
  snapshot: Snapshot,
  name: string | null,
  scope: { readonly column: string | undefined; readonly datasets: readonly string[] | undefined },
): Promise<Statement> {
  const { column, datasets: requested } = scope;
  const { id, folder, manifest } = snapshot;
  const { problems } = await verifyPublished(warehouse, id);
  if (problems.length > 0) {
    const what = `Snapshot ${id} is damaged, so nothing can be stated about it:`;
    throw damagedError(what, problems, 'Run "rekap snapshots verify".');
  }
  const { project, source, tool } = manifest;
  const database = await openPublished(await requireDatabase(snapshot));
  try {
    const pipelines = project.pipelines.filter(
      ({ table }) => manifest.datasets[table] !== undefined && requested?.includes(table) !== false,
    );
    const place = name === null ? null : await findPlace(database, pipelines, name, column);
    const datasets: StatedDataset[] = [];
    for (const pipeline of pipelines)
      if (place === null || pipeline.columns[place.column] !== undefined)
        datasets.push(await stateDataset(database, pipeline, manifest.datasets[pipeline.table]!, place));
    const sha256 = computeSha256(await readFile(join(folder, manifestFile)));
    return {
      project: project.title,
      source,
      snapshot: id,
      tool: `${tool.name} ${tool.version}`,
      sha256,
      place,
      only: requested ?? null,
      datasets,
    };
  } finally {
    database.close();
  }
}

function isNamed(column: string, name: string): string {
  return `upper(${quoteIdentifier(column)}::VARCHAR) = upper(${quoteText(name)})`;
}

/** Returns the column that has the name, and its spelling there. Columns that have it in the same rows count as one. */
async function findPlace(
  database: Database,
  pipelines: readonly AnyPipeline[],
  name: string,
  chosen: string | undefined,
): Promise<NonNullable<Statement['place']>> {
  const found = new Map<string, { readonly spelling: string; rows: string }>();
  const nearest = new Set<string>();
  for (const { table, key, columns } of pipelines) {
    const texts = Object.keys(columns).filter((one) => columns[one]!.kind === 'text' && !key.includes(one));
    for (const column of chosen === undefined ? [...key, ...texts] : [chosen].filter((one) => columns[one])) {
      const text = `${quoteIdentifier(column)}::VARCHAR`;
      const [row] = await database.rows<{ rows: string | null; spelling: string }>(
        `SELECT string_agg(t.rowid, ',' ORDER BY t.rowid) AS rows, min(${text}) AS spelling
         FROM ${quoteIdentifier(table)} t WHERE ${isNamed(column, name)}`,
      );
      const { rows, spelling } = row!;
      const before = found.get(column);
      if (rows !== null)
        found.set(column, { spelling: before?.spelling ?? spelling, rows: `${before?.rows ?? ''} ${table} ${rows}` });
      const near = await database.rows<{ name: string }>(
        `SELECT DISTINCT ${text} AS name FROM ${quoteIdentifier(table)}
         WHERE contains(upper(${text}), upper(${quoteText(name)})) ORDER BY ALL LIMIT 8`,
      );
      for (const one of near) nearest.add(one.name);
    }
  }
  const places = [...found].filter(
    ([column, { rows }]) => [...found].find(([, other]) => other.rows === rows)![0] === column,
  );
  if (places.length === 1) return { column: places[0]![0], name: places[0]![1].spelling };
  const what = JSON.stringify(name);
  if (places.length > 1) {
    const columns = places.map(([column]) => column);
    const next = `Choose one, such as --column ${columns[0]}.`;
    throw new RekapError('usage', `${what} is in several columns: ${columns.join(', ')}.`, next);
  }
  const next =
    nearest.size > 0
      ? `Did you mean ${[...nearest].slice(0, 8).join(', ')}?`
      : 'Use a name as the source spells it, or leave it out.';
  throw new RekapError('usage', `Unknown name ${what}: no row has this name.`, next);
}

async function stateDataset(
  database: Database,
  pipeline: AnyPipeline,
  dataset: ManifestDataset,
  place: Statement['place'],
): Promise<StatedDataset> {
  const { table, columns, key, partition, title, watch } = pipeline;
  const from = `${quoteIdentifier(table)}${place === null ? '' : ` WHERE ${isNamed(place.column, place.name)}`}`;
  const names = Object.keys(columns);
  const [counts] = await database.rows<Readonly<Record<string, string>>>(
    `SELECT count(*)::VARCHAR AS rows, ${names.map((one, at) => `count(${quoteIdentifier(one)})::VARCHAR AS n${at}`).join(', ')} FROM ${from}`,
  );
  const rows = Number(counts!['rows']);
  const unknownOf = (column: string): number => rows - Number(counts![`n${names.indexOf(column)}`]);
  const isPart = partition !== undefined && place !== null;
  const idSql = `SELECT DISTINCT ${partitionSql(pipeline)} AS id FROM ${from}`;
  const ids = isPart ? (await database.rows<{ id: string }>(idSql)).map(({ id }) => id) : null;
  const isPartitioned = dataset.partitions.some(({ partition: id }) => id !== null);
  const lists = dataset.partitions.filter(({ partition: id, received }) =>
    ids === null ? !isPartitioned || (id !== null && received > 0) : id !== null && ids.includes(id),
  );
  // Rows outside a window are as old as the last reading of the whole list.
  const whole = lists.some(({ window }) => window !== undefined) ? [dataset.reading!.whole_at!] : [];
  const times = [...whole, ...lists.map(({ read_at }) => read_at)].toSorted();
  const outer = partitionParameters(pipeline).map(({ column }) => key.indexOf(column));
  const groups = key.slice(0, outer.length === 0 ? 0 : Math.min(...outer));
  const group = groups.length === 0 ? "''" : `concat_ws(' ', ${columnList(groups)})`;
  const watched = watch.map(quoteIdentifier);
  const watchedSums = watched.map((one, at) => `sum(${one})::VARCHAR AS s${at}, count(${one})::VARCHAR AS n${at}`);
  const sums = await database.rows<Readonly<Record<string, string | null>>>(
    `SELECT ${group} AS "of", count(*)::VARCHAR AS rows, ${watchedSums.join(', ')} FROM ${from} GROUP BY "of" ORDER BY "of"`,
  );
  // A violation of a whole partition has no other parts of the key.
  const same = key.map(quoteIdentifier).map((one) => `(v.${one} IS NULL OR v.${one}::VARCHAR = t.${one}::VARCHAR)`);
  const violations = await database.rows<{ check: string; severity: string; rows: number }>(
    `SELECT check_name AS "check", severity, count(*)::INTEGER AS rows FROM violations v
     WHERE dataset = ${quoteText(table)}${place === null ? '' : ` AND EXISTS (FROM (FROM ${from}) t WHERE ${same.join(' AND ')})`} GROUP BY ALL ORDER BY severity, rows DESC, "check"`,
  );
  // A record that is no row has only its own fields.
  const pointer = place === null ? '' : `/${fieldPath(columns[place.column]!.field).map(escapePointer).join('/')}`;
  const inPlace =
    place === null
      ? ''
      : ` AND upper(CASE WHEN json_valid(record) THEN record ->> ${quoteText(pointer)} END) = upper(${quoteText(place.name)})`;
  const [quarantine] = await database.rows<{ n: number }>(
    `SELECT count(*)::INTEGER AS n FROM quarantine WHERE dataset = ${quoteText(table)}${inPlace}`,
  );
  return {
    dataset: table,
    title,
    rows,
    lists: lists.length,
    confirmed: lists.filter(({ complete, window }) => complete && window === undefined).length,
    grades: [...new Set(lists.flatMap(({ grade }) => grade ?? []))],
    read: times.length === 0 ? null : [times[0]!, times.at(-1)!],
    carriedOver: place === null ? dataset.carried_over : null,
    reading: { en: describeReading(dataset, 'en'), id: describeReading(dataset, 'id') },
    sums: sums.flatMap((row) =>
      watch.map((column, at) => ({
        of: sums.length > 1 ? row['of']! : '',
        column,
        sum: row[`s${at}`] ?? null,
        known: Number(row[`n${at}`]),
        rows: Number(row['rows']),
      })),
    ),
    unknown: names
      .map((column) => ({ column, field: columns[column]!.field, rows: unknownOf(column) }))
      .filter((one) => one.rows > 0),
    quarantined: quarantine!.n,
    violations,
  };
}
