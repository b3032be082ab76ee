/** Apache Arrow, required for the reason that `duckdb.ts` gives. */

import { createRequire } from 'node:module';

export const arrow = createRequire(import.meta.url)('apache-arrow') as typeof import('apache-arrow');
