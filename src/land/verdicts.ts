/**
 * verdicts.jsonl, the last file of a landing: what was found of each district, and which records of which answers count for it. It is all
 * that building the tables again needs. Its last line is there only where the run has read everything.
 */

import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RekapError, systemReason } from '../errors.ts';
import type { AcceptedReading, Verdict } from '../stages.ts';
import { nameFile } from '../warehouse/with-file.ts';

export const verdictsFile = 'verdicts.jsonl';

/** A line: the verdict, and of each accepted page the number of its answer, its first record, and how many are taken. */
interface LandedVerdict extends Verdict {
  readonly accepted: readonly (readonly [answer: number, first: number, taken: number])[];
}

/** The last line. */
interface LastLine {
  /** Lines before this one. */
  readonly verdicts: number;
  /** What was warned of while the districts were read. */
  readonly warnings: readonly string[];
}

export interface LandedVerdicts extends Pick<LastLine, 'warnings'> {
  readonly verdicts: readonly LandedVerdict[];
}

/**
 * Passes readings on, and writes each of them down on the way.
 *
 * @param warnings Those of the run so far; read when all districts were.
 */
export async function* landVerdicts(
  folder: string,
  readings: AsyncIterable<AcceptedReading>,
  warnings: readonly string[],
): AsyncGenerator<AcceptedReading> {
  const path = join(folder, verdictsFile);
  const file = await open(path, 'wx');
  const append = (line: unknown): Promise<void> => nameFile(path, () => file.appendFile(`${JSON.stringify(line)}\n`));
  try {
    let verdicts = 0;
    for await (const reading of readings) {
      const accepted = reading.pages.map(({ answer, first, taken }) => [answer, first, taken]);
      await append({ ...reading.verdict, accepted });
      verdicts += 1;
      yield reading;
    }
    await append({ verdicts, warnings });
    await nameFile(path, () => file.datasync());
  } finally {
    await nameFile(path, () => file.close());
  }
}

/** @throws `landing` where the file is missing, is damaged, or its run never came to the end. */
export async function readVerdicts(folder: string): Promise<LandedVerdicts> {
  const path = join(folder, verdictsFile);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new RekapError('landing', `${path} cannot be read: ${systemReason(error)}.`, 'Name another run.', {
      cause: error,
    });
  }
  const lines = text.split('\n').slice(0, -1).map(parse);
  const last = lines.pop();
  if (!isLastLine(last, lines.length)) {
    throw new RekapError(
      'landing',
      `${path} does not come to its end: the run was broken off before it had read everything.`,
      'Name another run. "rekap sync --resume" goes on from what this one has landed.',
    );
  }
  const damaged = lines.findIndex((line) => !isLandedVerdict(line));
  if (damaged >= 0) throw new RekapError('landing', `Line ${damaged + 1} of ${path} is damaged.`, 'Name another run.');
  return { verdicts: lines as LandedVerdict[], warnings: last.warnings };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function isLastLine(value: unknown, lines: number): value is LastLine {
  if (typeof value !== 'object' || value === null) return false;
  const { verdicts, warnings } = value as Partial<Record<keyof LastLine, unknown>>;
  return verdicts === lines && Array.isArray(warnings) && warnings.every((warning) => typeof warning === 'string');
}

function isLandedVerdict(value: unknown): value is LandedVerdict {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Partial<Record<keyof LandedVerdict, unknown>>;
  return (
    [line.dataset, line.proof, line.read_at].every((text) => typeof text === 'string') &&
    [line.district ?? 0, line.listed ?? 0, line.received, line.pages, line.readings].every(isCount) &&
    typeof line.complete === 'boolean' &&
    (line.reason === null || typeof line.reason === 'string') &&
    Array.isArray(line.accepted) &&
    line.accepted.every((page: unknown) => Array.isArray(page) && page.length === 3 && page.every(isCount))
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
