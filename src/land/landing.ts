/** Stores every response of a run as received, and every verdict with its accepted records. The files are append-only. */

import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { responsesFile, bodiesFile, type LandedResponse, runFile, type RunFile, verdictsFile } from './formats.ts';
import { readBody } from './landed-run.ts';
import { closeAll, orClose } from '../runtime/bound-signal.ts';
import type { AcceptedReading, SourceResponse, LandedBody } from '../stages.ts';
import { flush, nameFile, writeNewFile } from '../runtime/with-file.ts';

const compress = promisify(gzip);

/** Level 2 is as fast as level 1 for such records, and 10 % smaller. */
const compressionLevel = 2;
const chunkSize = 131_072;

/** Unwritten bytes above which `land` makes its callers wait. */
const queueBound = 16 * 1024 * 1024;

export async function openLanding(folder: string, run: RunFile): Promise<Landing> {
  await mkdir(folder, { recursive: true });
  await writeNewFile(join(folder, runFile), `${JSON.stringify(run, null, 2)}\n`);
  const opened: FileHandle[] = [];
  return orClose(opened, async () => {
    for (const [name, flags] of [
      [bodiesFile, 'wx+'],
      [responsesFile, 'wx'],
      [verdictsFile, 'wx'],
    ] as const)
      opened.push(await open(join(folder, name), flags));
    const [bodies, responses, verdicts] = opened as [FileHandle, FileHandle, FileHandle];
    return new Landing(folder, bodies, responses, verdicts);
  });
}

export class Landing {
  private readonly folder: string;
  private readonly bodies: FileHandle;
  private readonly responses: FileHandle;
  private readonly verdicts: FileHandle;
  private count = 0;
  private waiting = 0;
  private position = 0;
  /** The write of the newest response. After a failure, all later writes fail for the same reason, and nothing more is written. */
  private newest: Promise<unknown> = Promise.resolve();
  private failure: { readonly reason: unknown } | null = null;

  constructor(folder: string, bodies: FileHandle, responses: FileHandle, verdicts: FileHandle) {
    this.folder = folder;
    this.bodies = bodies;
    this.responses = responses;
    this.verdicts = verdicts;
  }

  /** Queues a response. Resolves when there is room in the queue, not when it is on the disk. */
  async land(response: SourceResponse): Promise<LandedBody> {
    // Each waiting caller checks again, so that only as many continue as there is room for.
    while (this.waiting > queueBound && this.failure === null) await this.newest.catch(() => undefined);
    if (this.failure !== null) throw this.failure.reason;
    const number = this.count;
    this.count += 1;
    this.waiting += response.body.length;
    const sha256 = createHash('sha256').update(response.body).digest('hex');
    // Compresses in Node's threads while earlier responses are written.
    const packed = compress(response.body, { level: compressionLevel, chunkSize });
    const landed = this.newest.then(async () => this.write(response, await packed, sha256));
    this.newest = landed;
    landed
      .catch((reason: unknown) => (this.failure ??= { reason }))
      .finally(() => (this.waiting -= response.body.length));
    packed.catch(() => undefined);
    return { response: number, read: this.reader(landed) };
  }

  /** A separate method: a closure created in `land` would keep the response in memory. */
  private reader(landed: Promise<LandedResponse>): LandedBody['read'] {
    return async () => readBody(this.bodies, await landed, this.folder);
  }

  private async write(
    { request, url, at, status, body }: SourceResponse,
    bytes: Buffer,
    sha256: string,
  ): Promise<LandedResponse> {
    const { dataset, partition } = request;
    const line = {
      dataset,
      partition,
      url,
      at: at.toISOString(),
      status,
      bytes: body.length,
      sha256,
      position: this.position,
      length: bytes.length,
    };
    await this.append(this.bodies, bodiesFile, bytes);
    await this.append(this.responses, responsesFile, `${JSON.stringify(line)}\n`);
    this.position += bytes.length;
    return line;
  }

  private async append(file: FileHandle, name: string, data: Buffer | string): Promise<void> {
    await nameFile(join(this.folder, name), () => file.appendFile(data));
  }

  /**
   * Yields readings unchanged, and stores each one on the way.
   *
   * @param warnings Warnings of the run. They are stored after the last partition.
   */
  async *landVerdicts(
    readings: AsyncIterable<AcceptedReading>,
    warnings: readonly string[],
  ): AsyncGenerator<AcceptedReading, void, undefined> {
    const landLine = (line: unknown) => this.append(this.verdicts, verdictsFile, `${JSON.stringify(line)}\n`);
    let verdicts = 0;
    for await (const reading of readings) {
      const accepted = reading.pages.map(({ response, first, count }) => [response, first, count]);
      await landLine({ ...reading.verdict, accepted });
      verdicts += 1;
      yield reading;
    }
    await landLine({ verdicts, warnings });
  }

  /** Waits for all writes, flushes them to the disk and closes the files. */
  async close(): Promise<void> {
    await this.newest.catch(() => undefined);
    const { folder, failure } = this;
    this.failure ??= { reason: new Error('The landing is closed.') };
    const files = [
      [this.bodies, bodiesFile],
      [this.responses, responsesFile],
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
