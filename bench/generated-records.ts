/** Records for benchmarks, rendered once: the sample's partitions with as many regencies as wanted, in the service's exact shape. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleFileName, type SampleRecord } from '../data/sample/records.ts';
import { loadProject } from '../test/support/bundled.ts';
import { varyRecord, type Spread } from './vary-record.ts';

/** A dataset's records as one stretch of JSON, so that any page of it is a slice and costs nothing to make. */
export class GeneratedRecords {
  readonly count: number;
  /** Where record `i` begins in the text of its partition. */
  private readonly starts: Float64Array;
  /** Records from one to another, and their JSON, each followed by a comma. */
  private readonly partitions = new Map<
    number,
    { readonly from: number; readonly to: number; readonly text: Buffer }
  >();

  /** @param total Records of `voters`, spread evenly over the partitions and in their order; null for the sample as it is. */
  constructor(dataset: 'voters' | 'voting_rights_users', total: number | null, spread: Spread = 'over regencies') {
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
          total === null ? record : varyRecord(record, row, Math.floor(place / records.length) + 1, spread),
        );
        texts.push(text);
        this.starts[row] = start;
        start += Buffer.byteLength(text) + 1;
      }
      this.partitions.set(partition, { from, to, text: Buffer.from(`${texts.join(',')},`) });
    }
  }

  /** The partitions' ids, in the order of their records. */
  get dapils(): number[] {
    return [...this.partitions.keys()];
  }

  /** The body of an answer, in pieces that share memory with all other answers. */
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

  /** Bodies that in this order hold the dataset, or one partition of it, once; each is made when its turn comes. */
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

function readSample(dataset: 'voters' | 'voting_rights_users'): readonly SampleRecord[] {
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
