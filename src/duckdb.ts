/**
 * DuckDB's client. It is required, not imported: Node reads each file of such a package twice for an import, in search of the names it
 * exports, which costs every command 0.1 s.
 */

import { createRequire } from 'node:module';

export const duckdb = createRequire(import.meta.url)('@duckdb/node-api') as typeof import('@duckdb/node-api');
