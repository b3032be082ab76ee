/** The everyday sync: the whole nation from both endpoints of a slow source. */

import { type Finding, formatDuration, formatMegabytes, median } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { measureSync } from './measure.ts';
import { startSource } from './source-server.ts';

export const delay = 50;
export const concurrency = 8;
const endpoints = 2;
const runs = 5;

export async function benchNation(): Promise<Finding[]> {
  const partitions = new GeneratedRecords('voters', null).dapils.length;
  const source = await startSource({ records: null, delay });
  try {
    const measured = [];
    for (let run = 0; run < runs; run += 1)
      measured.push(await measureSync(source.url, ['--concurrency', String(concurrency)]));
    const { requests } = measured[0]!.figures;
    const section = `nation (${partitions} partitions × ${endpoints})`;
    const ideal = { section, against: (requests * delay) / concurrency, format: formatDuration };
    return [
      {
        ...ideal,
        what: `sync, wall time, median of ${runs}`,
        measured: median(measured.map(({ milliseconds }) => milliseconds)),
        reference: `for ${requests} requests × ${delay} ms / ${concurrency}`,
        target: { atMost: { must: 2.1, aim: 1.5 } },
      },
      {
        ...ideal,
        what: 'the same, without starting and exiting',
        measured: median(measured.map(({ figures }) => figures.milliseconds)),
        reference: 'the same',
        target: null,
      },
      {
        ...ideal,
        what: 'the same, CPU time',
        measured: median(measured.map(({ cpu }) => cpu)),
        reference: 'the same',
        target: null,
      },
      {
        section,
        what: 'requests',
        measured: requests,
        against: partitions * endpoints,
        reference: 'partitions × endpoints',
        target: { atMost: { must: 1.15, aim: 1.1 } },
        format: String,
      },
      {
        section,
        what: 'peak memory',
        measured: Math.max(...measured.map(({ peak }) => peak)),
        against: 250e6,
        reference: 'allowed',
        target: { atMost: { must: 1, aim: 0.8 } },
        format: formatMegabytes,
      },
    ];
  } finally {
    await source.stop();
  }
}
