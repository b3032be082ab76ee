/** rekap push: copies a snapshot to a bucket, and makes it current there. */

import { declareCommand, type Values } from './options/option.ts';
import { type allOptions, pick } from './options/all-options.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { readBucketUrl } from '../share/address.ts';
import type { LogFormat } from './print/event-log.ts';
import { systemClock } from '../runtime/context.ts';
import { countOf, formatBytes } from '../runtime/text.ts';
import { chooseSnapshot } from '../warehouse/warehouse.ts';
import type { Pushed } from '../share/push-snapshot.ts';

const options = pick('warehouse', 'snapshot', 'keep', 'accept-source', 'json');

export const command = declareCommand({
  positionals: { bucket: 's3://bucket/prefix; for a store other than AWS, set AWS_ENDPOINT_URL_S3' },
  options,
  examples: [
    ['rekap push s3://figures/dpr', 'credentials and region come from the standard AWS settings'],
    ['AWS_ENDPOINT_URL_S3=https://store.example rekap push s3://figures/dpr', 'another store with an S3 API'],
  ],
  run: async (args, [url]) => push(readBucketUrl(url!).url, args),
  print: describePushed,
});

async function push(url: string, args: Values<typeof options>, logFormat?: LogFormat): Promise<Pushed> {
  const [{ pushSnapshot }, { withBucket }] = await Promise.all([
    import('../share/push-snapshot.ts'),
    import('./use-bucket.ts'),
  ]);
  const { warehouse, keep, 'accept-source': acceptSource } = args;
  const snapshot = await chooseSnapshot(warehouse, args.snapshot);
  const settings = { warehouse, snapshot, keep, acceptSource, clock: systemClock };
  return withBucket(url, 'pushing', (bucket, watcher) => pushSnapshot({ ...settings, bucket, ...watcher }), {
    logFormat,
  });
}

function describePushed({ outcome, snapshot, bucket, files, bytes, removed }: Pushed): string {
  if (outcome === 'unchanged') return `${bucket} already contains snapshot ${snapshot}.\n`;
  const gone = removed.length === 0 ? '' : `Removed from the bucket: ${removed.join(', ')}\n`;
  return `Pushed snapshot ${snapshot} to ${bucket}: ${countOf(files, 'file')}, ${formatBytes(bytes)}\n${gone}`;
}

type SyncArguments = Values<Pick<typeof allOptions, 'log-format' | 'warehouse' | 'keep' | 'accept-source' | 'json'>>;

/** Pushes the snapshot of a sync, also after a sync without changes, because the previous push may have failed. */
export async function pushPublished(bucket: string, args: SyncArguments): Promise<void> {
  const logFormat = args['log-format'];
  const pushed = await push(bucket, { ...args, snapshot: undefined }, logFormat).catch((error: unknown) => {
    if (!isRekapError(error, 'bucket', 'bucket-conflict')) throw error;
    const next = `${error.next} The snapshot is published in the local warehouse. To push it later, run "rekap push ${bucket}".`;
    throw new RekapError(error.code, error.message, next, { cause: error });
  });
  const text = describePushed(pushed);
  if (!args.json && logFormat !== 'json') return void process.stdout.write(text);
  const { logToStderr } = await import('./print/event-log.ts');
  const { outcome, snapshot, files, bytes } = pushed;
  logToStderr(logFormat)('push', { outcome, snapshot, bucket, files, bytes }, text.trim());
}
