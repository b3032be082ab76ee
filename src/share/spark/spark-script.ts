/** Writes the transformation of a run as a script for `spark-sql`: from the landed records to tables on a branch. */

import { RekapError } from '../../errors.ts';
import { quarantineTable } from '../../load/tables.ts';
import { kindOf } from '../../kinds/kinds.ts';
import type { AnyPipeline, Project } from '../../project/declaration.ts';
import { consistencyColumn, NullReason, repeatedKey } from '../../project/reserved.ts';
import { columnItems, columnNames, isInSpark, reasonName } from './column-sql.ts';
import type { LakeColumn } from '../lake/table-schema.ts';
import { branchOf, describeStaged, ledgerTable } from './staged-tables.ts';
import { judgedName, rowsName, sparkItems, sparkName, sparkText } from './spark-text.ts';
import { violationSelects } from './violations-sql.ts';

/** Name of the catalog in the settings of Spark. */
const catalog = 'lake';

/** Settings of Spark on which the rows depend. */
const settings = {
  // Otherwise `${env:NAME}` in a text becomes the value of a variable.
  'variable.substitute': 'false',
  'ansi.enabled': 'true',
  'ansi.doubleQuotedIdentifiers': 'true',
  storeAssignmentPolicy: 'ANSI',
  'parser.escapedStringLiterals': 'false',
  'sources.partitionOverwriteMode': 'static',
  'decimalOperations.allowPrecisionLoss': 'false',
  // Merged projections would repeat the expression of a value wherever a later one uses it.
  'optimizer.excludedRules': 'org.apache.spark.sql.catalyst.optimizer.CollapseProject',
};

/** @param namespace Namespace of the tables. The landed records are in `raw.records`. */
export async function sparkScript(project: Project, run: string, namespace: string): Promise<string> {
  const { pipelines } = project;
  const [odd] = pipelines.flatMap(({ table, columns: declared }) =>
    Object.entries(declared).flatMap(([name, column]) => (isInSpark(column) ? [] : [`${table}.${name}`])),
  );
  if (odd !== undefined) {
    const next = 'Build the tables with "rekap sync", and publish them with "rekap lake publish".';
    throw new RekapError('usage', `The script for Spark cannot read the column ${odd} as it is declared.`, next);
  }
  const branch = sparkName(branchOf(run));
  const target = (table: string): string => [catalog, namespace, table].map(sparkName).join('.');
  const staged = (table: string): string => `${target(table)}.${sparkName(`branch_${branchOf(run)}`)}`;
  const tables = await describeStaged(project);
  const columnsOf = (table: string): readonly LakeColumn[] => tables.find(({ name }) => name === table)!.columns;
  const drop = (table: string): string => `ALTER TABLE ${target(table)} DROP BRANCH IF EXISTS ${branch}`;
  const write = (table: string, select: string): string[] => [
    // Iceberg can't replace a branch of a table that has no snapshot yet.
    drop(table),
    `ALTER TABLE ${target(table)} CREATE BRANCH ${branch}`,
    // The table may have its columns in another order.
    `INSERT OVERWRITE ${staged(table)} (${list(columnsOf(table).map(({ name }) => name))}) ${select}`,
  ];
  const columns = columnsOf('violations');
  const statements = [
    ...Object.entries(settings).map(([name, value]) => `SET spark.sql.${name} = ${value}`),
    // The ledger comes last. Without it, a release refuses the branch, so an interrupted script is never released.
    drop(ledgerTable.name),
    // Tables, because Spark doesn't recognize such a query in its cache, and would read the records again at each use.
    ...pipelines.map(
      (pipeline) =>
        `CREATE OR REPLACE TABLE ${stagingTable(pipeline.table, run)} USING iceberg AS ${judgedSelect(pipeline, run)}`,
    ),
    'RESET spark.sql.optimizer.excludedRules',
    ...pipelines.flatMap(({ table, columns: declared }) => [
      view(judgedName(table), `SELECT * FROM ${stagingTable(table, run)}`),
      view(rowsName(table), `SELECT ${list(Object.keys(declared))} FROM ${judgedName(table)} WHERE _key_rank = 1`),
    ]),
    ...write('violations', pipelines.flatMap((pipeline) => violationSelects(pipeline, columns)).join('\nUNION ALL ')),
    ...pipelines.flatMap((pipeline) => write(pipeline.table, datasetSelect(pipeline, staged('violations')))),
    ...write('quarantine', pipelines.map(quarantineSelect).join('\nUNION ALL ')),
    ...write(ledgerTable.name, pipelines.map((pipeline) => ledgerSelect(pipeline, run)).join('\nUNION ALL ')),
    ...pipelines.map(({ table }) => `DROP TABLE ${stagingTable(table, run)} PURGE`),
  ];
  return `-- Transforms run ${run} of ${project.name} to the branch ${branchOf(run)} of the tables in ${catalog}.${namespace}.
-- Models and checks across tables are not part of it, because their SQL is for DuckDB.
-- To check and publish the branch, run: rekap lake release ${run} --namespace ${namespace}
${statements.join(';\n\n')};
`;
}

