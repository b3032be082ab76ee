/** Reads a landing: the settings of its run, its responses, verified by SHA-256, and its verdicts. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import * as v from 'valibot';
import { isRekapError, RekapError, systemCode, systemReason } from '../errors.ts';
import { isSuccess, type SourceResponse, type LandedResponses, type PageRequest } from '../stages.ts';
import { findProblems } from '../project/validate.ts';
import { findAltered } from '../warehouse/check-files.ts';
import { otherFormat } from '../warehouse/read-manifest.ts';
import type { ManifestFile } from '../warehouse/snapshot-format.ts';
import {
  responsesFile,
  bodiesFile,
  landedResponseShape,
  landedVerdictShape,
  lastLineShape,
  runFile,
  runFileShape,
  verdictsFile,
  type LandedResponse,
  type RunFile,
} from './formats.ts';

const decompress = promisify(gunzip);
const otherRun = 'Choose another run, or run the sync again.';

export interface LandedRun extends LandedResponses {
  readonly file: RunFile;
  readonly size: number;
  /** @throws `landing` if there is no response with this number, or its bytes don't match their hash. */
  response(number: number): Promise<SourceResponse>;
  close(): Promise<void>;
}

/** @param since Ignores older responses; null for none. @throws `landing` if a file is missing or a line of responses.jsonl is damaged. */
export async function openLandedRun(folder: string, since: Date | null): Promise<LandedRun> {
  const file = await readRunFile(folder);
  const all = await readLandedResponses(folder);
  const lines = new Map<string, LandedResponse>();
  for (const line of all) {
    const isYoung = since === null || Date.parse(line.at) >= since.getTime();
    const key = keyOf(requestOf(line));
    // A failure doesn't replace an earlier page.
    if (isYoung && (isSuccess(line.status) || !lines.has(key))) lines.set(key, line);
  }
  const bodies = await openBodies(folder);

  function requestOf({ dataset, partition, url }: LandedResponse): PageRequest {
    const isBelow = url.startsWith(`${file.base_url}/`);
    return { dataset, partition, target: isBelow ? url.slice(file.base_url.length) : url };
  }

  async function read(line: LandedResponse): Promise<SourceResponse> {
    const { url, status, at } = line;
    const request = requestOf(line);
    return { request, url, status, at: new Date(at), body: await readBody(bodies, line, folder) };
  }

  return {
    file,
    size: lines.size,
    has: (request) => lines.has(keyOf(request)),
    async responseTo(request) {
      const line = lines.get(keyOf(request));
      return line === undefined ? null : read(line);
    },
    async response(number) {
      const line = all[number];
      if (line !== undefined) return read(line);
      throw new RekapError('landing', `${join(folder, responsesFile)} has no line ${number + 1}.`, otherRun);
    },
    close: () => bodies.close().catch(() => undefined),
  };
}

function keyOf({ dataset, target }: PageRequest): string {
  return `${dataset} ${target}`;
}

/** @throws `landing` if the file is missing or doesn't describe a run. */
export async function readRunFile(folder: string): Promise<RunFile> {
  const file = join(folder, runFile);
  const described = parseJson(await readText(file));
  if (v.is(runFileShape, described)) {
    const [problem] = findProblems(described.project);
    if (problem === undefined) return described;
    throw new RekapError('landing', `${file} has an inconsistent declaration: ${problem.what}.`, otherRun);
  }
  const why = otherFormat(described, runFileShape.entries.format.literal) ?? 'does not describe a run';
  throw new RekapError('landing', `${file} ${why}.`, otherRun);
}

/** Reads responses.jsonl. Ignores a last line that a killed run left unfinished. */
export async function readLandedResponses(folder: string): Promise<LandedResponse[]> {
  const file = join(folder, responsesFile);
  return requireLines(file, await readLines(file), landedResponseShape);
}

/**
 * Reads the verdicts and warnings of a run that read everything.
 *
 * @throws `landing` if the file is missing or damaged, or its run didn't finish reading.
 */
