/** Generates the view and the check of a child table: one row for each item of the arrays in a JSON column. */

import type { ChildTable, ColumnDefinition, DeclaredColumn, DeclaredPipeline } from './declaration.ts';
import { commentOn, escapePointer } from './field-path.ts';
import type { SqlFile } from './sql-file.ts';
import { type Found, repeated } from './validate-checks.ts';

/** Without a declared key, items have their place in the array, from 1. */
const place = 'place';

type Read = { readonly is: string; readonly type: string; readonly reads: string };

/**
 * Returns the SQL type of a column, a condition on its text, and what the text must be; null for kinds that child tables don't have. DuckDB
 * rounds and clips in a cast, so the condition admits only what the type can hold.
 */
function readingOf(column: DeclaredColumn | ColumnDefinition): Read | null {
  const exact = exactReading(column);
  return exact === null ? null : { ...exact, reads: `${exact.reads} AND try_cast(text AS ${exact.type}) IS NOT NULL` };
}

function exactReading(column: DeclaredColumn | ColumnDefinition): Read | null {
  const whole = '^-?[0-9]+([.]0*)?$';
  switch (column.kind) {
    case 'text':
      return column.from === 'any'
        ? {
            is: 'a text, a whole number, true or false',
            type: 'VARCHAR',
            reads: "kind NOT IN ('OBJECT', 'ARRAY', 'DOUBLE')",
          }
        : { is: 'a text', type: 'VARCHAR', reads: "kind = 'VARCHAR'" };
    case 'json':
      return { is: 'JSON', type: 'JSON', reads: 'true' };
    case 'boolean':
      return { is: 'true or false', type: 'BOOLEAN', reads: "text IN ('true', 'false')" };
    case 'double':
      return { is: 'a number', type: 'DOUBLE', reads: 'isfinite(try_cast(text AS DOUBLE))' };
    case 'date':
      return {
        is: 'a date such as 2024-02-14',
        type: 'DATE',
        reads: "regexp_full_match(text, '\\d{4}-\\d{2}-\\d{2}')",
      };
    case 'count':
      return {
        is: 'a count',
        type: 'INTEGER',
        reads: `regexp_matches(text, '${whole}') AND try_cast(text AS INTEGER) >= 0`,
      };
    case 'integer': {
      const { min = '-9223372036854775808', max = '9223372036854775807' } = column;
      const bounds = `try_cast(text AS DECIMAL(38, 0)) BETWEEN ${min}::DECIMAL(38, 0) AND ${max}::DECIMAL(38, 0)`;
      return {
        is: 'a whole number in its bounds',
        type: 'BIGINT',
        reads: `regexp_matches(text, '${whole}') AND ${bounds}`,
      };
    }
    case 'decimal': {
      const { precision, scale } = column;
      const digits = `regexp_matches(text, '^-?[0-9]+([.][0-9]{0,${scale}}0*)?$') AND (kind <> 'DOUBLE' OR length(regexp_replace(text, '[-.]', '', 'g')) <= 15)`;
      // DuckDB reads a JSON number with a fraction as a double, which has 15 exact digits.
      return {
        is: `a number with at most ${scale} decimals, and 15 digits if it is not a text`,
        type: `DECIMAL(${precision}, ${scale})`,
        reads: digits,
      };
    }
    case 'timestamp':
      return null;
  }
}

/** Properties of a column that only records have. */
const ofRecords = new Set(['group', 'point', 'format', 'from']);

/** Finds what a child table can't be made of. */
export function* findChildProblems({ columns, key: parentKey, children = {} }: DeclaredPipeline): Found {
  for (const [name, { from, key, columns: own }] of Object.entries(children)) {
    if (columns[from]?.kind !== 'json')
      yield [from, `the child table "${name}" reads "${from}", which is not a column of kind json`];
    for (const twice of repeated([...parentKey, ...(key === undefined ? [place] : []), ...Object.keys(own)]))
      yield [twice, `the child table "${name}" has the column "${twice}" twice: the key of its parent is part of it`];
    for (const part of key ?? [])
      if (own[part] === undefined || own[part].nullable === true)
        yield [
          part,
          `the key of the child table "${name}" contains "${part}", which is not a column that always has a value`,
        ];
    for (const [column, declared] of Object.entries(own)) {
      const properties = Object.entries(declared).filter(([, value]) => value !== 'any');
      const unknown = properties.find(([property]) => ofRecords.has(property))?.[0];
      if (readingOf(declared) === null || unknown !== undefined)
        yield [
          column,
          `the column "${column}" of the child table "${name}" has ${unknown ?? 'kind timestamp'}, which only columns of records have; declare it as text`,
        ];
    }
  }
}

/** Returns the views and checks of a pipeline's child tables. Names are checked separately, before any of them runs. */
export function childTables(pipeline: DeclaredPipeline): { models: SqlFile[]; checks: SqlFile[] } {
  const children = Object.entries(pipeline.children ?? {});
  return {
    models: children.map(([name, child]) => childView(pipeline, name, child)),
    checks: children.map(([name, child]) => childCheck(pipeline, name, child)),
  };
}

