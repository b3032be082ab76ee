/** Generates the view `reconciliation`: every row in which a declared sum doesn't equal its parts. */

import { reconciliationName } from '../project/reserved.ts';
import { quoteIdentifier, quoteText } from '../runtime/database.ts';
import { type AnyPipeline, type SumCheck, sumChecks } from '../project/declaration.ts';
import { kindOf } from '../kinds/kinds.ts';
import { placeColumns } from './tables.ts';
import type { SqlFile } from '../project/sql-file.ts';

/**
 * Returns the view as a model, generated from the pipelines' sum checks.
 * Per dataset and check, the sum of all totals minus the listed differences equals the sum of the known parts.
 */
export function reconciliationModel(pipelines: readonly AnyPipeline[]): SqlFile {
  const places = placeColumns(pipelines);
  const selects = pipelines.flatMap((pipeline) => sumChecks(pipeline).map((check) => select(pipeline, check, places)));
  return {
    name: reconciliationName,
    comment:
      'One row per sum check that fails or cannot be checked: the total differs from the sum of its parts, or one of these figures is unknown. The sum of all totals minus these differences equals the sum of all known parts.',
    columns: {
      dataset: 'Table that contains the row.',
      check_name: 'Name of the sum check, as in violations.',
      total_column: 'Column of the total.',
      source_total: 'Total from the source. NULL if it is unknown.',
      known_parts: 'Sum of the known parts.',
      difference: 'source_total minus known_parts. An unknown total counts as 0.',
      unknown_parts: 'Columns of the unknown parts, separated by commas. NULL if all parts are known.',
    },
    sql: unite(selects.length === 0 ? pipelines.slice(0, 1).map(selectNothing) : selects),
  };
}

/** Returns a SELECT without rows that has the view's columns, for projects without sum checks. */
function selectNothing({ table, key }: AnyPipeline): string {
  const own = ['check_name VARCHAR', 'total_column VARCHAR', 'source_total BIGINT', 'known_parts BIGINT'];
  const columns = [...own, 'difference BIGINT', 'unknown_parts VARCHAR'].map(
    (column) => column.split(' ') as [string, string],
  );
  return `SELECT ${quoteText(table)} AS dataset, ${key.map(quoteIdentifier).join(', ')},
  ${columns.map(([name, type]) => `NULL::${type} AS ${name}`).join(', ')} FROM ${quoteIdentifier(table)} WHERE false`;
}

/** Joins two SELECTs at a time. DuckDB rewrites the parentheses of longer unions when it reads the file, and `verify` compares the SQL. */
function unite([first = '', ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  const steps = others.map((other, index) => `step_${index + 1} AS (FROM step_${index} UNION ALL BY NAME ${other})`);
  return `WITH step_0 AS (${first}),\n${steps.join(',\n')}\nFROM step_${others.length}`;
}

function select(
  pipeline: AnyPipeline,
  { name, parts, whole }: SumCheck,
  places: ReturnType<typeof placeColumns>,
): string {
  const { table, key, columns } = pipeline;
  const ofKey = key.map((part) => {
    const column = quoteIdentifier(part);
    const type = places.find((place) => place.name === part)!.type;
    return kindOf(columns[part]!).sqlType === type ? column : `${column}::${type} AS ${column}`;
  });
  const type = sumType(pipeline, [whole, ...parts]);
  const total = quoteIdentifier(whole);
  const known = parts.map((part) => `coalesce(${quoteIdentifier(part)}, 0)::${type}`).join(' + ');
  const unknown = parts.map((part) => `CASE WHEN ${quoteIdentifier(part)} IS NULL THEN ${quoteText(part)} END`);
  return `SELECT ${quoteText(table)} AS dataset, ${ofKey.join(', ')}, ${quoteText(name)} AS check_name,
  ${quoteText(whole)} AS total_column, ${total}::${type} AS source_total, ${known} AS known_parts,
  coalesce(${total}, 0)::${type} - (${known}) AS difference,
  nullif(concat_ws(', ', ${unknown.join(', ')}), '') AS unknown_parts
FROM ${quoteIdentifier(table)}
WHERE (${total}::${type} = ${parts.map((part) => `${quoteIdentifier(part)}::${type}`).join(' + ')}) IS NOT TRUE`;
}

/** Returns a type that adds whole numbers and decimals exactly. */
function sumType({ columns }: AnyPipeline, names: readonly string[]): string {
  const scales = names.map((name) => {
    const column = columns[name]!;
    return column.kind === 'decimal' ? column.scale : null;
  });
  return scales.every((scale) => scale === null)
    ? 'BIGINT'
    : `DECIMAL(38,${Math.max(...scales.map((scale) => scale ?? 0))})`;
}
