/** Many records, from the first request to the published snapshot, compared with JSON.parse of the same bytes. */

import { type Finding, formatDuration, formatMegabytes, median, type Target } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { type Measured, measureSync } from './measure.ts';
import { startSource } from './source-server.ts';
import { type DatasetName, datasets } from './vary-record.ts';

const pageSize = 1000;
const small: Size = {
  records: 200_000,
  wall: { atMost: { must: 3.2, aim: 2.4 } },
  cpu: { atMost: { must: 4.5, aim: 3.2 } },
};
const large: Size = { records: 1_000_000, wall: { atMost: { must: 2.7, aim: 2 } }, cpu: null };
const long = 10_000_000;
/** A single run depends too much on what else the machine does, and on when memory is collected. */
const runs = 3;

/** A number of records, and the bounds of its sync. */
interface Size {
  readonly records: number;
  readonly wall: Target;
  readonly cpu: Target | null;
}

/** Bytes. */
interface Allowed {
  readonly must: number;
  readonly aim: number;
}

export async function benchBulk(): Promise<Finding[]> {
  return [...(await benchSize(small, null)), ...(await benchSize(large, { must: 550e6, aim: 450e6 }))];
}

/** Measures ten million records once, compared with one million. */
export async function benchLong(): Promise<Finding[]> {
  const [reference, one] = [await measureOnce(large.records), await measureOnce(long)];
  const section = `long (${long.toLocaleString('en')} records)`;
  return [
    {
      section,
      what: 'sync, microseconds per record',
      measured: (one.milliseconds * 1000) / long,
      against: (reference.milliseconds * 1000) / large.records,
      reference: `at ${large.records.toLocaleString('en')}`,
      target: { atMost: { must: 1.1, aim: 1 } },
      format: (value) => value.toFixed(1),
    },
    peakMemory(section, one.peak, { must: 900e6, aim: 600e6 }),
  ];
}

async function measureOnce(records: number): Promise<Measured> {
  const source = await startSource({ records, delay: 0 });
  try {
    return await measureSync(source.url, ['--max-duration', '7200']);
  } finally {
    await source.stop();
  }
}

async function benchSize({ records, ...bounds }: Size, memory: Allowed | null): Promise<Finding[]> {
  const { syncs, parses } = await measureSyncs(records);
  const section = `bulk (${records.toLocaleString('en')} records)`;
  const measured = median(syncs.map(({ milliseconds }) => milliseconds));
  const what = `sync, wall time, median of ${runs}`;
  return [
    {
      section,
      what,
      measured,
      against: median(parses),
      reference: 'JSON.parse of all bytes received',
      target: bounds.wall,
      format: formatDuration,
    },
    {
      section,
      what: 'the same, CPU time',
      measured: median(syncs.map(({ cpu }) => cpu)),
      against: median(parses),
      reference: 'the same',
      target: bounds.cpu,
      format: formatDuration,
    },
    peakMemory(section, median(syncs.map(({ peak }) => peak)), memory),
  ];
}

function peakMemory(section: string, measured: number, allowed: Allowed | null): Finding {
  return {
    section,
    what: 'peak memory',
    measured,
    against: allowed?.must ?? measured,
    reference: allowed === null ? '' : 'allowed',
    target: allowed === null ? null : { atMost: { must: 1, aim: Number((allowed.aim / allowed.must).toFixed(2)) } },
    format: formatMegabytes,
  };
}

/** Syncs several times from one source: the process of the sync starts anew each time, as in a batch job, but not that of the source. */
async function measureSyncs(records: number): Promise<{ syncs: Measured[]; parses: number[] }> {
  const source = await startSource({ records, delay: 0 });
  try {
    const syncs: Measured[] = [];
    // Other work on the machine comes and goes, so the parse is timed before and after every sync.
    const parses = [parseAll(records)];
    for (let run = 0; run < runs; run += 1) {
      syncs.push(await measureSync(source.url, ['--page-size', String(pageSize)]));
      parses.push(parseAll(records));
    }
    return { syncs, parses };
  } finally {
    await source.stop();
  }
}

/** Returns the milliseconds to decode and parse every page of the full listings and of all partitions. */
function parseAll(total: number): number {
  let milliseconds = 0;
  for (const dataset of Object.keys(datasets) as DatasetName[]) {
    const records = new GeneratedRecords(dataset, total / 2);
    globalThis.gc?.();
    for (const partition of [null, ...records.dapils])
      for (const body of records.pages(partition, pageSize)) {
        const began = performance.now();
        JSON.parse(body.toString());
        milliseconds += performance.now() - began;
      }
  }
  return milliseconds;
}
