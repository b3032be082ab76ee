/** Many records: from the first request to the published snapshot, against nothing but JSON.parse of the same bytes. */

import { formatDuration, formatMegabytes, type Finding } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { measureSync, type Measured } from './measure.ts';
import { startSource } from './source-server.ts';

const pageSize = 1000;
const sizes = [200_000, 1_000_000] as const;

export async function benchBulk(): Promise<Finding[]> {
  const findings: Finding[] = [];
  const measured: Measured[] = [];
  for (const size of sizes) {
    const records = new GeneratedRecords('voters', size);
    const before = timeParse(records);
    const sync = await syncOnce(size);
    const after = timeParse(records);
    // What else the machine does comes and goes: the parse is timed on both sides of the sync.
    const once = (before.once + after.once) / 2;
    const all = (before.all + after.all) / 2;
    measured.push(sync);
    const section = `bulk (${size.toLocaleString('en')} records)`;
    const wall = { section, measured: sync.milliseconds, target: { atMost: 2 }, format: formatDuration };
    findings.push(
      { ...wall, what: 'sync, wall time', against: all, reference: 'JSON.parse of all that came' },
      { ...wall, what: 'the same', against: once, reference: 'JSON.parse of each record once' },
    );
  }
  const [small, large] = measured as [Measured, Measured];
  findings.push({
    section: findings.at(-1)!.section,
    what: 'peak memory',
    measured: large.peak,
    against: small.peak,
    reference: `at ${sizes[0].toLocaleString('en')}`,
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
