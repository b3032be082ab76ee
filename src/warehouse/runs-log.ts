/** Reads and writes runs.jsonl: one line per run, published or not, with the reason. */

import { readFile, stat } from 'node:fs/promises';
import * as v from 'valibot';
import { systemCode, RekapError, systemReason } from '../errors.ts';
import { violationAgesShape, warehousePaths } from './snapshot-format.ts';
import { flush, withFile } from '../runtime/with-file.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const runLineShape = v.object({
  /** Null if the run failed before it had an ID. */
  run: v.nullable(v.string()),
  kind: v.picklist(['sync', 'replay', 'push', 'pull', 'lake']),
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
  snapshot: v.nullable(v.string()),
  reason: v.string(),
  requests: count,
  retries: count,
  /** Bytes of the responses. Transfers, killed runs and runs that couldn't start don't have this and all following fields. */
  bytes: v.optional(count),
  statuses: v.optional(v.record(v.string(), count)),
  /** Milliseconds by step, such as build_tables, in order. */
  steps: v.optional(v.record(v.string(), count)),
  rows: v.optional(v.record(v.string(), count)),
  quarantined: v.optional(v.record(v.string(), count)),
  violation_ages: v.optional(violationAgesShape),
  /** How far the proof reaches, if only what changed was read. */
  notes: v.optional(v.array(v.string())),
  warnings: v.optional(v.array(v.string())),
  bucket: v.optional(v.string()),
});
export type RunLine = Readonly<v.InferOutput<typeof runLineShape>>;

/**
 * Appends a line and flushes it. First ends a line that a killed run left unfinished.
 * One write in append mode keeps lines whole while a run that finds the warehouse busy writes too.
 */
export async function appendRun(warehouse: string, line: RunLine): Promise<void> {
  await withFile(warehousePaths(warehouse).runs, 'a+', async (file) => {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    const lead = size > 0 && last[0] !== 0x0a ? '\n' : '';
    await file.appendFile(`${lead}${JSON.stringify(line)}\n`);
    await file.datasync();
    // A new file's name is on the disk only after its folder is flushed.
    if (size === 0) await flush(warehouse);
  });
}

/** Returns the lines of runs.jsonl, oldest first. Skips unfinished and invalid lines. */
export async function readRuns(warehouse: string): Promise<RunLine[]> {
  const { runs } = warehousePaths(warehouse);
  try {
    return parseLines(await readFile(runs, 'utf8'));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw unreadable(runs, error);
  }
}

/** Returns a function that reads runs.jsonl again only if the file changed. */
export function createRunsReader(warehouse: string): () => Promise<readonly RunLine[]> {
  let last: { readonly state: string; readonly lines: Promise<readonly RunLine[]> } | null = null;
  return async () => {
    const found = await stat(warehousePaths(warehouse).runs, { bigint: true }).catch(() => null);
    const state = found === null ? 'missing' : `${found.ino} ${found.size} ${found.mtimeNs}`;
    if (last?.state !== state) {
      last = { state, lines: readRuns(warehouse) };
      last.lines.catch(() => (last = null));
    }
    return last.lines;
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
