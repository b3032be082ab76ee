/** rekap push: copies a snapshot to a bucket, and makes it current there. */

import { declareCommand } from './options/option.ts';
import { jsonOption, keepOptions, publishOptions, snapshotOption, warehouseOption } from './options/shared.ts';
import { readBucketUrl } from '../bucket/address.ts';
import type { LogFormat } from './print/event-log.ts';
import { systemClock } from '../runtime/context.ts';
import { countOf, formatBytes } from '../runtime/text.ts';
import type { Pushed } from '../snapshots/push-snapshot.ts';

const options = {
  ...warehouseOption,
  ...snapshotOption,
  keep: { ...keepOptions.keep, describe: 'snapshots to keep in the bucket' },
  'accept-source': { ...publishOptions['accept-source'], describe: 'let the bucket change its source' },
  ...jsonOption,
} as const;

export const pushCommand = declareCommand({
  words: { bucket: 's3://bucket/prefix; AWS_ENDPOINT_URL_S3 names a store other than AWS' },
  options,
  examples: [
    ['rekap push s3://figures/dpr', 'credentials and region as for every program of AWS'],
    ['AWS_ENDPOINT_URL_S3=https://store.example rekap push s3://figures/dpr', 'any other store that speaks S3'],
  ],
  async run({ warehouse, snapshot, keep, json, 'accept-source': acceptSource }, [url]) {
    const pushed = await push(readBucketUrl(url!).url, { warehouse, snapshot, keep, acceptSource });
    if (json) (await import('./print/terminal.ts')).printJson(pushed);
    else process.stdout.write(describePushed(pushed));
  },
});

export interface PushSettings {
  readonly warehouse: string;
  /** The current one where none is named. */
  readonly snapshot: string | undefined;
  readonly keep: number;
  readonly acceptSource: boolean;
  readonly logFormat?: LogFormat;
}

export async function push(url: string, settings: PushSettings): Promise<Pushed> {
  const [{ pushSnapshot }, { withBucket }, { chooseSnapshot }] = await Promise.all([
    import('../snapshots/push-snapshot.ts'),
    import('./bucket.ts'),
    import('../warehouse/warehouse.ts'),
  ]);
  const snapshot = await chooseSnapshot(settings.warehouse, settings.snapshot);
  return withBucket(
    url,
    'pushing',
    (bucket, watcher) => pushSnapshot({ ...settings, snapshot, bucket, clock: systemClock, ...watcher }),
    settings.logFormat,
  );
}

export function describePushed({ outcome, snapshot, bucket, files, bytes, removed }: Pushed): string {
  if (outcome === 'unchanged') return `${bucket} has snapshot ${snapshot} already.\n`;
  const gone = removed.length === 0 ? '' : `Removed there: ${removed.join(', ')}\n`;
  return `Pushed snapshot ${snapshot} to ${bucket}: ${countOf(files, 'file')}, ${formatBytes(bytes)}\n${gone}`;
}
