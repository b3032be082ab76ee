/** A night in which few rows of a feed changed: an incremental sync reads them, and publishes all. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { feedProject, startFeed } from './feed-server.ts';
import { type Finding, formatDuration, formatMegabytes, median } from './finding.ts';
import { type Measured, measureSyncInto, withFolder } from './measure.ts';

const runs = 3;

const project = feedProject({
  name: { kind: 'text', field: 'name' },
  amount: { kind: 'integer', field: 'amount' },
});

interface Nights {
  readonly whole: Measured;
  readonly unchanged: Measured;
  readonly changed: readonly Measured[];
}

export async function benchFeed(): Promise<Finding[]> {
  const empty = await measureNights(1, 1);
  const small = await measureNights(50_000, 25);
  const large = await measureNights(1_000_000, 100);
  const [first] = small.changed;
  const section = 'feed (50,000 rows, 25 changed)';
  const section1M = 'feed (1,000,000 rows, 100 changed)';
  const plain = (value: number): string => String(Math.round(value));
  const allowed = { section, reference: 'allowed', format: plain };
  return [
    {
      ...allowed,
      what: 'requests',
      measured: first!.figures.requests,
      against: 6,
      target: { atMost: { must: 1, aim: 1 } },
    },
    {
      ...allowed,
      what: 'bytes received',
      measured: first!.figures.bytes,
      against: 30_000,
      target: { atMost: { must: 1, aim: 0.8 } },
    },
    {
      section,
      what: `sync, wall time, median of ${runs}`,
      measured: median(small.changed.map(({ milliseconds }) => milliseconds)),
      against: median(empty.changed.map(({ milliseconds }) => milliseconds)),
      reference: 'to start, and to publish a list of one row',
      target: { atMost: { must: 1.2, aim: 1.1 } },
      format: formatDuration,
    },
    {
      section: section1M,
      what: `sync, wall time, median of ${runs}`,
      measured: median(large.changed.map(({ milliseconds }) => milliseconds)),
      against: large.unchanged.milliseconds,
      reference: 'to read the whole list without changes',
      target: { atMost: { must: 0.25, aim: 0.2 } },
      format: formatDuration,
    },
    {
      section: section1M,
      what: 'peak memory',
      measured: median(large.changed.map(({ peak }) => peak)),
      against: large.whole.peak,
      reference: 'of the first sync',
      target: { atMost: { must: 1, aim: 0.8 } },
      format: formatMegabytes,
    },
  ];
}

async function measureNights(rows: number, changed: number): Promise<Nights> {
  const feed = await startFeed(rows);
  try {
    return await withFolder(async (folder) => {
      await writeFile(join(folder, 'rekap.project.json'), JSON.stringify(project));
      const options = ['--project', folder, '--page-size', '1000'];
      const warehouse = join(folder, 'warehouse');
      const whole = await measureSyncInto(warehouse, feed.url, options);
      const unchanged = await measureSyncInto(warehouse, feed.url, [...options, '--require-proof', 'repeated']);
      const nights: Measured[] = [];
      for (let run = 0; run < runs; run += 1) {
        await feed.change(changed);
        nights.push(await measureSyncInto(warehouse, feed.url, options));
      }
      return { whole, unchanged, changed: nights };
    });
  } finally {
    await feed.stop();
  }
}
