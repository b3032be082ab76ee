/** Reads the version of rekap from its package.json. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export function readVersion(): string {
  const file = createRequire(import.meta.url).resolve('rekap/package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
