/** Reads the kinds of columns in Spark's SQL: the value, or why it is null. The rules are those of `kinds/`. */

import { kindOf } from '../../kinds/kinds.ts';
import type { AnyPipeline, ColumnDefinition } from '../../project/declaration.ts';
import { sparkName, sparkText, sparkType } from './spark-text.ts';

// A project can't declare a name that begins with an underscore.
const part = (column: string, name: string): string => sparkName(`_${column}_${name}`);
const written = (column: string): string => part(column, 'written');
const text = (column: string): string => part(column, 'text');
export const reasonName = (column: string): string => part(column, 'reason');

/** Returns the name of the text that the source wrote. It is NULL if the column has a value, or if the field is missing or null. */
export const rawName = (column: string): string => part(column, 'raw');

/** Returns the columns that a record needs after its values are read: without texts that became values. */
export function columnNames(columns: readonly string[]): string[] {
  return columns.flatMap((column) => [sparkName(column), reasonName(column), rawName(column)]);
}

/**
 * Returns the items of a SELECT from landed records with the map `_fields_of`: for each column, how it was written, its text, its value, and why
 * the value is null. Later items use earlier ones.
 */
export function columnItems({ columns }: AnyPipeline): string[] {
  return Object.entries(columns).flatMap(([column, definition]) => {
    const field = `_fields_of[${sparkText(column)}]`;
    return [
      `left(${field}, 1) AS ${written(column)}`,
      `substr(${field}, 2) AS ${text(column)}`,
      ...valueItems(column, definition),
      `CASE WHEN ${written(column)} IS NULL THEN 'missing' WHEN ${written(column)} = 'z' THEN 'null'
    WHEN ${written(column)} = 't' AND ${text(column)} = '' THEN 'empty' WHEN ${sparkName(column)} IS NULL THEN 'malformed' END AS ${reasonName(column)}`,
      `CASE WHEN ${reasonName(column)} IN ('empty', 'malformed') THEN ${text(column)} END AS ${rawName(column)}`,
    ];
  });
}

/** Returns whether Spark's SQL can read the column. The newer kinds and formats are for DuckDB only. */
export function isInSpark(column: ColumnDefinition): boolean {
  const isPlain = !['from', 'group', 'point', 'format', 'cut'].some((option) => option in column);
  return isPlain && column.kind !== 'json' && column.kind !== 'double';
}

