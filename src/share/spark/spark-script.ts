/** Writes the transformation of a run as a script for `spark-sql`: from the landed records to tables on a branch. */

import { quarantineTable } from '../../load/tables.ts';
import { kindOf } from '../../kinds/kinds.ts';
import type { AnyPipeline, Project, SqlFile } from '../../project/declaration.ts';
import { consistencyColumn, NullReason } from '../../project/reserved.ts';
import { columnItems, columnNames, reasonName } from './column-sql.ts';
import type { LakeColumn } from '../lake/table-schema.ts';
import { branchOf, describeStaged, ledgerTable, portableModels } from './staged-tables.ts';
import { sparkItems, sparkName, sparkText } from './spark-text.ts';
import { portableCheckSelect, violationSelects } from './violations-sql.ts';

/** Name of the catalog in the settings of Spark. */
const catalog = 'lake';

/** @param namespace Namespace of the tables. The landed records are in `raw.records`. */
export async function sparkScript(project: Project, run: string, namespace: string): Promise<string> {
  const { pipelines } = project;
  const branch = sparkName(branchOf(run));
  const target = (table: string): string => [catalog, namespace, table].map(sparkName).join('.');
  const staged = (table: string): string => `${target(table)}.${sparkName(`branch_${branchOf(run)}`)}`;
  const { tables, checks } = await describeStaged(project);
  const columnsOf = (table: string): readonly LakeColumn[] => tables.find(({ name }) => name === table)!.columns;
  const models = portableModels(project);
  const insert = (table: string, select: string, how = 'OVERWRITE'): string =>
    // The table may have its columns in another order.
    `INSERT ${how} ${staged(table)} (${names(columnsOf(table))}) ${select}`;
  const drop = (table: string): string => `ALTER TABLE ${target(table)} DROP BRANCH IF EXISTS ${branch}`;
  const write = (table: string, select: string): string[] => [
    // Iceberg can't replace a branch of a table that has no snapshot yet.
    drop(table),
    `ALTER TABLE ${target(table)} CREATE BRANCH ${branch}`,
    insert(table, select),
    // Checks and models read the table by its name.
    view(table, `SELECT * FROM ${staged(table)}`),
  ];
  const violations = { columns: columnsOf('violations') };
  const acrossTables = checks.map(({ check, returned }) =>
    portableCheckSelect(check, { returned, ...violations }, project),
  );
  const statements = [
    // Written last, so that a release refuses what a script left that was interrupted, also if an earlier one had ended.
    drop(ledgerTable.name),
    // Merged projections would repeat the expression of a value wherever a later one uses it.
    'SET spark.sql.optimizer.excludedRules = org.apache.spark.sql.catalyst.optimizer.CollapseProject',
    // Tables, because Spark doesn't recognize such a query in its cache, and would read the records again at each use.
    ...pipelines.map(
      (pipeline) =>
        `CREATE OR REPLACE TABLE ${stagingTable(pipeline.table, run)} USING iceberg AS ${judgedSelect(pipeline, run)}`,
    ),
    'RESET spark.sql.optimizer.excludedRules',
    ...pipelines.flatMap(({ table, columns }) => [
      view(`${table}__judged`, `SELECT * FROM ${stagingTable(table, run)}`),
      view(
        `${table}__rows`,
        `SELECT ${list(Object.keys(columns))} FROM ${sparkName(`${table}__judged`)} WHERE key_rank = 1`,
      ),
    ]),
    ...write(
      'violations',
      pipelines.flatMap((pipeline) => violationSelects(pipeline, violations.columns)).join('\nUNION ALL '),
    ),
    ...pipelines.flatMap((pipeline) => write(pipeline.table, datasetSelect(pipeline))),
    ...models.map(({ name, sql }) => view(name, `\n${sql}\n`)),
    // Whether a row is consistent is known after the checks across tables, which read the rows.
    ...(acrossTables.length === 0
      ? []
      : [
          insert('violations', acrossTables.join('\nUNION ALL '), 'INTO'),
          ...pipelines.map((pipeline) => insert(pipeline.table, datasetSelect(pipeline))),
        ]),
    ...write('quarantine', pipelines.map(quarantineSelect).join('\nUNION ALL ')),
    ...models.flatMap(({ name }) => write(name, `SELECT ${names(columnsOf(name))} FROM ${sparkName(name)}`)),
    ...write(ledgerTable.name, pipelines.map((pipeline) => ledgerSelect(pipeline, run)).join('\nUNION ALL ')),
    ...pipelines.map(({ table }) => `DROP TABLE ${stagingTable(table, run)} PURGE`),
  ];
  return `-- Transforms run ${run} of ${project.name} to the branch ${branchOf(run)} of the tables in ${catalog}.${namespace}.
-- ${leftOut(project)}
-- To check and publish the branch, run: rekap lake release ${run}
${statements.join(';\n\n')};
`;
}

