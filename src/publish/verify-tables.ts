/** The checks of a snapshot's tables: against the manifest, and against the Parquet files. `verify-snapshot.ts` lists and runs them. */

import { basename, join } from 'node:path';
import { ownTables } from '../define-pipeline.ts';
import {
  columnList,
  contentSql,
  type Database,
  type DescribedColumn,
  quoteIdentifier,
  quoteText,
  tableColumns,
} from '../duckdb/database.ts';
import {
  changesTableName,
  databaseFile,
  type Manifest,
  parquetPath,
  withoutHistory,
} from '../warehouse/snapshot-format.ts';
import { fingerprint } from './manifest.ts';
import { countColumns, type AnyPipeline } from '../pipeline.ts';

/** What is verified. */
export interface Subject {
  readonly folder: string;
  readonly manifest: Manifest;
  /** Those that the manifest names, and those that it does not: a dataset that has no table either was never read. */
  readonly named: readonly AnyPipeline[];
  readonly unnamed: readonly AnyPipeline[];
}

/** Gives what is wrong, as sentences. */
export type TableCheck = (subject: Subject, database: Database) => Promise<string[]>;

export async function noOtherTables({ unnamed }: Subject, database: Database): Promise<string[]> {
  const problems: string[] = [];
  for (const { table } of unnamed)
    if ((await tableColumns(database, null, table)).length > 0)
      problems.push(`${table}: ${databaseFile} holds the table, but the manifest does not name the dataset`);
  return problems;
}

