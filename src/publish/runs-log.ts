/** runs.jsonl: one line per run, published or not, with the reason. */

import { readFile } from 'node:fs/promises';
import { systemCode, RekapError, systemReason } from '../errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { flush, withFile } from '../warehouse/with-file.ts';

/** A line of runs.jsonl. */
export interface RunLine {
  /** Null where it failed before it had an id. */
  readonly run: string | null;
  readonly kind: 'sync' | 'replay';
  readonly started_at: string;
  readonly finished_at: string;
  readonly outcome: 'published' | 'unchanged' | 'reproduced' | 'dry run' | 'refused' | 'failed' | 'interrupted';
  readonly exit_code: number;
  readonly source: string;
  /** The snapshot that is current after the run. */
  readonly snapshot: string | null;
  readonly reason: string;
  readonly requests: number;
  readonly retries: number;
}

/**
 * Appends a line and flushes it. A line that a killed run left unfinished is ended first. The line is one write to a file open for
 * appending, unless the system takes only a part of it: a run that finds the warehouse busy writes beside the one that holds it, and
 * neither may come into the other's line.
 */
export async function appendRun(warehouse: string, line: RunLine): Promise<void> {
  await withFile(warehousePaths(warehouse).runs, 'a+', async (file) => {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const lead = size > 0 && last[0] !== 0x0a ? '\n' : '';
    await file.appendFile(`${lead}${JSON.stringify(line)}\n`);
    await file.datasync();
    // A file that is new has its name on the disk only then.
    if (size === 0) await flush(warehouse);
  });
}

/** A run that ended. */
interface EndedRun extends Pick<RunLine, 'kind' | 'outcome'> {
  readonly run: string;
}

/** The runs that ended, oldest first. A line that a killed run left unfinished is passed over, as is a run that came to no id. */
export async function readRuns(warehouse: string): Promise<EndedRun[]> {
  let text: string;
  try {
    text = await readFile(warehousePaths(warehouse).runs, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw new RekapError(
      'warehouse',
      `${warehousePaths(warehouse).runs} cannot be read: ${systemReason(error)}.`,
      'Correct it, or move it away: the runs that it tells of then count as broken off.',
      { cause: error },
    );
  }
  return text.split('\n').flatMap((line) => {
    try {
      const parsed: unknown = JSON.parse(line);
      return isEndedRun(parsed) ? [parsed] : [];
    } catch {
      return [];
    }
  });
}

function isEndedRun(value: unknown): value is EndedRun {
  return typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'string';
}
