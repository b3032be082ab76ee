/** A scheduled sync that finds nothing new, compared with the first one. */

import { join } from 'node:path';
import { type Finding, formatDuration, median } from './finding.ts';
import { measureSyncInto, withFolder } from './measure.ts';
import { startSource } from './source-server.ts';

const records = 200_000;
const runs = 3;

export async function benchNight(): Promise<Finding[]> {
  const source = await startSource({ records, delay: 0 });
  try {
    const first: number[] = [];
    const unchanged: number[] = [];
    for (let run = 0; run < runs; run += 1)
      await withFolder(async (folder) => {
        const warehouse = join(folder, 'warehouse');
        first.push((await measureSyncInto(warehouse, source.url)).milliseconds);
        unchanged.push((await measureSyncInto(warehouse, source.url)).milliseconds);
      });
    return [
      {
        section: `night (${records.toLocaleString('en')} records)`,
        what: `sync without changes, wall time, median of ${runs}`,
        measured: median(unchanged),
        against: median(first),
        reference: 'for the first sync',
        target: { atMost: { must: 0.6, aim: 0.5 } },
        format: formatDuration,
      },
    ];
  } finally {
    await source.stop();
  }
}
