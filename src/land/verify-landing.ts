/** Checks a landing: its files against what a manifest says of them, and each answer's body against its own hash. */

import { findAltered } from '../warehouse/check-files.ts';
import { isRekapError, type RekapError } from '../errors.ts';
import type { ManifestFile } from '../warehouse/snapshot-format.ts';
import { openBodies, readAnswers } from './landed-run.ts';
import { answersFile, bodiesFile, readBody } from './landing.ts';

/** Of so many damaged answers each is named; of more, only how many. */
const mostNamed = 3;

/** Gives everything that is wrong with the landing in `folder`, as sentences; none where it is what it was. */
export async function verifyLanding(folder: string, files: readonly ManifestFile[]): Promise<string[]> {
  const altered = await findAltered(folder, files);
  const problems = altered.map(({ path, why }) => `${path}: ${why}`);
  // Lines that are others say nothing of the bodies, and what cannot be read has been named.
  if (altered.some(({ path, isRead }) => path === answersFile || !isRead)) return problems;
  return [...problems, ...(await verifyBodies(folder))];
}

async function verifyBodies(folder: string): Promise<string[]> {
  const damaged: string[] = [];
  try {
    const answers = await readAnswers(folder);
    const bodies = await openBodies(folder);
    try {
      for (const line of answers) {
        const body = await orLandingError(readBody(bodies, line, folder));
        if (isRekapError(body, 'landing')) damaged.push(`${bodiesFile}: the answer to ${line.url} is not what it was`);
      }
    } finally {
      // A file that was only read loses nothing by it.
      await bodies.close().catch(() => undefined);
    }
  } catch (error) {
    if (isRekapError(error, 'landing')) return [error.message];
    throw error;
  }
  const more = damaged.length - mostNamed;
  return more > 0
    ? [...damaged.slice(0, mostNamed), `${bodiesFile}: and ${more} more ${more === 1 ? 'answer' : 'answers'}`]
    : damaged;
}

async function orLandingError<Value>(reading: Promise<Value>): Promise<Value | RekapError> {
  try {
    return await reading;
  } catch (error) {
    if (isRekapError(error, 'landing')) return error;
    throw error;
  }
}