/** Returns the items that compute the value, the last of which has the name of the column. */
function valueItems(column: string, definition: ColumnDefinition): string[] {
  const [w, t] = [written(column), text(column)];
  const as = (sql: string): string => `${sql} AS ${sparkName(column)}`;
  const isNumber = `${w} IN ('t', 'n')`;
  switch (definition.kind) {
    case 'text':
      return [as(`CASE WHEN ${w} = 't' AND ${t} <> '' THEN ${t} END`)];
    case 'boolean':
      return [as(`CASE WHEN ${w} = 'z' THEN NULL WHEN ${t} = 'true' THEN true WHEN ${t} = 'false' THEN false END`)];
    case 'count':
    case 'integer':
      return wholeItems(column, definition);
    case 'json':
    case 'double':
      throw new Error(`${column} is of kind ${definition.kind}, which isn't in Spark`);
    case 'decimal': {
      const { precision, scale } = definition;
      const pattern = sparkText('^(-?)([0-9]+)(?:[.]([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?\\z');
      const group = (number: number): string => `regexp_extract(${t}, ${pattern}, ${number})`;
      const [digits, point] = [part(column, 'digits'), part(column, 'point')];
      return [
        `CASE WHEN ${isNumber} AND length(${t}) <= 100 AND ${t} RLIKE ${pattern} THEN concat(${group(2)}, ${group(3)}) END AS ${digits}`,
        `length(${group(2)}) + coalesce(try_cast(${group(4)} AS INT), 0) AS ${point}`,
        `trim(LEADING '0' FROM CASE WHEN ${point} <= 0 THEN '' ELSE rpad(left(${digits}, ${point}), ${point}, '0') END) AS ${part(column, 'whole')}`,
        `trim(TRAILING '0' FROM CASE WHEN ${point} < 0 THEN concat(repeat('0', -${point}), ${digits}) ELSE substr(${digits}, ${point} + 1) END) AS ${part(column, 'fraction')}`,
        as(
          `CASE WHEN length(${part(column, 'fraction')}) <= ${scale} AND length(${part(column, 'whole')}) <= ${precision - scale}
    THEN try_cast(concat(${group(1)}, '0', ${part(column, 'whole')}, '.', ${part(column, 'fraction')}, '0') AS DECIMAL(${precision},${scale})) END`,
        ),
      ];
    }
    case 'date':
      return [as(`CASE WHEN ${w} = 't' THEN ${dateSql(t)} END`)];
    case 'timestamp': {
      const pattern = sparkText(
        '^(\\d{4}-\\d{2}-\\d{2})[Tt ]([01]\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d)(?:[.](\\d{1,9}))?)?([Zz]|[+-](?:[01]\\d|2[0-3]):?[0-5]\\d)?\\z',
      );
      const group = (number: number): string => `regexp_extract(${t}, ${pattern}, ${number})`;
      const zone = `coalesce(nullif(${group(6)}, ''), ${definition.offset === undefined ? 'NULL' : sparkText(definition.offset)})`;
      const [offset, moment] = [part(column, 'offset'), part(column, 'moment')];
      return [
        `CASE WHEN upper(${zone}) = 'Z' THEN 0 ELSE (CASE WHEN ${zone} LIKE '-%' THEN -60 ELSE 60 END)
    * (60 * try_cast(substr(${zone}, 2, 2) AS INT) + try_cast(right(${zone}, 2) AS INT)) END AS ${offset}`,
        `CASE WHEN ${w} = 't' AND ${t} RLIKE ${pattern} AND ${dateSql(group(1))} IS NOT NULL AND NOT substr(${group(5)}, 7) RLIKE '[1-9]'
    THEN timestampadd(SECOND, -${offset}, try_cast(concat(${group(1)}, ' ', ${group(2)}, ':', ${group(3)}, ':', coalesce(nullif(${group(4)}, ''), '00')) AS TIMESTAMP_NTZ)) END AS ${moment}`,
        as(
          `CASE WHEN year(${moment}) BETWEEN 1 AND 9999 THEN timestampadd(MICROSECOND, coalesce(try_cast(rpad(left(${group(5)}, 6), 6, '0') AS INT), 0), ${moment}) END`,
        ),
      ];
    }
  }
}

function wholeItems(column: string, definition: ColumnDefinition): string[] {
  const { sqlType, bounds } = kindOf(definition);
  const [least, most] = bounds!;
  const type = sparkType(sqlType);
  // A column of 32 bits without negative numbers is read like a count.
  const isSigned = type !== 'INT' || least < 0n;
  const [w, t] = [written(column), text(column)];
  const number = part(column, 'number');
  // Without leading zeros, 38 digits are enough to see whether a number is within 64 bits.
  const digits = `concat('0', trim(LEADING '0' FROM replace(${t}, '-', '')))`;
  const pattern = sparkText(isSigned ? '^-?[0-9]{1,40}\\z' : '^[0-9]+\\z');
  // A JSON number such as 12.0 or 1e3 is whole if its decimal is.
  const wholeNumber = sparkText('^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,3})?\\z');
  const decimal = `try_cast(${t} AS DECIMAL(38,17))`;
  return [
    `CASE WHEN ${w} IN ('t', 'n') AND ${t} RLIKE ${pattern} AND length(${digits}) <= 21
    THEN try_cast(concat(CASE WHEN ${t} LIKE '-%' THEN '-' ELSE '' END, ${digits}) AS DECIMAL(38,0))
    WHEN ${w} = 'n' AND ${t} RLIKE ${wholeNumber} AND ${decimal} = floor(${decimal}) THEN CAST(${decimal} AS DECIMAL(38,0)) END AS ${number}`,
    `CASE WHEN ${number} BETWEEN ${least} AND ${most} THEN CAST(${number} AS ${type}) END AS ${sparkName(column)}`,
  ];
}

function dateSql(t: string): string {
  return `CASE WHEN ${t} RLIKE ${sparkText('^\\d{4}-\\d{2}-\\d{2}\\z')} AND NOT ${t} LIKE '0000%' THEN try_cast(${t} AS DATE) END`;
}
