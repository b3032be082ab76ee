/** Compares what a manifest says with the tables and Parquet files: rows, sums, NULLs, columns, doubts, changes, and every value of every row. */

import { basename, join } from 'node:path';
import { columnList, type Database, quoteIdentifier, quoteText, tableColumns } from '../duckdb/database.ts';
import { type AnyPipeline, countColumns } from '../pipeline.ts';
import { fingerprint } from './manifest.ts';
import { changesTableName, type Manifest, type ManifestDataset, parquetPath } from '../warehouse/snapshot-format.ts';

/** Rows, sums, NULLs and columns of a dataset, which the manifest names, in DuckDB and in Parquet. */
export async function compareFigures(
  database: Database,
  folder: string,
  { datasets }: Manifest,
  pipeline: AnyPipeline,
): Promise<string[]> {
  const { table } = pipeline;
  const dataset = datasets[table]!;
  const path = parquetPath(table);
  const parquet = `read_parquet(${quoteText(join(folder, path))})`;
  const [inDatabase, inParquet] = await database.rows<Record<string, string>>(
    `${figuresSql(pipeline, quoteIdentifier(table))} UNION ALL ${figuresSql(pipeline, parquet)}`,
  );
  const schema = (await tableColumns(database, null, table)).map(({ column_name, column_type }) => [
    column_name,
    column_type,
  ]);
  return [
    ...compare(inDatabase, `table ${table}`, pipeline, dataset),
    ...compare(inParquet, path, pipeline, dataset),
    ...(await compareDistricts(database, pipeline, dataset)),
    ...(fingerprint(schema) === dataset.schema_fingerprint
      ? []
      : [`table ${table}: its columns are not those that the manifest was made for`]),
  ];
}

/** No row without a verdict: every district of the table was read to its end, and brought at least as many records. */
async function compareDistricts(
  database: Database,
  { table, district: column }: AnyPipeline,
  { districts }: ManifestDataset,
): Promise<string[]> {
  const rows = await database.rows<{ district: number; row_count: bigint }>(
    `SELECT ${quoteIdentifier(column)} AS district, count(*) AS row_count FROM ${quoteIdentifier(table)} GROUP BY ALL ORDER BY ALL`,
  );
  const verdicts = new Map(districts.map((verdict) => [verdict.district, verdict]));
  return rows.flatMap(({ district, row_count }) => {
    const verdict = verdicts.get(district);
    if (verdict?.complete !== true)
      return [`table ${table}: the manifest does not say that district ${district} is complete`];
    return row_count <= BigInt(verdict.received)
      ? []
      : [
          `table ${table}: district ${district} has more rows (${row_count}) than the manifest says that it brought records (${verdict.received})`,
        ];
  });
}

/** Counts of violations, of quarantined records, and of records that the snapshot changed. */
export async function compareDoubts(
  database: Database,
  { snapshot, datasets }: Manifest,
  pipelines: readonly AnyPipeline[],
): Promise<string[]> {
  const [first] = pipelines;
  if (first === undefined) return [];
  const rows = await database.rows<{ what: string; dataset: string; name: string; row_count: bigint }>(
    `SELECT 'violations' AS what, dataset, check_name AS name, count(*) AS row_count FROM violations GROUP BY ALL
     UNION ALL SELECT 'quarantine', dataset, '', count(*) FROM quarantine GROUP BY ALL
     UNION ALL SELECT 'changes', dataset, kind, count(DISTINCT (${columnList(first.key)})) FROM ${quoteIdentifier(changesTableName)}
       WHERE snapshot_id = ${quoteText(snapshot)} GROUP BY ALL`,
  );
  return pipelines.flatMap(({ table }) => {
    const { violations, quarantined, changes } = datasets[table]!;
    const expected = { violations, quarantine: { '': quarantined }, changes };
    return Object.entries(expected).flatMap(([what, counts]) => {
      const found = rows.filter((row) => row.what === what && row.dataset === table);
      const [now, then] = [
        found.map(({ name, row_count }) => [name, Number(row_count)] as const),
        Object.entries(counts),
      ].map(listCounts);
      return now === then ? [] : [`table ${what}: ${table} has ${now || 'none'}, the manifest says ${then || 'none'}`];
    });
  });
}

/** The counts that are not 0, in order. */
function listCounts(counts: readonly (readonly [string, number])[]): string {
  return counts
    .filter(([, count]) => count !== 0)
    .map(([name, count]) => `${count} ${name}`.trim())
    .toSorted()
    .join(', ');
}

