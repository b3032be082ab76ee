/** runs.jsonl: one line per run, published or not, with the reason. */

import { createReadStream } from 'node:fs';
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

/** What `followRuns` keeps of the file between two calls. */
interface Followed<Summary> {
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedAt: bigint;
  /** Bytes of whole lines, which are in the summary, and the last one of these lines. */
  readonly end: number;
  readonly lastLine: Buffer;
  readonly summary: Summary;
}

/**
 * Returns a function that summarizes runs.jsonl. Each call reads only what was appended since the last one, and calls at the same time
 * share one reading. A file that is shorter, or has another line where the last one was, is read from its beginning.
 *
 * @param add Must not change the summary that it gets.
 */
export function followRuns<Summary>(
  warehouse: string,
  empty: Summary,
  add: (summary: Summary, line: RunLine) => Summary,
): () => Promise<Summary> {
  const { runs } = warehousePaths(warehouse);
  let known: Followed<Summary> | null = null;
  let reading: Promise<Summary> | null = null;

  async function read(): Promise<Summary> {
    const { ino: inode, size, mtimeNs: modifiedAt } = await stat(runs, { bigint: true });
    if (known !== null && known.inode === inode && known.size === size && known.modifiedAt === modifiedAt)
      return known.summary;
    const isLonger = known !== null && known.size < size && (await isThere(runs, known));
    let { end, lastLine, summary } = isLonger ? known! : { end: 0, lastLine: Buffer.alloc(0), summary: empty };
    let rest = Buffer.alloc(0);
    if (size > 0n)
      for await (const piece of createReadStream(runs, { start: end, end: Number(size) - 1 })) {
        rest = Buffer.concat([rest, piece as Buffer]);
        const lines = rest.subarray(0, rest.lastIndexOf('\n') + 1);
        summary = parseLines(lines.toString()).reduce(add, summary);
        rest = rest.subarray(lines.length);
        end += lines.length;
        if (lines.length > 0) lastLine = lines.subarray(lines.lastIndexOf('\n', -2) + 1);
      }
    known = { inode, size, modifiedAt, end, lastLine, summary };
    return summary;
  }

  return () => {
    reading ??= read()
      .catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return empty;
        throw unreadable(runs, error);
      })
      .finally(() => (reading = null));
    return reading;
  };
}

/** Whether the last line that was read is still there. Another file may have the inode of one that was removed. */
async function isThere(runs: string, { end, lastLine }: Followed<unknown>): Promise<boolean> {
  const found = Buffer.alloc(lastLine.length);
  await withFile(runs, 'r', (file) => file.read(found, 0, found.length, end - found.length));
  return found.equals(lastLine);
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
