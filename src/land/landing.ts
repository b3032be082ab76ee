/**
 * Keeps every answer of a run as it came: `run.json` says what was asked, `bodies.gz` is one gzip member after another (so that `zcat`
 * reads it whole), and `answers.jsonl` has one line per answer with its place in bodies.gz, URL, time, status and SHA-256. The latter
 * two only ever grow.
 */

import { createHash } from 'node:crypto';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { LandingError } from '../errors.ts';
import { flushFile, flushFolder } from '../flush.ts';
import type { Answer, LandedBody, PageRequest } from '../stages.ts';
import { runFile, writeRunFile, type RunFile } from './run-file.ts';

export const bodiesFile = 'bodies.gz';
export const answersFile = 'answers.jsonl';

/** A line of answers.jsonl. */
export interface LandedAnswer extends PageRequest {
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
  readonly status: number;
  /** Length and SHA-256 of the body, decoded from any content encoding. */
  readonly bytes: number;
  readonly sha256: string;
  /** Where the compressed body lies in bodies.gz. */
  readonly position: number;
  readonly length: number;
}

export interface Landing {
  /** Takes an answer; resolves as soon as there is room for it in the queue, not when it is on the disk. */
  land(answer: Answer): Promise<LandedBody>;
  /** Waits for everything taken, flushes it to the disk and closes the files. */
  close(): Promise<void>;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** So many bytes may wait for compression before `land` makes its caller wait. */
const queueBound = 16 * 1024 * 1024;
/** For records as these level 2 takes no longer than level 1, and a tenth less room. */
const compressionLevel = 2;
/** zlib gives its output in chunks, each with a turn of the event loop: one or two are enough for most bodies. */
function compressionOf(length: number) {
  return { level: compressionLevel, chunkSize: Math.max(4096, Math.min(1 << 20, length >> 1)) };
}

/** Opens a new landing in `folder`, which is made and must not hold one. */
export async function openLanding(folder: string, run: RunFile): Promise<Landing> {
  await mkdir(folder, { recursive: true });
  await writeRunFile(folder, run);
  const bodies = await open(join(folder, bodiesFile), 'wx+');
  let answers: FileHandle;
  try {
    answers = await open(join(folder, answersFile), 'wx');
  } catch (error) {
    await bodies.close();
    throw error;
  }

  let position = 0;
  let queued = 0;
  let writing: Promise<void> = Promise.resolve();
  let failure: unknown = null;
  let roomMade: (() => void)[] = [];

  async function write(answer: Answer, compressed: Promise<Buffer>): Promise<LandedAnswer> {
    const bytes = await compressed;
    // After one that was written in part, no other may follow: what stands before it can still be gone on from.
    if (failure !== null) throw failure;
    const line: LandedAnswer = {
      ...answer.request,
      url: answer.url,
      at: answer.at.toISOString(),
      status: answer.status,
      bytes: answer.body.length,
      sha256: createHash('sha256').update(answer.body).digest('hex'),
      position,
      length: bytes.length,
    };
    position += bytes.length;
    // appendFile writes all that it is given; write may write a part.
    await bodies.appendFile(bytes);
    await answers.appendFile(`${JSON.stringify(line)}\n`);
    return line;
  }

  return {
    async land(answer) {
      // Each caller looks again and takes its room in one go: of many that wake together only as many as fit go on.
      while (queued > queueBound && failure === null) await new Promise<void>((resolve) => roomMade.push(resolve));
      if (failure !== null) throw failure;
      queued += answer.body.length;
      // Bodies are compressed side by side and written one after the other.
      const compressed = compress(answer.body, compressionOf(answer.body.length));
      const written = writing.then(() => write(answer, compressed));
      const size = answer.body.length;
      writing = written.then(
        () => release(size),
        (error: unknown) => {
          failure ??= error;
          release(size);
        },
      );
      return readLater(bodies, written, folder);
    },
    async close() {
      await writing;
      try {
        if (failure !== null) throw failure;
        await bodies.datasync();
        await answers.datasync();
        await flushFile(join(folder, runFile));
        for (const path of [folder, dirname(folder)]) await flushFolder(path);
      } finally {
        await bodies.close();
        await answers.close();
      }
    },
  };

  function release(size: number): void {
    queued -= size;
    const waiting = roomMade;
    roomMade = [];
    for (const resolve of waiting) resolve();
  }
}

/** A function of its own, for a closure made in `land` would keep the answer in memory as long as it is kept itself. */
function readLater(bodies: FileHandle, written: Promise<LandedAnswer>, folder: string): LandedBody {
  return async () => readBody(bodies, await written, folder);
}

/** The body of a landed answer, checked against its length and hash. */
export async function readBody(bodies: FileHandle, line: LandedAnswer, folder: string): Promise<Buffer> {
  let body: Buffer;
  try {
    // A length that is damaged must not make room for itself.
    const compressed = Buffer.alloc(Math.min(line.length, (await bodies.stat()).size));
    await bodies.read(compressed, 0, compressed.length, line.position);
    body = await decompress(compressed, { maxOutputLength: Math.max(1, line.bytes) });
  } catch (error) {
    throw new LandingError(`${join(folder, bodiesFile)} is damaged at byte ${line.position}.`, 'Run the sync again.', {
      cause: error,
    });
  }
  if (createHash('sha256').update(body).digest('hex') !== line.sha256) {
    throw new LandingError(
      `${join(folder, bodiesFile)} does not hold what ${line.url} answered: the SHA-256 differs.`,
      'Run the sync again.',
    );
  }
  return body;
}
