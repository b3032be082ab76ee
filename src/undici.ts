/**
 * The parts of undici that requests are made of, required for the reason that `duckdb.ts` gives: all of it takes three times as long.
 * The package names no exports, so its files are its interface, and its version is exact in package.json.
 */

import { createRequire } from 'node:module';
import type { Dispatcher } from 'undici';

type Undici = typeof import('undici');

const require = createRequire(import.meta.url);

export const Pool = require('undici/lib/dispatcher/pool') as Undici['Pool'];
const makeDecompress = require('undici/lib/interceptor/decompress') as Undici['interceptors']['decompress'];
export const request = require('undici/lib/api/api-request') as (
  this: Dispatcher,
  options: Dispatcher.RequestOptions,
) => Promise<Dispatcher.ResponseData>;

/** undici announces its decompression as experimental where it is first made; that is for us to know and not for the user. */
export function decompress(options: Parameters<typeof makeDecompress>[0]): ReturnType<typeof makeDecompress> {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return makeDecompress(options);
  } finally {
    process.emitWarning = emitWarning;
  }
}