/** Names a table next to the landed records, which the end of the script removes. */
function stagingTable(table: string, run: string): string {
  return [catalog, 'raw', `${branchOf(run)}_${table}`].map(sparkName).join('.');
}

function view(name: string, select: string): string {
  return `CREATE OR REPLACE TEMPORARY VIEW ${name} AS ${select}`;
}

function list(columns: readonly string[]): string {
  return columns.map(sparkName).join(', ');
}

/**
 * Reads the records of a dataset, and decides which are duplicates, which have a problem, and which are the first of their key. The rules are
 * those of `transform/transformer.ts`.
 */
function judgedSelect(pipeline: AnyPipeline, run: string): string {
  const { table, key, columns } = pipeline;
  const isPartitioned = pipeline.partition !== undefined;
  const content = 'CASE WHEN _problem IS NULL THEN _fields ELSE _record END';
  return `
WITH landed AS (
  SELECT position AS _position, partition_value AS _partition_value, request AS _request, record AS _record, fields AS _fields,
    from_json(fields, 'map<string,string>') AS _fields_of
  FROM ${[catalog, 'raw', 'records'].map(sparkName).join('.')} WHERE run_id = ${sparkText(run)} AND dataset = ${sparkText(table)}
),
typed AS (
  SELECT *, ${columnItems(pipeline).join(',\n  ')}
  FROM landed
),
named AS (
  SELECT *, ${problemSql(pipeline)} AS _problem
  FROM typed
),
counted AS (
  SELECT *,
    row_number() OVER (PARTITION BY _partition_value, _problem IS NULL, ${content} ORDER BY _position) AS _copy,
    max(_partition_value IS NOT NULL) OVER (PARTITION BY _problem IS NULL, ${content}) AS _is_in_partition
  FROM named
),
sorted AS (
  SELECT *, _copy > 1${isPartitioned ? ' OR (_problem IS NOT NULL AND _partition_value IS NULL AND _is_in_partition)' : ''} AS _is_duplicate
  FROM counted
),
ranked AS (
  SELECT *, CASE WHEN _problem IS NULL AND NOT _is_duplicate THEN
    row_number() OVER (PARTITION BY _partition_value, _problem IS NULL, _is_duplicate, ${list(key)} ORDER BY _position) END AS _key_rank
  FROM sorted
)
SELECT ${columnNames(Object.keys(columns)).join(', ')}, _problem, _is_duplicate, _key_rank,
  CASE WHEN NOT _is_duplicate AND coalesce(_key_rank > 1, true)
    THEN struct(_record AS record, _partition_value AS partition_value, _request AS request) END AS _quarantined
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
  return `CASE WHEN _fields IS NULL THEN 'not an object' ${parts.join(' ')} END`;
}

function datasetSelect({ table, key, columns }: AnyPipeline, violations: string): string {
  const same = key.map((name) => `v.${sparkName(name)} = r.${sparkName(name)}`).join(' AND ');
  return `SELECT ${list(Object.keys(columns))}, NOT EXISTS (
  SELECT 1 FROM ${violations} v WHERE v.severity = 'error' AND v.dataset = ${sparkText(table)} AND ${same}) AS ${sparkName(consistencyColumn)}
FROM ${rowsName(table)} r`;
}

function quarantineSelect({ table }: AnyPipeline): string {
  const values: Readonly<Record<string, string>> = {
    dataset: sparkText(table),
    reason: `coalesce(_problem, '${repeatedKey}')`,
    record: '_quarantined.record',
    partition_value: '_quarantined.partition_value',
    request: '_quarantined.request',
  };
  return `SELECT ${sparkItems(quarantineTable.columns, (name) => values[name]!)} FROM ${judgedName(table)} WHERE _quarantined IS NOT NULL`;
}

function ledgerSelect({ table }: AnyPipeline, run: string): string {
  return `SELECT ${sparkText(run)} AS run_id, ${sparkText(table)} AS dataset, count(*) AS fetched,
  count_if(_key_rank = 1) AS published, count(_quarantined) AS quarantined,
  count_if(_is_duplicate) AS duplicates FROM ${judgedName(table)}`;
}
