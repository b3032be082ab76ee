/** runs.jsonl: one line per run, published or not, with the reason. */

import { open } from 'node:fs/promises';
import { warehousePaths } from '../warehouse.ts';

/** A line of runs.jsonl. */
export interface RunLine {
  readonly run: string;
  readonly started_at: string;
  readonly finished_at: string;
  readonly outcome: 'published' | 'unchanged' | 'dry run' | 'refused' | 'failed' | 'interrupted';
  readonly exit_code: number;
  readonly source: string;
  /** The snapshot that is current after the run. */
  readonly snapshot: string | null;
  readonly reason: string;
  readonly requests: number;
  readonly retries: number;
}

/** Appends a line and flushes it. A line that a killed run left unfinished is ended first. */
export async function appendRun(warehouse: string, line: RunLine): Promise<void> {
  const file = await open(warehousePaths(warehouse).runs, 'a+');
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const lead = size > 0 && last[0] !== 0x0a ? '\n' : '';
    await file.write(`${lead}${JSON.stringify(line)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}
