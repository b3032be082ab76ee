/** Keeps every answer of a run as it came, and every verdict with the records that it accepts. The files only ever grow. */

import { webcrypto } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { answersFile, bodiesFile, type LandedAnswer, runFile, type RunFile, verdictsFile } from './formats.ts';
import { readBody } from './landed-run.ts';
import { closeAll, orClose } from '../runtime/bound-signal.ts';
import type { AcceptedReading, Answer, LandedBody } from '../stages.ts';
import { flush, nameFile, writeNewFile } from '../runtime/with-file.ts';

const compress = promisify(gzip);

/** Of such records level 2 makes a tenth less than level 1 in the same time. */
const compressionLevel = 2;
/** A page in one piece or two: Node's loop turns once for each. */
const chunkSize = 131_072;

/** Bytes that may wait to be written before `land` makes its caller wait. */
const queueBound = 16 * 1024 * 1024;

/** Opens a new landing in `folder`, which is made and must not hold one. */
export async function openLanding(folder: string, run: RunFile): Promise<Landing> {
  await mkdir(folder, { recursive: true });
  await writeNewFile(join(folder, runFile), `${JSON.stringify(run, null, 2)}\n`);
  const opened: FileHandle[] = [];
  return orClose(opened, async () => {
    for (const [name, flags] of [
      [bodiesFile, 'wx+'],
      [answersFile, 'wx'],
      [verdictsFile, 'wx'],
    ] as const)
      opened.push(await open(join(folder, name), flags));
    const [bodies, answers, verdicts] = opened as [FileHandle, FileHandle, FileHandle];
    return new Landing(folder, bodies, answers, verdicts);
  });
}

export class Landing {
  private readonly folder: string;
  private readonly bodies: FileHandle;
  private readonly answers: FileHandle;
  private readonly verdicts: FileHandle;
  private taken = 0;
  /** Bytes taken that are not written yet. */
  private waiting = 0;
  private position = 0;
  /** The newest answer's way to the disk. Once one fails, all that follow fail for the same reason, and nothing more is written. */
  private newest: Promise<unknown> = Promise.resolve();
  private failure: { readonly reason: unknown } | null = null;

  constructor(folder: string, bodies: FileHandle, answers: FileHandle, verdicts: FileHandle) {
    this.folder = folder;
    this.bodies = bodies;
    this.answers = answers;
    this.verdicts = verdicts;
  }

  /** Takes an answer. Resolves when there is room for it in the queue, not when it is on the disk. */
  async land(answer: Answer): Promise<LandedBody> {
    // Each caller looks again: of many that wait together, only as many go on as there is room for.
    while (this.waiting > queueBound && this.failure === null) await this.newest.catch(() => undefined);
    if (this.failure !== null) throw this.failure.reason;
    const number = this.taken;
    this.taken += 1;
    this.waiting += answer.body.length;
    // Both work in Node's threads while the answers before this one are written.
    const packed = Promise.all([
      compress(answer.body, { level: compressionLevel, chunkSize }),
      webcrypto.subtle.digest('SHA-256', answer.body),
    ]);
    const landed = this.newest.then(async () => this.write(answer, ...(await packed)));
    this.newest = landed;
    landed
      .catch((reason: unknown) => (this.failure ??= { reason }))
      .finally(() => (this.waiting -= answer.body.length));
    packed.catch(() => undefined);
    return { answer: number, read: this.reader(landed) };
  }

  /** A method of its own: a closure made in `land` would keep the answer in memory. */
  private reader(landed: Promise<LandedAnswer>): LandedBody['read'] {
    return async () => readBody(this.bodies, await landed, this.folder);
  }

  private async write(
    { request, url, at, status, body }: Answer,
    bytes: Buffer,
    digest: ArrayBuffer,
  ): Promise<LandedAnswer> {
    const { dataset, partition } = request;
    const line = {
      dataset,
      partition,
      url,
      at: at.toISOString(),
      status,
      bytes: body.length,
      sha256: Buffer.from(digest).toString('hex'),
      position: this.position,
      length: bytes.length,
    };
    await this.append(this.bodies, bodiesFile, bytes);
    await this.append(this.answers, answersFile, `${JSON.stringify(line)}\n`);
    this.position += bytes.length;
    return line;
  }

  private async append(file: FileHandle, name: string, data: Buffer | string): Promise<void> {
    await nameFile(join(this.folder, name), () => file.appendFile(data));
  }

  /**
   * Passes readings on, and writes each one down on the way.
   *
   * @param warnings Those of the run so far; read when all partitions were.
   */
  async *landVerdicts(
    readings: AsyncIterable<AcceptedReading>,
    warnings: readonly string[],
  ): AsyncGenerator<AcceptedReading, void, undefined> {
    const landLine = (line: unknown) => this.append(this.verdicts, verdictsFile, `${JSON.stringify(line)}\n`);
    let verdicts = 0;
    for await (const reading of readings) {
      const accepted = reading.pages.map(({ answer, first, taken }) => [answer, first, taken]);
      await landLine({ ...reading.verdict, accepted });
      verdicts += 1;
      yield reading;
    }
    await landLine({ verdicts, warnings });
  }

  /** Waits for everything taken, flushes it to the disk and closes the files. */
  async close(): Promise<void> {
    await this.newest.catch(() => undefined);
    const { folder, failure } = this;
    this.failure ??= { reason: new Error('The landing is closed.') };
    const files = [
      [this.bodies, bodiesFile],
      [this.answers, answersFile],
      [this.verdicts, verdictsFile],
    ] as const;
    try {
      if (failure !== null) throw failure.reason;
      for (const [file, name] of files) await nameFile(join(folder, name), () => file.datasync());
      for (const path of [join(folder, runFile), folder, dirname(folder)]) await flush(path);
    } finally {
      await closeAll(files.map(([file, name]) => ({ close: () => nameFile(join(folder, name), () => file.close()) })));
    }
  }
}
