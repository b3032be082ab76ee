/** Transformation alone, pages in memory: scanner and Transformer against JSON.parse of the same pages. */

import { voters } from '../../pipelines/voters.ts';
import { createScanner } from '../../src/extract/scan/scan-answer.ts';
import type { Batch } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { formatDuration, median, type Finding } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { time } from './measure.ts';
import type { Spread } from './vary-record.ts';

const size = 200_000;
const pageSize = 1000;
const rounds = 5;

/** The records' pages, each district's together. */
type Districts = readonly { readonly district: number; readonly pages: readonly Buffer[] }[];

export async function benchTransform(): Promise<Finding[]> {
  const districts = makePages(size);
  const parses: number[] = [];
  const transforms: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    parses.push(await time(() => parseAll(districts)));
    transforms.push(await time(() => void transformAll(districts)));
  }
  return [
    {
      section: `transform (${size.toLocaleString('en')} records)`,
      what: `scan and transform, median of ${rounds}`,
      measured: median(transforms),
      against: median(parses),
      reference: 'JSON.parse of the same pages',
      target: { atMost: 1.3 },
      format: formatDuration,
    },
  ];
}

/** All batches that `total` records of voters make. */
export function makeBatches(total: number, spread: Spread): Batch[] {
  return transformAll(makePages(total, spread));
}

function makePages(total: number, spread: Spread = 'over regencies'): Districts {
  const records = new GeneratedRecords('voters', total, spread);
  return records.dapils.map((district) => ({ district, pages: [...records.pages(district, pageSize)] }));
}

function parseAll(districts: Districts): void {
  for (const { pages } of districts) for (const page of pages) JSON.parse(page.toString());
}

function transformAll(districts: Districts): Batch[] {
  const scan = createScanner(Object.values(voters.columns).map(({ field }) => field));
  const transformer = new Transformer(voters);
  const batches: Batch[] = [];
  for (const { district, pages } of districts) {
    transformer.beginDistrict();
    for (const [index, bytes] of pages.entries()) {
      const request = { dataset: voters.table, district, offset: index * pageSize, limit: pageSize };
      batches.push(...transformer.addPage({ request, url: '', bytes, ...scan(bytes) }));
    }
  }
  batches.push(transformer.finish());
  return batches;
}
