/** Checks a snapshot's tables against the manifest and the Parquet files. `verify-snapshot.ts` lists and runs the checks. */

import { basename, join } from 'node:path';
import { ownTables } from '../project/reserved.ts';
import {
  columnList,
  contentSql,
  type Database,
  type DefinedObject,
  type Definitions,
  type DescribedColumn,
  quoteIdentifier,
  quoteText,
  readComments,
  readObjects,
  readParquetSql,
  tableColumns,
} from '../runtime/database.ts';
import { findImpurities } from '../load/analyze-sql.ts';
import { changesTableName, databaseFile, type Manifest, snapshotsLogTableName } from '../warehouse/snapshot-format.ts';
import { fingerprint } from './manifest.ts';
import { type ParquetContent, readContents } from './parquet-contents.ts';
import { summedColumns } from '../project/declaration.ts';
import { namePartition, partitionSql } from '../project/partition-list.ts';

export interface Subject {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Undefined if another release built the snapshot. */
  readonly declared?: Definitions | undefined;
  /** Undefined if the Parquet files must be read. */
  readonly contents?: ReadonlyMap<string, ParquetContent> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** `published` is sealed. `parquet` may read the Parquet files. */
export interface OpenTables {
  readonly published: Database;
  readonly parquet: Database;
}

export type TableCheck = (subject: Subject, open: OpenTables) => Promise<string[]>;

/**
 * Checks the kind and definition of every relation. A view instead of a table would show other rows, and a macro could replace a function. Views
 * may come from someone else, so none is bound or run before this.
 */
export async function relationsAgree(subject: Subject, { published }: OpenTables): Promise<string[]> {
  const { manifest, declared } = subject;
  const found = await readObjects(published);
  const tables = manifest.files.filter(({ path }) => path.endsWith('.parquet'));
  const named = new Set([...tables.map(({ path }) => basename(path, '.parquet')), snapshotsLogTableName]);
  const existing = new Set(found.map(({ name }) => name));
  const missing = [...named, ...Object.keys(manifest.datasets)].filter((name) => !existing.has(name));
  if (missing.length > 0)
    return [...new Set(missing)].map((name) => `${databaseFile}: the table or view ${name} is missing`);
  const expected = new Map(declared?.objects.map((object) => [object.name, object]));
  const problems = found.flatMap(({ kind, name, definition, comment }) => {
    if (!named.has(name) || (kind !== 'table' && kind !== 'view'))
      return [`${databaseFile}: the manifest does not list the ${kind} ${name}`];
    if (kind === 'view' && isTable(manifest, name)) return [`${databaseFile}: ${name} is a view, not a table`];
    const own = expected.get(name);
    if (declared === undefined || (own?.definition === definition && own.comment === comment)) return [];
    return [`${databaseFile}: the ${kind} ${name} does not match its definition`];
  });
  if (problems.length > 0) return problems;
  if (declared === undefined) return [...generatedColumns(found), ...(await impureViews(published, found))];
  const comments = await readComments(published);
  return found.flatMap(({ kind, name }) =>
    declared.comments.get(name) === comments.get(name)
      ? []
      : [`${databaseFile}: the comments of the ${kind} ${name} do not match its definition`],
  );
}

/** Checks views that can't be compared with a declaration, because another release made them. */
async function impureViews(published: Database, objects: readonly DefinedObject[]): Promise<string[]> {
  const views = objects.filter(({ kind }) => kind === 'view');
  const impurities = await findImpurities(
    published,
    views.map(({ name, definition }) => {
      const start = [name, quoteIdentifier(name)].map((written) => `CREATE VIEW ${written} AS `);
      return definition.slice(start.find((text) => definition.startsWith(text))?.length ?? 0);
    }),
  );
  return views.flatMap(({ name }, index) =>
    impurities[index] === null ? [] : [`${databaseFile}: the view ${name} is refused: ${impurities[index]!.what}`],
  );
}

/** Finds tables whose columns may call any function, also one that runs for hours or reads a setting. No release of rekap creates one. */
function generatedColumns(objects: readonly DefinedObject[]): string[] {
  return objects.flatMap(({ kind, name, definition }) =>
    kind === 'table' && definition.includes('GENERATED ALWAYS AS')
      ? [`${databaseFile}: the table ${name} is refused: it computes a column`]
      : [],
  );
}

function isTable({ datasets }: Manifest, name: string): boolean {
  return ownTables.has(name) || Object.hasOwn(datasets, name);
}

/** Compares the figures of each dataset with the manifest. `rowsAgree` compares the Parquet files with the tables. */
export async function figuresAgree({ manifest }: Subject, { published }: OpenTables): Promise<string[]> {
  const problems: string[] = [];
  for (const pipeline of manifest.project.pipelines) {
    const { table } = pipeline;
    const { rows, sums, nulls } = manifest.datasets[table]!;
    const figures = [
      { what: 'the number of rows', sql: 'count(*)', expected: rows },
      ...summedColumns(pipeline).flatMap((column) => {
        const name = quoteIdentifier(column);
        return [
          { what: `the sum of ${column}`, sql: `coalesce(sum(${name}), 0)`, expected: sums[column] },
          {
            what: `the number of NULLs in ${column}`,
            sql: `count(*) FILTER (${name} IS NULL)`,
            expected: nulls[column],
          },
        ];
      }),
    ];
    const selected = figures.map(({ sql }, index) => `(${sql})::VARCHAR AS f${index}`).join(', ');
    const [found] = await published.rows<Record<string, string>>(`SELECT ${selected} FROM ${quoteIdentifier(table)}`);
    for (const [index, { what, expected }] of figures.entries()) {
      const actual = found![`f${index}`];
      if (actual !== String(expected))
        problems.push(`table ${table}: ${what} is ${actual}, but ${expected ?? 'missing'} in the manifest`);
    }
  }
  return problems;
}

/** Checks that every row belongs to a complete partition, and that no partition has more rows than received records. */
export async function partitionsComplete({ manifest }: Subject, { published }: OpenTables): Promise<string[]> {
  const problems: string[] = [];
  for (const pipeline of manifest.project.pipelines) {
    const { table } = pipeline;
    const verdicts = new Map(manifest.datasets[table]!.partitions.map((verdict) => [verdict.partition, verdict]));
    const found = await published.rows<{ partition: string | null; row_count: bigint }>(
      `SELECT ${partitionSql(pipeline)} AS partition, count(*) AS row_count FROM ${quoteIdentifier(table)} GROUP BY ALL HAVING row_count > 0 ORDER BY ALL`,
    );
    for (const { partition, row_count } of found) {
      const verdict = verdicts.get(partition);
      if (verdict?.complete !== true)
        problems.push(`table ${table}: the manifest does not list ${namePartition(partition)} as complete`);
      // The other rows of a window are those that the previous snapshot had.
      const most =
        (verdict?.received ?? 0) + (verdict?.window === undefined ? 0 : manifest.datasets[table]!.carried_over);
      if (verdict?.complete === true && row_count > BigInt(most))
        problems.push(
          `table ${table}: ${namePartition(partition)} has ${row_count} rows, but ${most} records in the manifest`,
        );
    }
  }
  return problems;
}

export async function columnsAgree({ manifest }: Subject, { published }: OpenTables): Promise<string[]> {
  const problems: string[] = [];
  for (const { table } of manifest.project.pipelines) {
    const columns = await tableColumns(published, null, table);
    const schema = columns.map(({ column_name, column_type }) => [column_name, column_type]);
    if (fingerprint(schema) !== manifest.datasets[table]!.schema_fingerprint)
      problems.push(`table ${table}: its columns do not match the manifest`);
  }
  return problems;
}

export async function countsAgree({ manifest }: Subject, { published }: OpenTables): Promise<string[]> {
  const { pipelines } = manifest.project;
  const key = [...new Set(pipelines.flatMap((pipeline) => pipeline.key))];
  if (key.length === 0) return [];
  const rows = await published.rows<{ what: string; dataset: string; name: string; row_count: bigint }>(
    `SELECT 'violations' AS what, dataset, check_name AS name, count(*) AS row_count FROM violations GROUP BY ALL
     UNION ALL SELECT 'quarantine', dataset, 'records', count(*) FROM quarantine GROUP BY ALL
     UNION ALL SELECT 'changes', dataset, kind, count(DISTINCT (${columnList(key)})) FROM ${quoteIdentifier(changesTableName)}
       WHERE snapshot_id = ${quoteText(manifest.snapshot)} GROUP BY ALL`,
  );
  return pipelines.flatMap(({ table }) => {
    const { violations, quarantined, changes } = manifest.datasets[table]!;
    const expected = { violations, quarantine: { records: quarantined }, changes };
    return Object.entries(expected).flatMap(([what, counts]) => {
      const found = rows.filter((row) => row.what === what && row.dataset === table);
      const now = listCounts(found.map(({ name, row_count }) => [name, Number(row_count)]));
      const then = listCounts(Object.entries(counts));
      return now === then ? [] : [`table ${what}: ${table} has ${now}, but ${then} in the manifest`];
    });
  });
}

function listCounts(counts: readonly (readonly [string, number])[]): string {
  const listed = counts.filter(([, count]) => count !== 0).map(([name, count]) => `${count} ${name}`);
  return listed.toSorted().join(', ') || 'none';
}

function pairsOf({ folder, manifest }: Subject) {
  return manifest.files
    .filter(({ path }) => path.endsWith('.parquet'))
    .map(({ path, rows, content }) => {
      const table = basename(path, '.parquet');
      return {
        path,
        rows,
        content,
        table,
        inDatabase: quoteIdentifier(table),
        inParquet: readParquetSql(join(folder, path)),
      };
    });
}

/** Compares column names and types, as the type of a whole row. */
export async function typesAgree(subject: Subject, { published, parquet }: OpenTables): Promise<string[]> {
  const pairs = pairsOf(subject);
  if (pairs.length === 0) return [];
  const typesIn = async (database: Database, relationOf: (pair: (typeof pairs)[number]) => string) => {
    const names = pairs.map((_, n) => `r${n}`);
    const from = pairs.map((pair, n) => `${relationOf(pair)} AS r${n}`);
    const rows = await database.rows<DescribedColumn>(`DESCRIBE SELECT ${names.join(', ')} FROM ${from.join(', ')}`);
    return rows.map(({ column_type }) => column_type);
  };
  const tableTypes = await typesIn(published, ({ inDatabase }) => inDatabase);
  const parquetTypes = await typesIn(parquet, ({ inParquet }) => inParquet);
  return pairs.flatMap(({ path, table }, n) =>
    tableTypes[n] === parquetTypes[n]
      ? []
      : [`${path}: its columns are ${parquetTypes[n]}, but the columns of the table ${table} are ${tableTypes[n]}`],
  );
}

/**
 * Compares the rows by count and by two sums of hashes, which don't depend on the order.
 * Views are compared with their hash in the manifest, because they follow from the tables.
 */
export async function rowsAgree(subject: Subject, { published, parquet }: OpenTables): Promise<string[]> {
  const pairs = pairsOf(subject);
  if (pairs.length === 0) return [];
  const tables = pairs.filter(({ table }) => isTable(subject.manifest, table));
  // One statement, because planning several takes longer than running them.
  const tableRows = await published.rows<{ place: number; rows: bigint; content: string }>(
    tables
      .map((pair) => {
        const { inDatabase } = pair;
        return `SELECT ${pairs.indexOf(pair)} AS place, (SELECT count(*) FROM ${inDatabase}) AS rows, ${contentSql(inDatabase)} AS content`;
      })
      .join(' UNION ALL '),
  );
  const paths = pairs.map(({ path }) => path);
  const contents = subject.contents ?? (await readContents(parquet, subject.folder, paths));
  const problems = pairs.flatMap(({ path, table, rows, content }, n) => {
    const ofTable = tableRows.find(({ place }) => place === n);
    const ofFile = contents.get(path)!;
    if (ofTable !== undefined && ofTable.content !== ofFile.all)
      return [{ table, what: `${path}: its rows do not match the table ${table}` }];
    if (content !== (ofFile.withoutHistory ?? ofFile.all))
      return [{ table, what: `${path}: its rows do not match the manifest` }];
    const counted = (ofTable ?? ofFile).rows;
    if (Number(counted) === rows) return [];
    return [{ table, what: `table ${table}: the number of rows is ${counted}, but ${rows} in the manifest` }];
  });
  // Views differ because of their tables, so table problems hide those of views.
  const ofTables = problems.filter(({ table }) => isTable(subject.manifest, table));
  return (ofTables.length > 0 ? ofTables : problems).map(({ what }) => what);
}
