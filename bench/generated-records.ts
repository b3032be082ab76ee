/** Records for benchmarks, in the exact shape of the service: the sample's partitions with any number of regencies. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleFileName, type SampleRecord } from '../data/sample/records.ts';
import { loadProject } from '../test/support/bundled.ts';
import { type DatasetName, type Spread, varyRecord } from './vary-record.ts';

/** A dataset's records as JSON text, so that any page is a slice that costs nothing to make. */
export class GeneratedRecords {
  readonly count: number;
  /** Position of each record in the text of its partition. */
  private readonly starts: Float64Array;
  /** The range of records, and their JSON, each followed by a comma. */
  private readonly partitions = new Map<
    number,
    { readonly from: number; readonly to: number; readonly text: Buffer }
  >();

  /** @param total Number of records, spread evenly over the partitions and in their order; null for the sample as it is. */
  constructor(dataset: DatasetName, total: number | null, spread: Spread = 'over regencies') {
    const sample = groupByPartition(readSample(dataset));
    this.count = total ?? [...sample.values()].reduce((sum, records) => sum + records.length, 0);
    this.starts = new Float64Array(this.count);
    let row = 0;
    for (const [index, [partition, records]] of [...sample].entries()) {
      const from = row;
      const to = total === null ? from + records.length : Math.floor((total * (index + 1)) / sample.size);
      const texts: string[] = [];
      let start = 0;
      for (; row < to; row += 1) {
        const place = row - from;
        const record = records[place % records.length]!;
        const text = JSON.stringify(
          total === null
            ? record
            : varyRecord(record, dataset, { row, round: Math.floor(place / records.length) + 1, spread }),
        );
        texts.push(text);
        this.starts[row] = start;
        start += Buffer.byteLength(text) + 1;
      }
      this.partitions.set(partition, { from, to, text: Buffer.from(`${texts.join(',')},`) });
    }
  }

  /** The ids of the partitions, in the order of their records. */
  get dapils(): number[] {
    return [...this.partitions.keys()];
  }

  /** Returns a response body in pieces that share memory with all other responses. */
  page(partition: number | null, limit: number, offset: number): readonly Buffer[] {
    const { from, to } = this.range(partition);
    const first = Math.min(from + offset, to);
    const last = Math.min(first + limit, to);
    const records = last - first;
    const [open, close] = records === 1 ? ['', '}'] : ['[', ']}'];
    const content: Buffer[] = [];
    for (const block of this.partitions.values()) {
      const [begin, end] = [Math.max(first, block.from), Math.min(last, block.to)];
      if (begin >= end) continue;
      const stop = end === block.to ? block.text.length : this.starts[end]!;
      content.push(block.text.subarray(this.starts[begin], end === last ? stop - 1 : stop));
    }
    return [Buffer.from(`{"count":${records},"data":${open}`), ...content, Buffer.from(close)];
  }

  /** Yields the bodies of all pages of the dataset, or of one partition. */
  *pages(partition: number | null, pageSize: number): Generator<Buffer> {
    const { from, to } = this.range(partition);
    for (let offset = 0; from + offset < to; offset += pageSize)
      yield Buffer.concat(this.page(partition, pageSize, offset));
  }

  private range(partition: number | null): { readonly from: number; readonly to: number } {
    if (partition === null) return { from: 0, to: this.count };
    return this.partitions.get(partition) ?? { from: 0, to: 0 };
  }
}

function readSample(dataset: DatasetName): readonly SampleRecord[] {
  const path = join(loadProject().sampleFolder, sampleFileName(dataset));
  return JSON.parse(readFileSync(path, 'utf8')) as readonly SampleRecord[];
}

function groupByPartition(records: readonly SampleRecord[]): Map<number, readonly SampleRecord[]> {
  const partitions = new Map<number, SampleRecord[]>();
  for (const record of records) {
    const partition = Number(record['IdDapil']);
    partitions.set(partition, [...(partitions.get(partition) ?? []), record]);
  }
  return new Map([...partitions].toSorted(([one], [other]) => one - other));
}
