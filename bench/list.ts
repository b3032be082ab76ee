/** A long list of a slow source: its pages should be requested at the same time, not one after the other. */

import { type Finding, formatDuration, median } from './finding.ts';
import { measureSync } from './measure.ts';
import { concurrency, delay } from './nation.ts';
import { startSource } from './source-server.ts';

const records = 60_000;
const runs = 3;

export async function benchList(): Promise<Finding[]> {
  // Half of the records are in each dataset.
  const source = await startSource({ records: records * 2, delay });
  try {
    const measured = [];
    for (let run = 0; run < runs; run += 1)
      measured.push(await measureSync(source.url, ['--dataset', 'voters', '--concurrency', String(concurrency)]));
    const { requests } = measured[0]!.figures;
    const section = `list (${records.toLocaleString('en')} records)`;
    const ideal = { section, against: (requests * delay) / concurrency, format: formatDuration };
    return [
      {
        ...ideal,
        what: `fetch, wall time, median of ${runs}`,
        measured: median(measured.map(({ steps }) => steps['fetch']!)),
        reference: `for ${requests} requests × ${delay} ms / ${concurrency}`,
        target: { atMost: { must: 2, aim: 1.4 } },
      },
      {
        ...ideal,
        what: 'sync, wall time',
        measured: median(measured.map(({ milliseconds }) => milliseconds)),
        reference: 'the same',
        target: null,
      },
    ];
  } finally {
    await source.stop();
  }
}