function figuresSql(pipeline: AnyPipeline, relation: string): string {
  const figures = countColumns(pipeline).flatMap((column) => [
    `coalesce(sum(${quoteIdentifier(column)}), 0)::VARCHAR AS ${quoteIdentifier(`sum ${column}`)}`,
    `count(*) FILTER (${quoteIdentifier(column)} IS NULL)::VARCHAR AS ${quoteIdentifier(`nulls ${column}`)}`,
  ]);
  return `SELECT count(*)::VARCHAR AS row_count, ${figures.join(', ')} FROM ${relation}`;
}

function compare(
  found: Record<string, string> | undefined,
  name: string,
  pipeline: AnyPipeline,
  dataset: ManifestDataset,
): string[] {
  const problems: string[] = [];
  const expect = (what: string, actual: string | undefined, expected: string): void => {
    if (actual !== expected) problems.push(`${name}: ${what} is ${actual ?? 'unknown'}, the manifest says ${expected}`);
  };
  expect('the number of rows', found?.['row_count'], String(dataset.rows));
  for (const column of countColumns(pipeline)) {
    expect(`the sum of ${column}`, found?.[`sum ${column}`], String(dataset.sums[column]));
    expect(`the number of NULLs in ${column}`, found?.[`nulls ${column}`], String(dataset.nulls[column]));
  }
  return problems;
}

/** A table and the file that should hold the same. */
interface Pair {
  readonly path: string;
  readonly table: string;
  /** As SQL. */
  readonly inDatabase: string;
  readonly inParquet: string;
  /** Rows that the manifest names; null where it names none. */
  readonly rows: number | null;
}

/** One statement for all tables, twice: each by itself would cost more than what it asks. */
export async function compareContent(database: Database, folder: string, { files }: Manifest): Promise<string[]> {
  const pairs = files
    .filter(({ path }) => path.endsWith('.parquet'))
    .map(({ path, rows }): Pair => {
      const table = basename(path, '.parquet');
      const inParquet = `read_parquet(${quoteText(join(folder, path))})`;
      return { path, table, rows, inDatabase: quoteIdentifier(table), inParquet };
    });
  if (pairs.length === 0) return [];
  const problems = await compareColumns(database, pairs);
  return problems.length > 0 ? problems : compareRows(database, pairs);
}

/** A row of a table, seen as one value, has a type that names all columns and theirs. */
async function compareColumns(database: Database, pairs: readonly Pair[]): Promise<string[]> {
  const names = pairs.flatMap((_, index) => [`t${index}`, `p${index}`]);
  const relations = pairs.flatMap(({ inDatabase, inParquet }, index) => [
    `${inDatabase} AS t${index}`,
    `${inParquet} AS p${index}`,
  ]);
  const rows = await database.rows<{ column_name: string; column_type: string }>(
    `DESCRIBE SELECT ${names.join(', ')} FROM ${relations.join(', ')}`,
  );
  const types = new Map(rows.map(({ column_name, column_type }) => [column_name, column_type]));
  return pairs.flatMap(({ path, table }, index) => {
    const [there, here] = [types.get(`t${index}`), types.get(`p${index}`)];
    return there === here ? [] : [`${path}: its columns are ${here}, those of the table ${table} are ${there}`];
  });
}

async function compareRows(database: Database, pairs: readonly Pair[]): Promise<string[]> {
  const found = await database.rows<{ rows: bigint; there: string; here: string }>(
    pairs
      .map(
        ({ inDatabase, inParquet }) =>
          `SELECT (SELECT count(*) FROM ${inDatabase}) AS rows, (${contentSql(inDatabase)}) AS there, (${contentSql(inParquet)}) AS here`,
      )
      .join(' UNION ALL '),
  );
  return pairs.flatMap(({ path, table, rows }, index) => {
    const { rows: counted, there, here } = found[index]!;
    const problems = there === here ? [] : [`${path}: its rows are not those of the table ${table}`];
    if (rows !== null && Number(counted) !== rows)
      problems.push(`table ${table}: the number of rows is ${counted}, the manifest says ${rows}`);
    return problems;
  });
}

/** Number of rows and two sums over the rows' hashes: equal rows in any order give the same. */
function contentSql(relation: string): string {
  return `SELECT concat_ws(' ', count(*), sum(hash(r)), bit_xor(hash(r))) FROM ${relation} r`;
}