export async function readVerdicts(folder: string) {
  const file = join(folder, verdictsFile);
  const lines = await readLines(file);
  const last = lines.pop();
  if (!v.is(lastLineShape, last) || last.verdicts !== lines.length) {
    const what = `${file} is incomplete: the run ended before it had read everything.`;
    throw new RekapError('landing', what, 'Choose another run. To continue this one, run "rekap sync --resume".');
  }
  return { verdicts: requireLines(file, lines, landedVerdictShape), warnings: last.warnings };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const isGone = systemCode(error) === 'ENOENT';
    if (isGone && !existsSync(dirname(file))) {
      const what = `The stored responses of run ${basename(dirname(file))} are not in this warehouse.`;
      const next =
        'If retention removed them, run the sync again. If the snapshot was pulled, run the command on the warehouse that created the snapshot.';
      throw new RekapError('landing', what, next, { cause: error });
    }
    const what = isGone ? 'is missing' : `cannot be read: ${systemReason(error)}`;
    throw new RekapError('landing', `${file} ${what}.`, otherRun, { cause: error });
  }
}

/** Parses each line; null for invalid JSON. Ignores text after the last newline, which is unfinished. */
async function readLines(file: string): Promise<unknown[]> {
  return (await readText(file)).split('\n').slice(0, -1).map(parseJson);
}

function requireLines<Shape extends v.GenericSchema>(
  file: string,
  lines: readonly unknown[],
  shape: Shape,
): v.InferOutput<Shape>[] {
  const damaged = lines.findIndex((line) => !v.is(shape, line));
  if (damaged >= 0) throw new RekapError('landing', `Line ${damaged + 1} of ${file} is damaged.`, otherRun);
  return lines as v.InferOutput<Shape>[];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function openBodies(folder: string): Promise<FileHandle> {
  const file = join(folder, bodiesFile);
  try {
    return await open(file, 'r');
  } catch (error) {
    throw new RekapError('landing', `${file} cannot be read: ${systemReason(error)}.`, otherRun, { cause: error });
  }
}

export async function readBody(bodies: FileHandle, line: LandedResponse, folder: string): Promise<Buffer> {
  const file = join(folder, bodiesFile);
  const compressed = await readBytes(bodies, line).catch((error: unknown) => {
    const why = `${file} cannot be read: ${systemReason(error)}.`;
    throw new RekapError('landing', why, 'Check the disk, then run the command again.', { cause: error });
  });
  const body = await decompress(compressed, { maxOutputLength: Math.max(1, line.bytes) }).catch((error: unknown) => {
    throw new RekapError('landing', `${file} is damaged at byte ${line.position}.`, otherRun, { cause: error });
  });
  if (createHash('sha256').update(body).digest('hex') === line.sha256) return body;
  const what = `${file} does not contain the response of ${line.url} as it was received: the SHA-256 differs.`;
  throw new RekapError('landing', what, otherRun);
}

async function readBytes(bodies: FileHandle, { position, length }: LandedResponse): Promise<Buffer> {
  // A damaged length must not allocate more than the file has.
  const buffer = Buffer.alloc(Math.min(length, (await bodies.stat()).size));
  let read = 0;
  for (let more = 1; more > 0; read += more)
    more = (await bodies.read(buffer, read, buffer.length - read, position + read)).bytesRead;
  return buffer;
}

const maxNamed = 3;

/** Returns the problems of a landing as sentences. Compares its files with the manifest, and each body with its hash. */
export async function verifyLanding(
  folder: string,
  files: readonly ManifestFile[],
  signal?: AbortSignal,
): Promise<string[]> {
  const altered = await findAltered(folder, files, signal);
  const problems = altered.map(({ path, why }) => `${path}: ${why}`);
  // Without intact lines the bodies can't be checked, and unreadable files are already reported.
  if (altered.some(({ path, isRead }) => path === responsesFile || !isRead)) return problems;
  return [...problems, ...(await verifyBodies(folder, signal))];
}

async function verifyBodies(folder: string, signal: AbortSignal | undefined): Promise<string[]> {
  const damaged: string[] = [];
  try {
    const bodies = await openBodies(folder);
    try {
      for (const line of await readLandedResponses(folder)) {
        signal?.throwIfAborted();
        await readBody(bodies, line, folder).catch((error: unknown) => {
          if (!isRekapError(error, 'landing')) throw error;
          damaged.push(`${bodiesFile}: the response of ${line.url} was changed`);
        });
      }
    } finally {
      await bodies.close().catch(() => undefined);
    }
  } catch (error) {
    if (isRekapError(error, 'landing')) return [error.message];
    throw error;
  }
  const more = damaged.length - maxNamed;
  if (more <= 0) return damaged;
  return [...damaged.slice(0, maxNamed), `${bodiesFile}: and ${more} more ${more === 1 ? 'response' : 'responses'}`];
}
