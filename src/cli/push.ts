/** rekap push: copies a snapshot to a bucket, and makes it current there. */

import { declareCommand, type Values } from './options/option.ts';
import { type allOptions, pick, type publishOptions } from './options/all-options.ts';
import { isRekapError, RekapError } from '../errors.ts';
import { readBucketUrl } from '../share/address.ts';
import type { LogFormat } from './print/event-log.ts';
import { systemClock } from '../runtime/context.ts';
import { countOf, formatBytes } from '../runtime/text.ts';
import type { Pushed } from '../share/push-snapshot.ts';

export const pushCommand = declareCommand({
  positionals: { bucket: 's3://bucket/prefix; for a store other than AWS, set AWS_ENDPOINT_URL_S3' },
  options: pick('warehouse', 'snapshot', 'keep', 'accept-source', 'json'),
  examples: [
    ['rekap push s3://figures/dpr', 'credentials and region come from the standard AWS settings'],
    ['AWS_ENDPOINT_URL_S3=https://store.example rekap push s3://figures/dpr', 'another store with an S3 API'],
  ],
  async run({ warehouse, snapshot, keep, json, 'accept-source': acceptSource }, [url]) {
    const pushed = await push(readBucketUrl(url!).url, { warehouse, snapshot, keep, acceptSource });
    if (json) (await import('./print/terminal.ts')).printJson(pushed);
    else process.stdout.write(describePushed(pushed));
  },
});

interface PushSettings {
  readonly warehouse: string;
  readonly snapshot: string | undefined;
  readonly keep: number;
  readonly acceptSource: boolean;
  readonly logFormat?: LogFormat;
}

async function push(url: string, settings: PushSettings): Promise<Pushed> {
  const [{ pushSnapshot }, { withBucket }, { chooseSnapshot }] = await Promise.all([
    import('../share/push-snapshot.ts'),
    import('./use-bucket.ts'),
    import('../warehouse/warehouse.ts'),
  ]);
  const snapshot = await chooseSnapshot(settings.warehouse, settings.snapshot);
  return withBucket(
    url,
    'pushing',
    (bucket, watcher) => pushSnapshot({ ...settings, snapshot, bucket, clock: systemClock, ...watcher }),
    { logFormat: settings.logFormat },
  );
}

function describePushed({ outcome, snapshot, bucket, files, bytes, removed }: Pushed): string {
  if (outcome === 'unchanged') return `${bucket} already contains snapshot ${snapshot}.\n`;
  const gone = removed.length === 0 ? '' : `Removed from the bucket: ${removed.join(', ')}\n`;
  return `Pushed snapshot ${snapshot} to ${bucket}: ${countOf(files, 'file')}, ${formatBytes(bytes)}\n${gone}`;
}

type PushedArguments = Values<Pick<typeof allOptions, 'log-format' | 'warehouse'> & typeof publishOptions> & {
  readonly keep: number;
  readonly json: boolean;
};

/** Pushes the snapshot of a sync, also after a sync without changes, because the previous push may have failed. */
export async function pushPublished(bucket: string, args: PushedArguments): Promise<void> {
  const { warehouse, keep, 'accept-source': acceptSource, 'log-format': logFormat } = args;
  const settings = { warehouse, snapshot: undefined, keep, acceptSource, logFormat };
  const pushed = await push(bucket, settings).catch((error: unknown) => {
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
