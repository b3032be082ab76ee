/** runs.jsonl: one line per run, published or not, with the reason. */

import { readFile, stat } from 'node:fs/promises';
import * as v from 'valibot';
import { systemCode, RekapError, systemReason } from '../errors.ts';
import { violationAgesShape, warehousePaths } from './snapshot-format.ts';
import { flush, withFile } from '../runtime/with-file.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** A line of runs.jsonl. */
export const runLineShape = v.object({
  /** Null where it failed before it had an id. */
  run: v.nullable(v.string()),
  kind: v.picklist(['sync', 'replay', 'push', 'pull']),
  started_at: v.string(),
  finished_at: v.string(),
  outcome: v.picklist([
    'published',
    'held',
    'unchanged',
    'reproduced',
    'dry run',
    'pushed',
    'pulled',
    'refused',
    'failed',
    'interrupted',
  ]),
  exit_code: count,
  source: v.string(),
  /** The snapshot that is current after the run. */
  snapshot: v.nullable(v.string()),
  reason: v.string(),
  requests: count,
  retries: count,
  /** The rest is not there in lines of older releases, nor for a run that was killed. Bytes of the answers. */
  bytes: v.optional(count),
  /** Answers by their status. */
  statuses: v.optional(v.record(v.string(), count)),
  /** Milliseconds by step, such as build_tables, in the order of the steps. */
  steps: v.optional(v.record(v.string(), count)),
  /** Rows by table of what was built. */
  rows: v.optional(v.record(v.string(), count)),
  /** Records in quarantine by table. */
  quarantined: v.optional(v.record(v.string(), count)),
  violation_ages: v.optional(violationAgesShape),
  warnings: v.optional(v.array(v.string())),
  /** Where a push went, or a pull came from. */
  bucket: v.optional(v.string()),
});
export type RunLine = Readonly<v.InferOutput<typeof runLineShape>>;

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

/** The lines of runs.jsonl, oldest first. A line that a killed run left unfinished is passed over, as is what is no line of a run. */
export async function readRuns(warehouse: string): Promise<RunLine[]> {
  const { runs } = warehousePaths(warehouse);
  try {
    return parseLines(await readFile(runs, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw unreadable(runs, error);
  }
}

/** Returns a function that reads the lines of runs.jsonl, and reads the file again only if it changed. */
export function createRunsReader(warehouse: string): () => Promise<readonly RunLine[]> {
  let known: { readonly state: string; readonly lines: Promise<readonly RunLine[]> } | null = null;
  return async () => {
    const found = await stat(warehousePaths(warehouse).runs, { bigint: true }).catch(() => null);
    const state = found === null ? 'missing' : `${found.ino} ${found.size} ${found.mtimeNs}`;
    if (known?.state !== state) {
      known = { state, lines: readRuns(warehouse) };
      known.lines.catch(() => (known = null));
    }
    return known.lines;
  };
}

const parseLine = v.safeParser(v.pipe(v.string(), v.parseJson(), runLineShape));

function parseLines(text: string): RunLine[] {
  return text.split('\n').flatMap((line) => {
    const { success, output } = parseLine(line);
    return success ? [output] : [];
  });
}

function unreadable(runs: string, error: unknown): RekapError {
  return new RekapError(
    'warehouse',
    `${runs} cannot be read: ${systemReason(error)}.`,
    'Check its permissions and the disk, or move it. Without it, the runs that it lists count as interrupted.',
    { cause: error },
  );
}
