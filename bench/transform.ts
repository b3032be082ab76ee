/** Scanner and transformer with pages in memory, compared with JSON.parse of the same pages. */

import { voters } from '../test/support/bundled.ts';
import { createScanner } from '../src/source/decode/scan-response.ts';
import { shapeOf } from '../src/source/decode/document-shape.ts';
import type { Batch } from '../src/stages.ts';
import { Transformer } from '../src/transform/transformer.ts';
import { requestOf } from '../test/support/page-request.ts';
import { formatDuration, median, type Finding } from './finding.ts';
import { GeneratedRecords } from './generated-records.ts';
import { time } from './measure.ts';
import type { Spread } from './vary-record.ts';

const size = 200_000;
const pageSize = 1000;
const rounds = 5;

/** The pages of each partition. */
type Partitions = readonly { readonly partition: number; readonly pages: readonly Buffer[] }[];

export async function benchTransform(): Promise<Finding[]> {
  const partitions = makePages(size);
  const parses: number[] = [];
  const transforms: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    parses.push(await time(() => parseAll(partitions)));
    transforms.push(await time(() => void transformAll(partitions)));
  }
  return [
    {
      section: `transform (${size.toLocaleString('en')} records)`,
      what: `scan and transform, median of ${rounds}`,
      measured: median(transforms),
      against: median(parses),
      reference: 'JSON.parse of the same pages',
      target: { atMost: { must: 0.5, aim: 0.4 } },
      format: formatDuration,
    },
  ];
}

/** Returns the batches of `total` records of voters. */
export function makeBatches(total: number, spread: Spread): Batch[] {
  return transformAll(makePages(total, spread));
}

function makePages(total: number, spread: Spread = 'over regencies'): Partitions {
  const records = new GeneratedRecords('voters', total, spread);
  return records.dapils.map((partition) => ({ partition, pages: [...records.pages(partition, pageSize)] }));
}

function parseAll(partitions: Partitions): void {
  for (const { pages } of partitions) for (const page of pages) JSON.parse(page.toString());
}

function transformAll(partitions: Partitions): Batch[] {
  const scan = createScanner(
    Object.values(voters.columns).map(({ field }) => field),
    shapeOf(voters),
  );
  const transformer = new Transformer(voters);
  const batches: Batch[] = [];
  for (const { partition, pages } of partitions) {
    transformer.beginPartition();
    for (const [index, bytes] of pages.entries()) {
      const request = requestOf(voters, { partition: String(partition), offset: index * pageSize, limit: pageSize });
      batches.push(...transformer.addPage({ request, url: '', bytes, ...scan(bytes), isCountExact: true }));
    }
  }
  batches.push(transformer.finish());
  return batches;
}
