/** Stores every response of a run as received, and every verdict with its accepted records. The files are append-only. */

import { hash } from 'node:crypto';
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
    const openNew = async (name: string, flags = 'wx'): Promise<LandingFile> => {
      const handle = await open(join(folder, name), flags);
      opened.push(handle);
      return { path: join(folder, name), handle };
    };
    return new Landing(folder, {
      bodies: await openNew(bodiesFile, 'wx+'),
      responses: await openNew(responsesFile),
      verdicts: await openNew(verdictsFile),
    });
  });
}

interface LandingFile {
  readonly path: string;
  readonly handle: FileHandle;
}

export class Landing {
  private readonly folder: string;
  private readonly files: Readonly<Record<'bodies' | 'responses' | 'verdicts', LandingFile>>;
  private count = 0;
  private waiting = 0;
  private position = 0;
  /** The write of the newest response. After a failure, all later writes fail for the same reason, and nothing more is written. */
  private newest: Promise<unknown> = Promise.resolve();
  private failure: { readonly reason: unknown } | null = null;

  constructor(folder: string, files: Landing['files']) {
    this.folder = folder;
    this.files = files;
  }

  /** Queues a response. Resolves when there is room in the queue, not when it is on the disk. */
  async land(response: SourceResponse): Promise<LandedBody> {
    // Each waiting caller checks again, so that only as many continue as there is room for.
    while (this.waiting > queueBound && this.failure === null) await this.newest.catch(() => undefined);
    if (this.failure !== null) throw this.failure.reason;
    const number = this.count;
    this.count += 1;
    this.waiting += response.body.length;
    const sha256 = hash('sha256', response.body, 'hex');
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
    return async () => readBody(this.files.bodies.handle, await landed, this.folder);
  }

  private async write(
    { request, url, at, status, body }: SourceResponse,
    bytes: Buffer,
    sha256: string,
  ): Promise<LandedResponse> {
    const { dataset, partition } = request;
    const received = { dataset, partition, url, at: at.toISOString(), status, bytes: body.length, sha256 };
    const line = { ...received, position: this.position, length: bytes.length };
    await append(this.files.bodies, bytes);
    await append(this.files.responses, `${JSON.stringify(line)}\n`);
    this.position += bytes.length;
    return line;
  }

  /**
   * Yields each partition unchanged after storing its verdict.
   *
   * @param warnings Warnings of the run. They are stored after the last partition.
   */
  async *landVerdicts(
    readings: AsyncIterable<AcceptedReading>,
    warnings: readonly string[],
  ): AsyncGenerator<AcceptedReading, void, undefined> {
    const landLine = (line: unknown) => append(this.files.verdicts, `${JSON.stringify(line)}\n`);
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
    const files = Object.values(this.files);
    try {
      if (failure !== null) throw failure.reason;
      for (const { path, handle } of files) await nameFile(path, () => handle.datasync());
      for (const path of [join(folder, runFile), folder, dirname(folder)]) await flush(path);
    } finally {
      await closeAll(files.map(({ path, handle }) => ({ close: () => nameFile(path, () => handle.close()) })));
    }
  }
}

async function append({ path, handle }: LandingFile, data: Buffer | string): Promise<void> {
  await nameFile(path, () => handle.appendFile(data));
}
