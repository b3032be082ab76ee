/**
 * Keeps every answer of a run as it came: `run.json` says what was asked, `bodies.gz` is one gzip member after another (so that `zcat`
 * reads it whole), and `answers.jsonl` has one line per answer with its place in bodies.gz, URL, time, status and SHA-256. The latter
 * two only ever grow. Line n, from 0, is answer n of `verdicts.jsonl`.
 */

import { createHash } from 'node:crypto';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gunzip } from 'node:zlib';
import { closeAll, orClose } from '../close-all.ts';
import { messageOf, RekapError, systemReason } from '../errors.ts';
import { flush, nameFile, withPath } from '../warehouse/with-file.ts';
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

/** Files of a landing, open for writing. */
export interface LandingFiles {
  readonly bodies: number;
  readonly answers: number;
}

/** An answer on its way to the landing's thread. */
export interface UnwrittenAnswer {
  readonly line: Omit<LandedAnswer, 'bytes' | 'sha256' | 'position' | 'length'>;
  /** No longer a Buffer when it arrives. */
  readonly body: Uint8Array;
}

/** What the thread says of one answer after another, until it fails at one and ends; then, which file it was writing to. */
export type ThreadReport =
  | { readonly landed: LandedAnswer }
  | { readonly failure: Error; readonly kept: SystemFields; readonly writing: keyof LandingFiles };

/** What an error of the system says of itself, which it loses on its way to another thread. */
type SystemFields = Pick<NodeJS.ErrnoException, 'code' | 'errno' | 'syscall'>;

/** An answer that the thread has not reported of. */
interface Waiting {
  readonly size: number;
  settle(line: LandedAnswer): void;
  fail(reason: unknown): void;
}

const decompress = promisify(gunzip);

/** So many bytes may wait for the thread before `land` makes its caller wait. */
const queueBound = 16 * 1024 * 1024;

/** Opens a new landing in `folder`, which is made and must not hold one. */
export async function openLanding(folder: string, run: RunFile): Promise<Landing> {
  await mkdir(folder, { recursive: true });
  await writeRunFile(folder, run);
  const opened: FileHandle[] = [];
  const openNew = async (name: string, flags: string): Promise<FileHandle> => {
    const file = await open(join(folder, name), flags);
    opened.push(file);
    return file;
  };
  return orClose(opened, async () => {
    const [bodies, answers] = [await openNew(bodiesFile, 'wx+'), await openNew(answersFile, 'wx')];
    return landInto(folder, bodies, answers, startThread({ bodies: bodies.fd, answers: answers.fd }));
  });
}

/** Node runs no TypeScript in a thread: from the sources too its program is the one that was built. */
function startThread(files: LandingFiles): Worker {
  const program = createRequire(import.meta.url).resolve('#landing-thread');
  // It needs no word of what the process was started with, least of all the key.
  try {
    return new Worker(program, { workerData: files, env: {}, execArgv: [] });
  } catch (error) {
    throw new RekapError(
      'landing',
      `The system starts no further thread, which is to write ${answersFile}: ${messageOf(error)}.`,
      'Let this user, or this container, have more processes and threads (ulimit -u).',
      { cause: error },
    );
  }
}

function landInto(folder: string, bodies: FileHandle, answers: FileHandle, thread: Worker): Landing {
  const paths = { bodies: join(folder, bodiesFile), answers: join(folder, answersFile) };
  const waiting: Waiting[] = [];
  /** Answers taken; each is written as the line of this number. */
  let taken = 0;
  let queued = 0;
  let failure: unknown = null;
  let written: Promise<unknown> = Promise.resolve();
  const roomMade: (() => void)[] = [];

  thread.on('message', (report: ThreadReport) => {
    if ('failure' in report) return fail(withPath(Object.assign(report.failure, report.kept), paths[report.writing]));
    const answer = waiting.shift();
    // After a failure nobody waits for what the thread had under way.
    if (answer !== undefined) release(answer).settle(report.landed);
  });
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('The thread that writes the landing has ended.')));

  /** The first failure is the reason for all that follow. */
  function fail(reason: unknown): void {
    failure ??= reason;
    for (const answer of waiting.splice(0)) release(answer).fail(failure);
  }

  function release(answer: Waiting): Waiting {
    queued -= answer.size;
    for (const resolve of roomMade.splice(0)) resolve();
    return answer;
  }

  return {
    async land({ request, url, at, status, body }) {
      // Each caller looks again and takes its room in one go: of many that wake together only as many as fit go on.
      while (queued > queueBound && failure === null) await new Promise<void>((resolve) => roomMade.push(resolve));
      if (failure !== null) throw failure;
      // A copy goes to the thread, for extraction reads the body too. Shared memory would spare it, but V8 does not count that as used.
      const copy = new Uint8Array(body);
      const answer: UnwrittenAnswer = { line: { ...request, url, at: at.toISOString(), status }, body: copy };
      thread.postMessage(answer, [copy.buffer]);
      queued += body.length;
      const landed = new Promise<LandedAnswer>((settle, reject) => {
        waiting.push({ size: body.length, settle, fail: reject });
      });
      written = landed.catch(() => undefined);
      taken += 1;
      return { answer: taken - 1, read: readLater(bodies, landed, folder) };
    },
    async close() {
      // They are written one after the other.
      await written;
      const reason = failure;
      fail(new Error('The landing is closed.'));
      await thread.terminate();
      try {
        if (reason !== null) throw reason;
        await nameFile(paths.bodies, () => bodies.datasync());
        await nameFile(paths.answers, () => answers.datasync());
        for (const path of [join(folder, runFile), folder, dirname(folder)]) await flush(path);
      } finally {
        const close = (file: FileHandle, path: string) => ({ close: () => nameFile(path, () => file.close()) });
        await closeAll([close(bodies, paths.bodies), close(answers, paths.answers)]);
      }
    },
  };
}

/** A function of its own, for a closure made in `land` would keep the answer in memory as long as it is kept itself. */
function readLater(bodies: FileHandle, written: Promise<LandedAnswer>, folder: string): LandedBody['read'] {
  return async () => readBody(bodies, await written, folder);
}

/** The body of a landed answer, checked against its length and hash. */
export async function readBody(bodies: FileHandle, line: LandedAnswer, folder: string): Promise<Buffer> {
  const compressed = await readBytes(bodies, line).catch((error: unknown) => {
    const why = `${join(folder, bodiesFile)} cannot be read: ${systemReason(error)}.`;
    throw new RekapError('landing', why, 'Check the disk, then run it again.', { cause: error });
  });
  let body: Buffer;
  try {
    body = await decompress(compressed, { maxOutputLength: Math.max(1, line.bytes) });
  } catch (error) {
    throw new RekapError(
      'landing',
      `${join(folder, bodiesFile)} is damaged at byte ${line.position}.`,
      'Run the sync again.',
      {
        cause: error,
      },
    );
  }
  if (createHash('sha256').update(body).digest('hex') !== line.sha256) {
    throw new RekapError(
      'landing',
      `${join(folder, bodiesFile)} does not hold what ${line.url} answered: the SHA-256 differs.`,
      'Run the sync again.',
    );
  }
  return body;
}

/** As many of an answer's bytes as the file has. */
async function readBytes(bodies: FileHandle, { position, length }: LandedAnswer): Promise<Buffer> {
  // A length that is damaged must not make room for itself.
  const buffer = Buffer.alloc(Math.min(length, (await bodies.stat()).size));
  let read = 0;
  for (let more = 1; more > 0; read += more)
    more = (await bodies.read(buffer, read, buffer.length - read, position + read)).bytesRead;
  return buffer;
}
