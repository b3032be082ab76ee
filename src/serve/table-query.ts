/** Reads the parameters of a page of a table, and turns them into SQL. The page has the same ones in its address. */

import { quoteIdentifier } from '../runtime/database.ts';
import type { QueryParameters } from '../snapshots/query/prepare-query.ts';
import type { Relation, RelationColumn } from '../warehouse/read-dictionary.ts';
import { maxLimit, maxNumber } from './limits.ts';
import { Problem } from './problem.ts';

/** Describes what a page shows: `where.COLUMN=…` filters, `sort=COLUMN,-COLUMN` sorts, `limit` and `offset` choose the rows. */
export interface TableQuery {
  /** Counts the rows that pass the filters. */
  readonly count: string;
  /** All of them, in order. */
  readonly all: string;
  /** Those of the page. */
  readonly page: string;
  readonly parameters: QueryParameters;
}

const filterPrefix = 'where.';
export const defaultRows = 50;

export function isNumeric(type: string): boolean {
  return /INT|DOUBLE|FLOAT|DECIMAL/.test(type);
}

/** @throws Problem 400 for an unknown parameter or column, or a value that doesn't fit. */
export function readTableQuery({ name, columns }: Relation, query: Readonly<Record<string, unknown>>): TableQuery {
  const column = (wanted: string, parameter: string): RelationColumn => {
    const found = columns.find((one) => one.name === wanted);
    if (found !== undefined) return found;
    throw new Problem(400, `The table ${name} has no column ${JSON.stringify(wanted.slice(0, 80))}.`, { parameter });
  };
  const parameters: Record<string, string> = {};
  const conditions: string[] = [];
  const sorted = new Map<string, string>();
  const numbers = { limit: defaultRows, offset: 0 };
  for (const [parameter, value] of Object.entries(query)) {
    if (typeof value !== 'string') throw new Problem(400, `The parameter ${parameter} is repeated.`, { parameter });
    if (parameter.startsWith(filterPrefix)) {
      const { condition, bound } = filter(column(parameter.slice(filterPrefix.length), parameter), value, parameter);
      const place = `v${conditions.length}`;
      conditions.push(condition.replace('$v', `$${place}`));
      // In quotes, every value is bound as a text.
      if (bound !== null) parameters[place] = `'${bound}'`;
    } else if (parameter === 'sort') {
      for (const part of value.split(',').filter((one) => one !== '')) {
        const descends = part.startsWith('-');
        sorted.set(column(descends ? part.slice(1) : part, parameter).name, descends ? ' DESC' : '');
      }
    } else if (parameter === 'limit' || parameter === 'offset') {
      const [least, most] = parameter === 'limit' ? [1, maxLimit] : [0, maxNumber];
      const number = /^\d{1,10}$/.test(value) ? Number(value) : -1;
      const detail = `The parameter ${parameter} must be a whole number from ${least} to ${most}.`;
      if (number < least || number > most) throw new Problem(400, detail, { parameter });
      numbers[parameter] = number;
    } else
      throw new Problem(400, `The parameter ${JSON.stringify(parameter.slice(0, 80))} does not exist.`, { parameter });
  }
  // Without the other columns, rows with equal values could move between two pages.
  for (const { name: other } of columns) if (!sorted.has(other)) sorted.set(other, '');
  const order = [...sorted].map(([one, way]) => `${quoteIdentifier(one)}${way} NULLS LAST`).join(', ');
  const from = `FROM ${quoteIdentifier(name)}${conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`}`;
  const all = `SELECT * ${from} ORDER BY ${order}`;
  const page = `${all} LIMIT ${numbers.limit} OFFSET ${numbers.offset}`;
  return { count: `SELECT count(*) AS n ${from}`, all, page, parameters };
}

/** A text contains the value, in any letter case. A number or a time is equal to it, or compares with it: `>5`. */
function filter({ name, type }: RelationColumn, value: string, parameter: string) {
  const column = quoteIdentifier(name);
  if (/^(not )?null$/i.test(value)) return { condition: `${column} IS ${value.toUpperCase()}`, bound: null };
  if (type === 'VARCHAR') return { condition: `contains(lower(${column}), lower($v))`, bound: value };
  const [, operator = '', operand = ''] = /^\s*(<=|>=|<|>|=)?\s*(.*?)\s*$/s.exec(value)!;
  if (isNumeric(type) && !/^-?\d{1,30}(\.\d{1,30})?$/.test(operand))
    throw new Problem(400, `Filter ${name} by a number, such as 5, >5 or <=5, or by null.`, { parameter });
  // A time is compared by as much of it as the filter names, such as 2026-11.
  if (!isNumeric(type) && operator === '') return { condition: `starts_with(${column}::VARCHAR, $v)`, bound: operand };
  const compared = isNumeric(type) ? `${column} ${operator || '='} $v::${type}` : `${column}::VARCHAR ${operator} $v`;
  return { condition: compared, bound: operand };
}