function childView({ table, key: parentKey }: DeclaredPipeline, name: string, child: ChildTable): SqlFile {
  const { key = [place], comment = `Items of ${child.from} in ${table}.` } = child;
  const values = Object.entries(child.columns).map(([column, declared]) => {
    const { type, reads } = readingOf(declared)!;
    const [text, kind] = valueOf(declared.field, declared.kind === 'json');
    return `(SELECT CASE WHEN ${reads} THEN try_cast(text AS ${type}) END FROM (SELECT ${text} AS text, ${kind} AS kind)) AS "${column}"`;
  });
  return {
    name,
    comment,
    columns: {
      ...(child.key === undefined && { [place]: 'Place of the item in the array, from 1.' }),
      ...Object.fromEntries(
        Object.entries(child.columns).map(([column, { field, comment: own }]) => [column, own ?? commentOn(field)]),
      ),
    },
    keys: {
      primaryKey: [...parentKey, ...key],
      foreignKeys: [{ fields: [...parentKey], reference: { resource: table, fields: [...parentKey] } }],
    },
    sql: `SELECT ${[...parentKey.map((one) => `"${one}"`), ...(child.key === undefined ? [`"${place}"`] : []), ...values].join(', ')}
FROM ${itemsSql(table, parentKey, child)}`,
  };
}

/** Finds what isn't an array, items whose values can't be read, repeated keys, and arrays whose items aren't all in the view. */
function childCheck({ table, key: parentKey, columns }: DeclaredPipeline, name: string, child: ChildTable): SqlFile {
  const { from, key } = child;
  const parent = parentKey.map((one) => `"${one}"`).join(', ');
  const found = (actual: string, expected: string) =>
    `SELECT '${table}' AS dataset, ${parent}, 'error' AS severity, '${from}' AS column_name, ${expected} AS expected, ${actual} AS actual`;
  // A table can't have this name. Without MATERIALIZED, DuckDB would read the arrays again for each column.
  const items = '"all items"';
  const isArray = `json_type("${from}") = 'ARRAY'`;
  const isNullable = columns[from]?.nullable === true;
  const ofColumns = Object.entries(child.columns).map(([column, declared]) => {
    const { is, reads } = readingOf(declared)!;
    const [text, kind] = valueOf(declared.field, declared.kind === 'json');
    const actual = `concat('item ', "${place}", ' has the ${column} ', coalesce(text, 'null'))`;
    const fails = `text IS NULL${declared.nullable === true ? ' AND false' : ''} OR (${reads}) IS NOT TRUE AND text IS NOT NULL`;
    return `${found(actual, `'${is}'`)} FROM (SELECT *, ${text} AS text, ${kind} AS kind FROM ${items}) WHERE ${fails}`;
  });
  const shapes = `${found(`concat('it is ', json_type("${from}"))`, "'an array'")} FROM "${table}" WHERE "${from}" IS NOT NULL AND NOT ${isArray}${isNullable ? ` AND json_type("${from}") <> 'NULL'` : ''}`;
  // A misspelt field is missing in every item.
  const none = parentKey.map((one) => `NULL AS "${one}"`).join(', ');
  const absent = Object.values(child.columns).map(({ field, nullable }) => {
    const kind = valueOf(field, false)[1];
    const text = field.replaceAll("'", "''");
    return `SELECT '${table}' AS dataset, ${none}, '${nullable === true ? 'warning' : 'error'}' AS severity, '${from}' AS column_name, 'the field ${text}' AS expected, concat('none of ', count(*), ' items of ${name} has it') AS actual FROM ${items} HAVING count(*) > 0 AND count(${kind}) = 0`;
  });
  const lengths = `${found("concat(rows, ' rows')", "concat(items, ' items')")} FROM (
  SELECT ${parent}, json_array_length("${from}") AS items, (SELECT count(*) FROM "${name}" c WHERE ${parentKey.map((one) => `c."${one}" = p."${one}"`).join(' AND ')}) AS rows
  FROM "${table}" p WHERE ${isArray}) WHERE items <> rows`;
  const own = key?.map((one) => `"${one}"`).join(', ');
  const repeats = `${found(`concat(count(*), ' items have the key ', concat_ws(', ', ${own}))`, "'one item for each key'")} FROM "${name}" GROUP BY ${parent}, ${own} HAVING count(*) > 1`;
  return {
    name: `${name}_items`,
    comment: `Items of ${from} in ${table} that can't be read.`,
    columns: {},
    message: {
      en: '{column} ({field}): {actual}, but must be {expected}',
      id: '{column} ({field}): {actual}, seharusnya {expected}',
    },
    sql: `WITH ${items} AS MATERIALIZED ${itemsSql(table, parentKey, child)}
${[shapes, ...ofColumns, ...absent, lengths, ...(own === undefined ? [] : [repeats])].join('\nUNION ALL ')}`,
  };
}

/** Returns SQL for the items of all arrays, each with the key of its parent and its place. */
function itemsSql(table: string, parentKey: readonly string[], { from }: ChildTable): string {
  const parent = parentKey.map((one) => `"${one}"`).join(', ');
  const list = `json_extract("${from}", '$[*]')`;
  return `(SELECT ${parent}, unnest(${list}) AS item, generate_subscripts(${list}, 1) AS "${place}" FROM "${table}" WHERE json_type("${from}") = 'ARRAY')`;
}

/** Returns SQL for the value of a field of an item as a text, and for its JSON type. */
function valueOf(field: string, isJson: boolean): readonly [text: string, kind: string] {
  const pointer = (field.startsWith('/') ? field : `/${escapePointer(field)}`).replaceAll("'", "''");
  return [isJson ? `nullif(item -> '${pointer}', 'null')` : `item ->> '${pointer}'`, `json_type(item, '${pointer}')`];
}
