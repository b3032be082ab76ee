/** Compares what a manifest says of each dataset with the tables and Parquet files: rows, sums, NULLs, columns, doubts, changes. */

import { join } from 'node:path';
import { tableColumns, type Database } from '../duckdb/database.ts';
import { countColumns, type AnyPipeline } from '../pipeline.ts';
import { columnList, quoteIdentifier, quoteText } from '../duckdb/sql-text.ts';
import { changesTableName, parquetPath, type Manifest, type ManifestDataset } from '../warehouse/snapshot-format.ts';
import { fingerprint } from './manifest.ts';

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
