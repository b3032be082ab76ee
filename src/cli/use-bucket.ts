/** What the commands share that reach a bucket: how one is opened, a line that counts files, and the copies that other commands read. */

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listenForSignals } from './signals.ts';
import { type LogFormat, writeWarning } from './print/event-log.ts';
import { printFailure } from './print/terminal.ts';
import { readBucketUrl } from '../share/address.ts';
import { type Bucket, openBucket } from '../share/bucket.ts';
import { isRekapError } from '../errors.ts';
import { systemClock } from '../runtime/context.ts';
import { pullSnapshot, type PullOptions } from '../share/pull-snapshot.ts';
import { verifyAgainst } from '../publish/verify-against.ts';

/** What a transfer tells of. */
type Watcher = Pick<PullOptions, 'warn' | 'report'>;

/**
 * Opens a bucket by what the environment says of it, and closes it when it has been used.
 *
 * @param doing What is done with its files, such as "pushing".
 */
export async function withBucket<Value>(
  url: string,
  doing: string,
  use: (bucket: Bucket, watcher: Watcher) => Promise<Value>,
  logFormat: LogFormat = 'auto',
): Promise<Value> {
  // The SDK would announce at each start that its releases of 2027 want a newer Node.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  const signals = listenForSignals({ next: 'The current snapshot is unchanged. Run the command again at any time.' });
  const line = createCounter(doing, process.stderr);
  try {
    const bucket = await openBucket(readBucketUrl(url), {
      pathStyle: ownEndpoint() !== '',
      signal: signals.signal,
    });
    try {
      return await use(bucket, {
        report: line.show,
        warn(message) {
          line.clear();
          writeWarning(message, logFormat);
        },
      });
    } finally {
      bucket.close();
    }
  } finally {
    line.clear();
    signals.stop();
  }
}

/** Address of a store other than AWS, as the SDK finds it; empty where there is none. */
function ownEndpoint(): string {
  return process.env['AWS_ENDPOINT_URL_S3'] || process.env['AWS_ENDPOINT_URL'] || '';
}

/** One line on a terminal that says how many files are done; nothing elsewhere. */
function createCounter(doing: string, stream: NodeJS.WriteStream) {
  const isShown = stream.isTTY && process.env['TERM'] !== 'dumb';
  const write = (text: string): void => void (isShown && stream.write(`\r${text}\u001b[K`));
  return {
    show: (done: number, files: number): void => write(`${doing} files: ${done} of ${files}`),
    clear: (): void => write(''),
  };
}

/** Milliseconds between two looks whether another process has finished the copy. */
const copyPause = 500;

/** The folder of a warehouse with the current snapshot of a bucket, proved by its hashes. It is kept, so that the next time only what is new comes. */
export async function fetchCopy(url: string): Promise<string> {
  const warehouse = copyFolder(readBucketUrl(url).url);
  await withBucket(url, 'fetching', (bucket, watcher) => pullCopy(warehouse, bucket, watcher));
  return warehouse;
}

async function pullCopy(warehouse: string, bucket: Bucket, watcher: Watcher): Promise<void> {
  for (;;)
    try {
      return void (await pullSnapshot({
        warehouse,
        bucket,
        verify: verifyAgainst,
        keep: 1,
        acceptSource: true,
        isCopy: true,
        clock: systemClock,
        ...watcher,
      }));
    } catch (error) {
      // Nobody but another copying holds it.
      if (!isRekapError(error, 'warehouse-busy')) throw error;
      await systemClock.sleep(copyPause);
    }
}

function copyFolder(url: string): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const name = createHash('sha256').update(`${ownEndpoint()} ${url}`).digest('hex').slice(0, 16);
  return join(cache, 'rekap', name);
}

/** Milliseconds between two looks at a bucket that is served. */
const lookInterval = 60_000;

/** Keeps a copy as new as its bucket; gives what ends that. A look that fails is told, and the next one tries again. */
export function followBucket(url: string): () => void {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const look = async (): Promise<void> => {
    await fetchCopy(url).catch((error: unknown) => {
      if (!isStopped) printFailure('the bucket cannot be read; the copy is unchanged', error);
    });
    if (!isStopped) timer = setTimeout(() => void look(), lookInterval);
  };
  timer = setTimeout(() => void look(), lookInterval);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