/** Rows, sums and NULLs of each dataset, in DuckDB and in Parquet. */
export async function figuresAgree({ folder, manifest, named }: Subject, database: Database): Promise<string[]> {
  const problems: string[] = [];
  for (const pipeline of named) {
    const { table } = pipeline;
    const { rows, sums, nulls } = manifest.datasets[table]!;
    const figures = [
      { what: 'the number of rows', sql: 'count(*)', expected: rows },
      ...countColumns(pipeline).flatMap((column) => {
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
    const path = parquetPath(table);
    const found = await database.rows<Record<string, string>>(
      `SELECT ${selected} FROM ${quoteIdentifier(table)} UNION ALL SELECT ${selected} FROM ${parquetSql(folder, path)}`,
    );
    for (const [place, where] of [`table ${table}`, path].entries())
      for (const [index, { what, expected }] of figures.entries()) {
        const actual = found[place]![`f${index}`];
        if (actual !== String(expected))
          problems.push(`${where}: ${what} is ${actual}, the manifest says ${expected ?? 'nothing'}`);
      }
  }
  return problems;
}

/** No row without a verdict: every district of a table was read to its end, and brought at least as many records. */
export async function districtsComplete({ manifest, named }: Subject, database: Database): Promise<string[]> {
  const problems: string[] = [];
  for (const { table, district: column } of named) {
    const verdicts = new Map(manifest.datasets[table]!.districts.map((verdict) => [verdict.district, verdict]));
    const found = await database.rows<{ district: number; row_count: bigint }>(
      `SELECT ${quoteIdentifier(column)} AS district, count(*) AS row_count FROM ${quoteIdentifier(table)} GROUP BY ALL ORDER BY ALL`,
    );
    for (const { district, row_count } of found) {
      const verdict = verdicts.get(district);
      if (verdict?.complete !== true)
        problems.push(`table ${table}: the manifest does not say that district ${district} is complete`);
      else if (row_count > BigInt(verdict.received))
        problems.push(
          `table ${table}: district ${district} has ${row_count} rows, and the manifest says that it brought ${verdict.received} records`,
        );
    }
  }
  return problems;
}

export async function columnsAgree({ manifest, named }: Subject, database: Database): Promise<string[]> {
  const problems: string[] = [];
  for (const { table } of named) {
    const columns = await tableColumns(database, null, table);
    const schema = columns.map(({ column_name, column_type }) => [column_name, column_type]);
    if (fingerprint(schema) !== manifest.datasets[table]!.schema_fingerprint)
      problems.push(`table ${table}: its columns are not those that the manifest was made for`);
  }
  return problems;
}

/** Counts of violations, of quarantined records, and of records that the snapshot changed. */
export async function doubtsAgree({ manifest, named }: Subject, database: Database): Promise<string[]> {
  const [first] = named;
  if (first === undefined) return [];
  const rows = await database.rows<{ what: string; dataset: string; name: string; row_count: bigint }>(
    `SELECT 'violations' AS what, dataset, check_name AS name, count(*) AS row_count FROM violations GROUP BY ALL
     UNION ALL SELECT 'quarantine', dataset, 'records', count(*) FROM quarantine GROUP BY ALL
     UNION ALL SELECT 'changes', dataset, kind, count(DISTINCT (${columnList(first.key)})) FROM ${quoteIdentifier(changesTableName)}
       WHERE snapshot_id = ${quoteText(manifest.snapshot)} GROUP BY ALL`,
  );
  return named.flatMap(({ table }) => {
    const { violations, quarantined, changes } = manifest.datasets[table]!;
    const expected = { violations, quarantine: { records: quarantined }, changes };
    return Object.entries(expected).flatMap(([what, counts]) => {
      const found = rows.filter((row) => row.what === what && row.dataset === table);
      const now = listCounts(found.map(({ name, row_count }) => [name, Number(row_count)]));
      const then = listCounts(Object.entries(counts));
      return now === then ? [] : [`table ${what}: ${table} has ${now}, the manifest says ${then}`];
    });
  });
}

/** The counts that are not 0, in order. */
function listCounts(counts: readonly (readonly [string, number])[]): string {
  const listed = counts.filter(([, count]) => count !== 0).map(([name, count]) => `${count} ${name}`);
  return listed.toSorted().join(', ') || 'none';
}

/** Each Parquet file that the manifest names, and the table that must hold the same. */
function pairsOf({ folder, manifest }: Subject) {
  return manifest.files
    .filter(({ path }) => path.endsWith('.parquet'))
    .map(({ path, rows, content }) => {
      const table = basename(path, '.parquet');
      return { path, rows, content, table, inDatabase: quoteIdentifier(table), inParquet: parquetSql(folder, path) };
    });
}

/** A row of a table, seen as one value, has a type that names all columns and theirs. */
export async function typesAgree(subject: Subject, database: Database): Promise<string[]> {
  const pairs = pairsOf(subject);
  if (pairs.length === 0) return [];
  const names = pairs.flatMap((_, n) => [`t${n}`, `p${n}`]);
  const relations = pairs.flatMap(({ inDatabase, inParquet }, n) => [
    `${inDatabase} AS t${n}`,
    `${inParquet} AS p${n}`,
  ]);
  const rows = await database.rows<DescribedColumn>(`DESCRIBE SELECT ${names.join(', ')} FROM ${relations.join(', ')}`);
  const types = new Map(rows.map(({ column_name, column_type }) => [column_name, column_type]));
  return pairs.flatMap(({ path, table }, n) => {
    const [there, here] = [types.get(`t${n}`), types.get(`p${n}`)];
    return there === here ? [] : [`${path}: its columns are ${here}, those of the table ${table} are ${there}`];
  });
}

/**
 * Every value of every row: the number of rows and two sums over the rows' hashes are the same for equal rows in any order. The file of a view
 * is compared with what the view gave when it was written, for the view follows from the tables.
 */
export async function rowsAgree(subject: Subject, database: Database): Promise<string[]> {
  const pairs = pairsOf(subject);
  if (pairs.length === 0) return [];
  const isTable = (name: string): boolean => ownTables.has(name) || subject.manifest.datasets[name] !== undefined;
  const selects = pairs.map(({ table, content, inDatabase, inParquet }) => {
    const there = isTable(table) || content === undefined ? inDatabase : inParquet;
    const part = content === undefined ? inParquet : withoutHistory(table, inParquet);
    return `SELECT (SELECT count(*) FROM ${there}) AS rows, ${contentSql(inParquet)} AS here,
      ${there === inParquet ? 'NULL' : contentSql(there)} AS there, ${part === inParquet ? 'NULL' : contentSql(part)} AS part`;
  });
  // One statement for all: each by itself would take longer to plan than to carry out.
  const found = await database.rows<{ rows: bigint; there: string | null; here: string; part: string | null }>(
    selects.join(' UNION ALL '),
  );
  const problems = pairs.flatMap(({ path, table, rows, content }, n) => {
    const { rows: counted, there, here, part } = found[n]!;
    if (there !== null && there !== here)
      return [{ table, what: `${path}: its rows are not those of the table ${table}` }];
    if (content !== undefined && content !== (part ?? here))
      return [{ table, what: `${path}: its rows are not those that the manifest was made for` }];
    if (rows === null || Number(counted) === rows) return [];
    return [{ table, what: `table ${table}: the number of rows is ${counted}, the manifest says ${rows}` }];
  });
  // A view differs where a table that it reads does.
  const ofTables = problems.filter(({ table }) => isTable(table));
  return (ofTables.length > 0 ? ofTables : problems).map(({ what }) => what);
}

function parquetSql(folder: string, path: string): string {
  return `read_parquet(${quoteText(join(folder, path))})`;
}
