/** Finds the violations of the declared row checks in Spark's SQL, with the messages of `check-messages.ts`. */

import { ownMessages } from '../../load/check-messages.ts';
import { kindOf } from '../../kinds/kinds.ts';
import { conditionOf, type Dialect } from '../../load/generated-checks.ts';
import type { AnyPipeline, RowCheck, SumCheck } from '../../project/declaration.ts';
import { conflictingRecords, NullReason } from '../../project/reserved.ts';
import type { LakeColumn } from '../lake/table-schema.ts';
import { rawName, reasonName } from './column-sql.ts';
import { judgedName, rowsName, sparkItems, sparkName, sparkText, sparkType } from './spark-text.ts';

/** SQL of the columns of a violation, in addition to the dataset and its key. */
interface Found {
  readonly check: string;
  readonly severity: string;
  readonly column: string;
  readonly raw?: string;
  readonly expected?: string;
  readonly actual?: string;
  readonly message: string;
}

/** Returns SELECTs with the columns of `violations`, given the views `judgedName` and `rowsName` of the datasets. */
export function violationSelects(pipeline: AnyPipeline, columns: readonly LakeColumn[]): string[] {
  const judged = judgedName(pipeline.table);
  const references = pipeline.checks.filter((check) => check.kind === 'reference');
  const others = pipeline.checks.filter((check) => check.kind !== 'reference');
  const ofRows = [
    ...Object.keys(pipeline.columns)
      .filter((column) => !pipeline.key.includes(column))
      .map((column) => ({ found: nullValue(pipeline, column), where: isViolation(pipeline, column) })),
    ...others.map((check) => (check.kind === 'sum' ? sum(pipeline, check) : rowCheck(pipeline, check))),
  ].map(({ found, where }) => `IF(${where}, ${structOf(found)}, NULL)`);
  const conflict: Found = {
    check: sparkText(conflictingRecords),
    severity: "'error'",
    column: "''",
    message: sparkText(ownMessages.conflicting_records.en),
  };
  const select = (from: string): string => `SELECT ${itemsOf(pipeline, columns)} FROM (${from})`;
  // One pass for all checks of a row. A SELECT for each of them would take Spark a second each.
  const onePass = `SELECT *, explode(filter(array(${ofRows.join(', ')}), found -> found IS NOT NULL)) AS _v FROM ${judged} WHERE _key_rank = 1`;
  return [
    ...(ofRows.length === 0 ? [] : [select(onePass)]),
    select(`SELECT *, ${structOf(conflict)} AS _v FROM ${judged} WHERE _key_rank > 1`),
    ...references.map((check) => {
      const { found, where } = rowCheck(pipeline, check);
      return select(`SELECT *, ${structOf(found)} AS _v FROM ${rowsName(pipeline.table)} WHERE ${where}`);
    }),
  ];
}

/** Returns the items of a SELECT over the columns of a dataset and the violation `_v`. */
function itemsOf({ table, key }: AnyPipeline, columns: readonly LakeColumn[]): string {
  const ofViolation = new Set(['check_name', 'severity', 'column_name', 'raw_value', 'expected', 'actual', 'message']);
  const valueOf = (name: string): string => {
    if (name === 'dataset') return sparkText(table);
    if (ofViolation.has(name)) return `_v.${name}`;
    return key.includes(name) ? sparkName(name) : 'NULL';
  };
  return sparkItems(columns, valueOf);
}

function structOf({ check, severity, column, raw, expected, actual, message }: Found): string {
  const values = { check_name: check, severity, column_name: column, raw_value: raw, expected, actual, message };
  const items = Object.entries(values).map(([name, sql]) => `${sparkText(name)}, CAST(${sql ?? 'NULL'} AS STRING)`);
  return `named_struct(${items.join(', ')})`;
}

function isViolation({ columns }: AnyPipeline, column: string): string {
  const reason = reasonName(column);
  return columns[column]!.nullable === true ? `${reason} = 'malformed'` : `${reason} IS NOT NULL`;
}

