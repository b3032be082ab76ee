/** What a query gives: columns, and rows in groups. */

import type { DuckDBDateValue, DuckDBDecimalValue, DuckDBTimestampValue, JS } from '@duckdb/node-api';

/** A value as DuckDB's client gives it to JavaScript; what JavaScript would round or refuse stays DuckDB's own, which prints itself. */
export type ResultValue = JS | DuckDBDecimalValue | DuckDBDateValue | DuckDBTimestampValue;

/** A column of a result; `type` is DuckDB's name of it. */
export interface ResultColumn {
  readonly name: string;
  readonly type: string;
}

/** A result whose rows come in groups, so that its size does not matter. */
export interface QueryResult {
  readonly columns: readonly ResultColumn[];
  groups(): AsyncIterable<readonly (readonly ResultValue[])[]>;
}
