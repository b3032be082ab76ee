/** Opens buckets for commands, and keeps local copies of the snapshots in them. */

import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withSignals } from './signals.ts';
import { type LogFormat, writeWarning } from './print/event-log.ts';
import { createCounter } from './print/progress.ts';
import { printFailure } from './print/terminal.ts';
import { readBucketUrl } from '../share/address.ts';
import { Bucket } from '../share/bucket.ts';
import { isRekapError } from '../errors.ts';
import { systemClock } from '../runtime/context.ts';
import { pullSnapshot, type PullOptions } from '../share/pull-snapshot.ts';
import { verifyAgainst } from '../publish/check-built.ts';

type Watcher = Pick<PullOptions, 'warn' | 'report' | 'signal'>;

/** @param doing Describes the transfer, such as "pushing". */
export async function withBucket<Value>(
  url: string,
  doing: string,
  use: (bucket: Bucket, watcher: Watcher) => Promise<Value>,
  { logFormat = 'auto', seconds }: { readonly logFormat?: LogFormat | undefined; readonly seconds?: number } = {},
): Promise<Value> {
  // Otherwise the SDK warns at each start that it will require a newer Node in 2027.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true';
  const line = createCounter();
  const next = 'The current snapshot is unchanged. Run the command again at any time.';
  return withSignals({ what: 'transfer', seconds, next }, async (signal) => {
    const bucket = await Bucket.open(readBucketUrl(url), { pathStyle: customEndpoint() !== '', signal });
    try {
      return await use(bucket, {
        signal,
        report: (done, files) => line.show(`${doing} files: ${done} of ${files}`),
        warn(message) {
          line.clear();
          writeWarning(message, logFormat);
        },
      });
    } finally {
      bucket.close();
    }
  }).finally(() => line.clear());
}

/** Returns the URL of a store other than AWS; empty for AWS. */
function customEndpoint(): string {
  return process.env['AWS_ENDPOINT_URL_S3'] || process.env['AWS_ENDPOINT_URL'] || '';
}

/** Milliseconds between checks if another process has finished the copy. */
const copyRetryDelay = 500;

/** Copies the current snapshot of a bucket to the cache, and returns the folder. The next call fetches only new files. */
export async function fetchCopy(url: string): Promise<string> {
  const warehouse = copyFolder(readBucketUrl(url).url);
  const settings = { warehouse, verify: verifyAgainst, keep: 1, acceptSource: true, isCopy: true, clock: systemClock };
  await withBucket(url, 'fetching', async (bucket, watcher) => {
    for (;;)
      try {
        return await pullSnapshot({ ...settings, bucket, ...watcher });
      } catch (error) {
        if (!isRekapError(error, 'warehouse-busy')) throw error;
        await systemClock.sleep(copyRetryDelay);
      }
  });
  return warehouse;
}

function copyFolder(url: string): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const name = createHash('sha256').update(`${customEndpoint()} ${url}`).digest('hex').slice(0, 16);
  return join(cache, 'rekap', name);
}

/** Milliseconds between updates of a copy that is served. */
const updateInterval = 60_000;

/** Updates a copy regularly, and reports failures. Returns a function that stops the updates. */
export function followBucket(url: string): () => void {
  let timer: NodeJS.Timeout;
  let isStopped = false;
  const update = async (): Promise<void> => {
    await fetchCopy(url).catch((error: unknown) => {
      if (!isStopped) printFailure('the bucket cannot be read; the copy is unchanged', error);
    });
    if (!isStopped) timer = setTimeout(() => void update(), updateInterval);
  };
  timer = setTimeout(() => void update(), updateInterval);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