function nullValue({ columns }: AnyPipeline, column: string): Found {
  const definition = columns[column]!;
  const reason = reasonName(column);
  const { malformed, bounds } = kindOf(definition);
  const raw = rawName(column);
  const problemOf = (example: bigint | string): string => sparkText(malformed(String(example)).en);
  const number = `CASE WHEN ${raw} RLIKE '^-?[0-9]+\\\\z' THEN try_cast(left(${raw}, 38) AS DECIMAL(38,0)) END`;
  const problem =
    bounds === undefined
      ? problemOf('x')
      : `CASE WHEN ${number} < ${bounds[0]} THEN ${problemOf(bounds[0] - 1n)}
    WHEN ${number} > ${bounds[1]} THEN ${problemOf(bounds[1] + 1n)} ELSE ${problemOf('x')} END`;
  const quoted = `regexp_extract(to_json(struct(${raw} AS a)), '(?s)^..a.:(.*).\\\\z', 1)`;
  const filled = { column, field: definition.field, raw: quoted, problem };
  const messages = Object.keys(NullReason).map((name) => {
    const { en } = ownMessages[name as keyof typeof NullReason];
    return `WHEN ${sparkText(name)} THEN ${fill(en, filled, ['raw', 'problem'])}`;
  });
  const message = `CASE ${reason} ${messages.join(' ')} END`;
  return { check: reason, severity: "'error'", column: sparkText(column), raw, message };
}

function sum({ columns }: AnyPipeline, { name, severity, whole, parts }: SumCheck): { found: Found; where: string } {
  const summed = [whole, ...parts].map((column) => columns[column]!);
  const scale = Math.max(...summed.map((column) => (column.kind === 'decimal' ? column.scale : 0)));
  const exact = (column: string): string => `CAST(${sparkName(column)} AS DECIMAL(38,${scale}))`;
  const total = `CAST(${parts.map(exact).join(' + ')} AS DECIMAL(38,${scale}))`;
  const [expected, actual] = [total, exact(whole)];
  const filled = { column: whole, field: columns[whole]!.field, actual, expected, parts: parts.join(' + ') };
  return {
    found: {
      check: sparkText(name),
      severity: sparkText(severity),
      column: sparkText(whole),
      expected,
      actual,
      message: fill(ownMessages.sum.en, filled, ['actual', 'expected']),
    },
    // NULL if a part is unknown.
    where: `${exact(whole)} <> ${total}`,
  };
}

const spark: Dialect = {
  name: sparkName,
  rows: (table) => rowsName(table),
  literal: (text, sqlType) => `CAST(${sparkText(text)} AS ${sparkType(sqlType)})`,
  mismatches: (column, pattern) => `NOT ${column} RLIKE ${sparkText(`^(?:${pattern})\\z`)}`,
};

function rowCheck(pipeline: AnyPipeline, check: Exclude<RowCheck, SumCheck>): { found: Found; where: string } {
  const definition = pipeline.columns[check.column]!;
  const column = sparkName(check.column);
  const { expected, fails } = conditionOf(pipeline, check, spark);
  const actual = `CAST(${column} AS STRING)`;
  const filled = { column: check.column, field: definition.field, actual, expected };
  return {
    found: {
      check: sparkText(check.name),
      severity: sparkText(check.severity),
      column: sparkText(check.column),
      expected: sparkText(expected),
      actual,
      message: fill(ownMessages[check.kind].en, filled, ['actual']),
    },
    where: fails,
  };
}

/** Returns SQL of a message. The values of `computed` are SQL, the others are texts. */
function fill(template: string, values: Readonly<Record<string, string>>, computed: readonly string[]): string {
  const pieces = template.split(/\{(\w+)\}/).flatMap((piece, index) => {
    if (index % 2 === 0) return piece === '' ? [] : [sparkText(piece)];
    return [computed.includes(piece) ? values[piece]! : sparkText(values[piece]!)];
  });
  return `concat(${pieces.join(', ')})`;
}
