/** The log of runs as its readers see it. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunLine } from '../../src/warehouse/runs-log.ts';

/** What runs.jsonl says of each run, the last one last. */
export async function readRunLines(warehouse: string): Promise<RunLine[]> {
  const text = await readFile(join(warehouse, 'runs.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RunLine);
}