function leftOut({ checks, models }: Project): string {
  const others = (files: readonly SqlFile[], what: string): string => {
    const found = files.filter(({ portable }) => portable !== true).map(({ name }) => name);
    return found.length === 0 ? '' : ` ${what}: ${found.join(', ')}.`;
  };
  const both = others(models, 'Models') + others(checks, 'Checks');
  return both === ''
    ? 'All models and checks are part of it.'
    : `Not part of it, because their SQL is for DuckDB.${both}`;
}

/** Names a table next to the landed records, which the end of the script removes. */
function stagingTable(table: string, run: string): string {
  return [catalog, 'raw', `${branchOf(run)}_${table}`].map(sparkName).join('.');
}

function view(name: string, select: string): string {
  return `CREATE OR REPLACE TEMPORARY VIEW ${sparkName(name)} AS ${select}`;
}

function list(columns: readonly string[]): string {
  return columns.map(sparkName).join(', ');
}

function names(columns: readonly { readonly name: string }[]): string {
  return list(columns.map(({ name }) => name));
}

/**
 * Reads the records of a dataset, and decides which are duplicates, which have a problem, and which are the first of their key. The rules are
 * those of `transform/transformer.ts`.
 */
function judgedSelect(pipeline: AnyPipeline, run: string): string {
  const { table, key, columns } = pipeline;
  const isPartitioned = pipeline.partition !== undefined;
  return `
WITH landed AS (
  SELECT position, partition_value, request, record, fields, from_json(fields, 'map<string,string>') AS fields_of
  FROM ${[catalog, 'raw', 'records'].map(sparkName).join('.')} WHERE run_id = ${sparkText(run)} AND dataset = ${sparkText(table)}
),
typed AS (
  SELECT *, ${columnItems(pipeline).join(',\n  ')}
  FROM landed
),
named AS (
  SELECT *, ${problemSql(pipeline)} AS problem
  FROM typed
),
counted AS (
  SELECT *,
    row_number() OVER (PARTITION BY partition_value, problem IS NULL, CASE WHEN problem IS NULL THEN fields ELSE record END ORDER BY position) AS copy,
    max(partition_value IS NOT NULL) OVER (PARTITION BY problem IS NULL, CASE WHEN problem IS NULL THEN fields ELSE record END) AS is_in_partition
  FROM named
),
sorted AS (
  SELECT *, copy > 1${isPartitioned ? ' OR (problem IS NOT NULL AND partition_value IS NULL AND is_in_partition)' : ''} AS is_duplicate
  FROM counted
),
ranked AS (
  SELECT *, CASE WHEN problem IS NULL AND NOT is_duplicate THEN
    row_number() OVER (PARTITION BY partition_value, problem IS NULL, is_duplicate, ${list(key)} ORDER BY position) END AS key_rank
  FROM sorted
)
SELECT ${columnNames(Object.keys(columns)).join(', ')}, problem, is_duplicate, key_rank,
  CASE WHEN NOT is_duplicate AND coalesce(key_rank > 1, true) THEN struct(record, partition_value, request) END AS quarantined
FROM ranked`;
}

/** Returns SQL of why a record has no usable key; NULL if it has one. */
function problemSql({ key, columns }: AnyPipeline): string {
  const parts = key.flatMap((column) => {
    const { field } = columns[column]!;
    const { unusable } = kindOf(columns[column]!);
    return Object.keys(NullReason).map((reason) => {
      const what = reason === 'malformed' ? unusable : `is ${reason}`;
      return `WHEN ${reasonName(column)} = ${sparkText(reason)} THEN ${sparkText(`${field} ${what}`)}`;
    });
  });
  return `CASE WHEN fields IS NULL THEN 'not an object' ${parts.join(' ')} END`;
}

function datasetSelect({ table, key, columns }: AnyPipeline): string {
  const same = key.map((name) => `v.${sparkName(name)} = r.${sparkName(name)}`).join(' AND ');
  return `SELECT ${list(Object.keys(columns))}, NOT EXISTS (
  SELECT 1 FROM violations v WHERE v.severity = 'error' AND v.dataset = ${sparkText(table)} AND ${same}) AS ${sparkName(consistencyColumn)}
FROM ${sparkName(`${table}__rows`)} r`;
}

function quarantineSelect({ table }: AnyPipeline): string {
  const values: Readonly<Record<string, string>> = {
    dataset: sparkText(table),
    reason: "coalesce(problem, 'same key, other values')",
    record: 'quarantined.record',
    partition_value: 'quarantined.partition_value',
    request: 'quarantined.request',
  };
  return `SELECT ${sparkItems(quarantineTable.columns, (name) => values[name]!)} FROM ${sparkName(`${table}__judged`)} WHERE quarantined IS NOT NULL`;
}

function ledgerSelect({ table }: AnyPipeline, run: string): string {
  return `SELECT ${sparkText(run)} AS run_id, ${sparkText(table)} AS dataset, count(*) AS fetched,
  count_if(key_rank = 1) AS published, count(quarantined) AS quarantined,
  count_if(is_duplicate) AS duplicates FROM ${sparkName(`${table}__judged`)}`;
}
