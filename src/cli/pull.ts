/** rekap pull: copies the current snapshot of a bucket into a warehouse. */

import { declareCommand } from './options/option.ts';
import { join } from 'node:path';
import { pick } from './options/all-options.ts';
import { readBucketUrl } from '../share/address.ts';
import { systemClock } from '../runtime/context.ts';
import { countOf, formatBytes } from '../runtime/text.ts';

export const command = declareCommand({
  positionals: { bucket: 's3://bucket/prefix that a snapshot was pushed to' },
  options: pick('warehouse', 'keep', 'accept-source', 'max-duration', 'json'),
  examples: [['rekap pull s3://figures/dpr --warehouse mirror', 'copy the current snapshot and verify it']],
  async run({ warehouse, keep, 'accept-source': acceptSource, 'max-duration': seconds }, [address]) {
    const { url } = readBucketUrl(address!);
    const [{ pullSnapshot }, { verifyAgainst }, { withBucket }] = await Promise.all([
      import('../share/pull-snapshot.ts'),
      import('../publish/check-built.ts'),
      import('./use-bucket.ts'),
    ]);
    const common = { warehouse, verify: verifyAgainst, keep, acceptSource, isCopy: false, clock: systemClock };
    return withBucket(url, 'fetching', (bucket, watcher) => pullSnapshot({ ...common, bucket, ...watcher }), {
      seconds,
    });
  },
  print({ outcome, snapshot, files, bytes, held }, { warehouse }) {
    if (held !== null)
      return `Snapshot ${snapshot} is pinned in ${warehouse}, so ${held} was not pulled. To make it current, remove the file ${join(warehouse, 'pinned')}, then pull again.\n`;
    if (outcome === 'unchanged') return `${warehouse} already contains snapshot ${snapshot}.\n`;
    return `Pulled snapshot ${snapshot} into ${warehouse}: ${countOf(files, 'file')}, ${formatBytes(bytes)}\n`;
  },
});
