/** Many records: from the first request to the published snapshot, against nothing but JSON.parse of the same bytes. */

import { formatDuration, formatMegabytes, median, type Finding } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { measureSync, type Measured } from './measure.ts';
import { startSource } from './source-server.ts';

const pageSize = 1000;
const sizes = [200_000, 1_000_000] as const;
/** One run says less of a load than of the machine, and of when its collector comes to free what memory. */
const runs = 3;

export async function benchBulk(): Promise<Finding[]> {
  const findings: Finding[] = [];
  const peaks: number[] = [];
  for (const size of sizes) {
    const { syncs, parses } = await measureLoad(size);
    peaks.push(median(syncs.map(({ peak }) => peak)));
    const section = `bulk (${size.toLocaleString('en')} records)`;
    const wall = {
      section,
      measured: median(syncs.map(({ milliseconds }) => milliseconds)),
      target: { atMost: 2 },
      format: formatDuration,
    };
    const what = `sync, wall time, median of ${runs}`;
    const [all, once] = [median(parses.map((parse) => parse.all)), median(parses.map((parse) => parse.once))];
    findings.push(
      { ...wall, what, against: all, reference: 'JSON.parse of all that came' },
      { ...wall, what: 'the same', against: once, reference: 'JSON.parse of each record once' },
    );
  }
  const [small, large] = peaks as [number, number];
  findings.push({
    section: findings.at(-1)!.section,
    what: 'peak memory',
    measured: large,
    against: small,
    reference: `at ${sizes[0].toLocaleString('en')}`,
    target: { atMost: 1.5 },
    format: formatMegabytes,
  });
  return findings;
}

/** Ten million records, once: what a large load takes of the machine. */
export async function benchLong(): Promise<Finding[]> {
  const size = 10_000_000;
  const source = await startSource({ records: size, delay: 0 });
  try {
    const { peak, milliseconds } = await measureSync(source.url, ['--dataset', 'voters', '--max-duration', '7200']);
    const section = `long (${size.toLocaleString('en')} records)`;
    const memory = { what: 'peak memory', measured: peak, against: 600e6, reference: 'allowed', target: { atMost: 1 } };
    const wall = {
      what: 'sync, wall time',
      measured: milliseconds,
      against: milliseconds,
      reference: '',
      target: null,
    };
    return [
      { section, ...memory, format: formatMegabytes },
      { section, ...wall, format: formatDuration },
    ];
  } finally {
    await source.stop();
  }
}

/** Syncs a load several times from one source: it is the sync that starts cold, as a batch job does, and not the service. */
async function measureLoad(size: number): Promise<{ syncs: Measured[]; parses: Parsed[] }> {
  const records = new GeneratedRecords('voters', size);
  const source = await startSource({ records: size, delay: 0 });
  try {
    const syncs: Measured[] = [];
    // What else the machine does comes and goes: the parse is timed on both sides of every sync.
    const parses = [timeParse(records)];
    for (let run = 0; run < runs; run += 1) {
      syncs.push(await measureSync(source.url, ['--dataset', 'voters', '--page-size', String(pageSize)]));
      parses.push(timeParse(records));
    }
    return { syncs, parses };
  } finally {
    await source.stop();
  }
}

/** Milliseconds. */
interface Parsed {
  readonly once: number;
  readonly all: number;
}

/** JSON.parse of every page that the list without a partition takes, and of these and the partitions' own pages together. */
function timeParse(records: GeneratedRecords): Parsed {
  const once = parsePages(records, [null]);
  return { once, all: once + parsePages(records, records.dapils) };
}

/** Milliseconds within JSON.parse and the decoding of its text; putting the pages together does not count. */
function parsePages(records: GeneratedRecords, dapils: readonly (number | null)[]): number {
  let milliseconds = 0;
  globalThis.gc?.();
  for (const partition of dapils) {
    for (const page of records.pages(partition, pageSize)) {
      const began = performance.now();
      JSON.parse(page.toString());
      milliseconds += performance.now() - began;
    }
  }
  return milliseconds;
}
