/** Many records: from the first request to the published snapshot, against nothing but JSON.parse of the same bytes. */

import { formatDuration, formatMegabytes, median, type Finding } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { measureSync, type Measured } from './measure.ts';
import { startSource } from './source-server.ts';

const pageSize = 1000;
/** How many records, and how often: the small load takes so little time that one run says less of it than of the machine. */
const loads = [
  { size: 200_000, runs: 3 },
  { size: 1_000_000, runs: 1 },
] as const;

export async function benchBulk(): Promise<Finding[]> {
  const findings: Finding[] = [];
  const peaks: number[] = [];
  for (const { size, runs } of loads) {
    const records = new GeneratedRecords('voters', size);
    const syncs: Measured[] = [];
    // What else the machine does comes and goes: the parse is timed on both sides of every sync.
    const parses = [timeParse(records)];
    for (let run = 0; run < runs; run += 1) {
      syncs.push(await syncOnce(size));
      parses.push(timeParse(records));
    }
    peaks.push(median(syncs.map(({ peak }) => peak)));
    const section = `bulk (${size.toLocaleString('en')} records)`;
    const wall = {
      section,
      measured: median(syncs.map(({ milliseconds }) => milliseconds)),
      target: { atMost: 2 },
      format: formatDuration,
    };
    const what = runs === 1 ? 'sync, wall time' : `sync, wall time, median of ${runs}`;
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
    reference: `at ${loads[0].size.toLocaleString('en')}`,
    target: { atMost: 1.5 },
    format: formatMegabytes,
  });
  return findings;
}

async function syncOnce(size: number): Promise<Measured> {
  const source = await startSource({ records: size, delay: 0 });
  try {
    return await measureSync(source.url, ['--dataset', 'voters', '--page-size', String(pageSize)]);
  } finally {
    await source.stop();
  }
}

/** JSON.parse of every page that the list without a district takes, and of these and the districts' own pages together. */
function timeParse(records: GeneratedRecords): { once: number; all: number } {
  const once = parsePages(records, [null]);
  return { once, all: once + parsePages(records, records.dapils) };
}

/** Milliseconds within JSON.parse and the decoding of its text; putting the pages together does not count. */
function parsePages(records: GeneratedRecords, dapils: readonly (number | null)[]): number {
  let milliseconds = 0;
  globalThis.gc?.();
  for (const dapil of dapils) {
    for (const page of records.pages(dapil, pageSize)) {
      const began = performance.now();
      JSON.parse(page.toString());
      milliseconds += performance.now() - began;
    }
  }
  return milliseconds;
}
