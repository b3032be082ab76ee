/** Reads a landing back: which requests it answers, and each answer's body, checked against its SHA-256. */

import { open, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { RekapError, systemReason } from '../errors.ts';
import type { Answer, LandedAnswers, PageRequest } from '../stages.ts';
import { answersFile, bodiesFile, readBody, type LandedAnswer } from './landing.ts';
import { readRunFile, type RunFile } from './run-file.ts';

/** The landing of an earlier run, open for reading. */
export interface LandedRun extends LandedAnswers {
  readonly file: RunFile;
  /** Requests that it answers. */
  readonly size: number;
  /**
   * The answer of a number.
   *
   * @throws `landing` where there is none, or its bytes do not fit their hash.
   */
  answer(number: number): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Opens the landing in `folder`.
 *
 * @param since Answers older than this are left out; null for none.
 * @throws `landing` where a file is missing or a line of answers.jsonl is damaged. A last line that a killed run left unfinished is not.
 */
export async function openLandedRun(folder: string, since: Date | null): Promise<LandedRun> {
  const file = await readRunFile(folder);
  const all = await readAnswers(folder);
  const lines = new Map<string, LandedAnswer>();
  for (const line of all) {
    const isYoung = since === null || Date.parse(line.at) >= since.getTime();
    // A failure that came later says nothing of the page.
    if (isYoung && (line.status === 200 || !lines.has(keyOf(line)))) lines.set(keyOf(line), line);
  }
  const bodies = await openBodies(folder);

  async function read(line: LandedAnswer): Promise<Answer> {
    const { dataset, district, offset, limit, url, status, at } = line;
    const request = { dataset, district, offset, limit };
    return { request, url, status, at: new Date(at), body: await readBody(bodies, line, folder) };
  }

  return {
    file,
    size: lines.size,
    has: (request) => lines.has(keyOf(request)),
    async answerTo(request) {
      const line = lines.get(keyOf(request));
      return line === undefined ? null : read(line);
    },
    async answer(number) {
      const line = all[number];
      if (line !== undefined) return read(line);
      throw new RekapError('landing', `${join(folder, answersFile)} has no line ${number + 1}.`, 'Name another run.');
    },
    // A file that was only read loses nothing by it.
    close: () => bodies.close().catch(() => undefined),
  };
}

function keyOf({ dataset, district, offset, limit }: PageRequest): string {
  return `${dataset} ${district ?? 'all'} ${offset} ${limit}`;
}

/** The lines of answers.jsonl; one that a killed run left unfinished is none. */
export async function readAnswers(folder: string): Promise<LandedAnswer[]> {
  const file = join(folder, answersFile);
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new RekapError('landing', `${file} cannot be read: ${systemReason(error)}.`, 'Name another run.', {
      cause: error,
    });
  }
  // What follows the last line break is nothing, or a line that was never finished.
  return text
    .split('\n')
    .slice(0, -1)
    .map((line, index) => {
      try {
        const parsed: unknown = JSON.parse(line);
        if (isLandedAnswer(parsed)) return parsed;
      } catch {
        // Said below, as for any other line that is none.
      }
      throw new RekapError(
        'landing',
        `Line ${index + 1} of ${file} is damaged.`,
        'Name another run, or run the sync again.',
      );
    });
}

function isLandedAnswer(value: unknown): value is LandedAnswer {
  if (typeof value !== 'object' || value === null) return false;
  const line = value as Partial<Record<keyof LandedAnswer, unknown>>;
  const numbers = [line.offset, line.limit, line.status, line.bytes, line.position, line.length];
  return (
    [line.dataset, line.url, line.at, line.sha256].every((text) => typeof text === 'string') &&
    !Number.isNaN(Date.parse(line.at as string)) &&
    [...numbers, line.district ?? 0].every((number) => Number.isSafeInteger(number) && (number as number) >= 0)
  );
}

export async function openBodies(folder: string): Promise<FileHandle> {
  const file = join(folder, bodiesFile);
  try {
    return await open(file, 'r');
  } catch (error) {
    throw new RekapError('landing', `${file} cannot be read: ${systemReason(error)}.`, 'Name another run.', {
      cause: error,
    });
  }
}
