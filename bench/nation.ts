/** The everyday sync: the whole nation from both endpoints of a source that takes its time. */

import { formatDuration, formatMegabytes, median, type Finding } from './finding.ts';
import { measureSync } from './measure.ts';
import { GeneratedRecords } from './generated-records.ts';
import { startSource } from './source-server.ts';

const delay = 50;
const concurrency = 8;
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
    const section = `nation (${partitions} partitions x ${endpoints})`;
    return [
      {
        section,
        what: `sync, wall time, median of ${runs}`,
        measured: median(measured.map(({ milliseconds }) => milliseconds)),
        against: (requests * delay) / concurrency,
        reference: `for ${requests} requests x ${delay} ms / ${concurrency}`,
        target: { atMost: 1.5 },
        format: formatDuration,
      },
      {
        section,
        what: 'of that, the run itself, without starting and loading',
        measured: median(measured.map(({ figures }) => figures.milliseconds)),
        against: (requests * delay) / concurrency,
        reference: 'the same',
        target: null,
        format: formatDuration,
      },
      {
        section,
        what: 'requests',
        measured: requests,
        against: partitions * endpoints,
        reference: 'partitions x endpoints',
        target: { atMost: 1.15 },
        format: String,
      },
      {
        section,
        what: 'peak memory',
        measured: Math.max(...measured.map(({ peak }) => peak)),
        against: 250e6,
        reference: 'allowed',
        target: { atMost: 1 },
        format: formatMegabytes,
      },
    ];
  } finally {
    await source.stop();
  }
}
