/** Transforms pages of records into Arrow batches of exact values, and accounts for every record. */

import { hash as hashText } from 'node:crypto';
import { PassDigest } from '../kinds/content.ts';
import { countOnes } from '../kinds/column.ts';
import { kindOf } from '../kinds/kinds.ts';
import { type AnyPipeline, keyPlaces, summedColumns } from '../project/declaration.ts';
import { conflictingRecords, NullReason, repeatedKey } from '../project/reserved.ts';
import { nullReasonName, readRaw } from '../kinds/read-field.ts';
import {
  type Fingerprint,
  fingerprintBytes,
  fingerprintContent,
  FingerprintHash,
  FingerprintTable,
} from '../kinds/fingerprints.ts';
import type { Batch, Page, Quarantined, TransformTotals, Violation } from '../stages.ts';
import { BatchBuilder } from './batch-builder.ts';
import { findUnequalSums, totalOf } from './sums.ts';

const hash = new FingerprintHash();
const key: Fingerprint = { high: 0, low: 0 };
const content: Fingerprint = { high: 0, low: 0 };

/** Violations and quarantined records after which a batch is passed on, even if it isn't full. */
const maxProblems = 16_384;

export class Transformer {
  private readonly pipeline: AnyPipeline;
  private readonly keyColumns: readonly number[];
  private readonly otherColumns: readonly number[];
  private readonly columns: readonly {
    readonly name: string;
    readonly field: string;
    readonly isNullable: boolean;
    readonly unusable: string;
  }[];
  private readonly ledger = { fetched: 0, published: 0, quarantined: 0, duplicates: 0 };
  private readonly sums: Map<string, bigint>;
  private readonly nulls: Map<string, number>;
  private batch: BatchBuilder;
  private violations: Violation[] = [];
  private quarantined: Quarantined[] = [];
  private readonly quarantine = new PassDigest({ key: '' });
  private keys = new FingerprintTable();
  /** Contents of its records, published or quarantined. */
  private contents = new FingerprintTable();
  /** Quarantined records without a usable key, of all partitions. The full listing contains them again. */
  private readonly keyless = new FingerprintTable();

  constructor(pipeline: AnyPipeline) {
    this.pipeline = pipeline;
    this.columns = Object.entries(pipeline.columns).map(([name, definition]) => ({
      name,
      field: definition.field,
      isNullable: definition.nullable === true,
      unusable: kindOf(definition).unusable,
    }));
    this.keyColumns = keyPlaces(pipeline);
    this.otherColumns = [...this.columns.keys()].filter((column) => !this.keyColumns.includes(column));
    this.batch = new BatchBuilder(pipeline);
    const summed = summedColumns(pipeline);
    this.sums = new Map(summed.map((name) => [name, 0n]));
    this.nulls = new Map(summed.map((name) => [name, 0]));
  }

  /**
   * Begins a partition. Duplicates are detected within a partition only: its value is part of the key, and for records without a key the
   * result must not depend on which response came first. The full listing comes last, and adds only records that no partition has.
   */
  beginPartition(): void {
    this.keys = new FingerprintTable();
    this.contents = new FingerprintTable();
  }

  /** Adds a page of the partition. Returns the batches that it fills. */
  addPage(page: Page): Batch[] {
    const full: Batch[] = [];
    for (let row = 0; row < page.records.length; row += 1) {
      this.addRecord(page, row);
      if (this.batch.isFull || this.violations.length + this.quarantined.length >= maxProblems)
        full.push(this.takeBatch());
    }
    if (this.batch.isHeavy) full.push(this.takeBatch());
    return full;
  }

  finish(): Batch {
    return this.takeBatch();
  }

  totals(): TransformTotals {
    return {
      ledger: { ...this.ledger },
      quarantine: this.quarantine.content,
      sums: Object.fromEntries(this.sums),
      nulls: Object.fromEntries(this.nulls),
    };
  }

