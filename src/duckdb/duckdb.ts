/**
 * DuckDB's client, loaded when it is first needed. It is required, not imported: Node reads each file of such a package twice for an
 * import, in search of the names it exports, which costs every command 0.1 s.
 */

import { createRequire } from 'node:module';

type DuckDB = typeof import('@duckdb/node-api');

const require = createRequire(import.meta.url);
let loaded: DuckDB | null = null;

export function duckdb(): DuckDB {
  return (loaded ??= require('@duckdb/node-api') as DuckDB);
}