  private addRecord(page: Page, record: number): void {
    this.ledger.fetched += 1;
    // The key is read into the next row. A record that gets no row is overwritten by the next one.
    const problem = this.fillKey(page, record);
    if (problem === null) {
      hash.begin();
      for (const column of this.keyColumns) this.batch.columns[column]!.mix(this.batch.rows, hash);
      hash.finish(key);
      fingerprintContent(page, record, content);
    } else fingerprintBytes(page, record, content);
    // In a dataset without partitions, the list is the only partition.
    const isListed = page.request.partition === null && this.pipeline.partition !== undefined;
    if (this.contents.insert(content, 1) !== 0 || (problem !== null && isListed && this.keyless.has(content)))
      this.ledger.duplicates += 1;
    else if (problem !== null) {
      if (!isListed) this.keyless.insert(content, 1);
      this.setAside(page, record, problem);
    } else if (this.keys.insert(key, 1) === 0) {
      this.fillRow(page, record);
      this.ledger.published += 1;
    } else {
      this.setAside(page, record, repeatedKey);
      this.note({
        place: this.batch.place(this.batch.rows),
        check_name: conflictingRecords,
        column_name: '',
        raw_value: null,
      });
    }
  }

  private fillKey(page: Page, record: number): string | null {
    if (page.records.isObject[record] !== 1) return 'not an object';
    for (const column of this.keyColumns) {
      const code = this.batch.columns[column]!.fill(page, record, column, this.batch.rows);
      if (code === 0) continue;
      const { field, unusable } = this.columns[column]!;
      return `${field} ${code === NullReason.malformed ? unusable : `is ${nullReasonName(code)}`}`;
    }
    return null;
  }

  private setAside(page: Page, row: number, reason: string): void {
    this.ledger.quarantined += 1;
    const { partition, target: request } = page.request;
    const record = page.bytes.toString('utf8', page.records.recordStart[row], page.records.recordEnd[row]);
    const quarantined = { dataset: this.pipeline.table, reason, record, partition, request };
    this.quarantine.add(hashText('sha256', JSON.stringify(quarantined), 'binary'));
    this.quarantined.push(quarantined);
  }

  private fillRow(page: Page, record: number): void {
    const { batch } = this;
    const row = batch.rows;
    for (const column of this.otherColumns) {
      const code = batch.columns[column]!.fill(page, record, column, row);
      if (code !== 0) this.noteNull(page, record, row, column, code);
    }
    batch.rows += 1;
  }

  private noteNull(page: Page, record: number, row: number, column: number, code: number): void {
    const { name, isNullable } = this.columns[column]!;
    if (isNullable && code !== NullReason.malformed) return;
    this.batch.consistent[row] = 0;
    this.note({
      place: this.batch.place(row),
      check_name: nullReasonName(code),
      column_name: name,
      raw_value: readRaw(page, record, column),
    });
  }

  private note(found: Pick<Violation, 'place' | 'check_name' | 'column_name' | 'raw_value'>): void {
    const { table: dataset } = this.pipeline;
    this.violations.push({ dataset, severity: 'error', expected: null, actual: null, ...found });
  }

  private takeBatch(): Batch {
    const { batch, violations, quarantined } = this;
    for (const { row, violation } of findUnequalSums(this.pipeline, batch)) {
      if (violation.severity === 'error') batch.consistent[row] = 0;
      violations.push(violation);
    }
    for (const [name, sum] of this.sums) {
      const column = batch.numbers(name);
      this.sums.set(name, sum + totalOf(column, batch.rows));
      this.nulls.set(name, this.nulls.get(name)! + batch.rows - countOnes(column.valid, batch.rows));
    }
    this.batch = new BatchBuilder(this.pipeline);
    this.violations = [];
    this.quarantined = [];
    return { rows: batch.toRecordBatch(), violations, quarantined };
  }
}
