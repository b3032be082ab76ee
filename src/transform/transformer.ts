/** Turns pages of digit strings into Arrow batches of exact integers, and accounts for every record on the way. */

import { conflictingRecords } from '../define-pipeline.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { NoCount, readInteger, readRaw, readText } from '../records/fields.ts';
import { type Fingerprint, fingerprintBytes, fingerprintContent, FingerprintTable } from '../records/fingerprints.ts';
import { type Batch, FieldKind, type Page, type Quarantined, type TransformTotals, type Violation } from '../stages.ts';
import { BatchBuilder, checkRows, countOnes } from './batch-builder.ts';
import { createKeyReader, noValueCheck } from './record-key.ts';

/** Of the record at hand; the next one overwrites them. */
const key: Fingerprint = { high: 0, low: 0 };
const content: Fingerprint = { high: 0, low: 0 };

/** A batch is handed on with so many violations and quarantined records too, though it is not full of rows. */
const noted = 16_384;

/** Takes a dataset's pages, district by district, and gives its batches. */
export class Transformer {
  private readonly pipeline: AnyPipeline;
  private readonly key: ReturnType<typeof createKeyReader>;
  private readonly places: readonly number[];
  private readonly columns: readonly {
    readonly name: string;
    readonly field: string;
    readonly isText: boolean;
    readonly isCount: boolean;
  }[];
  private readonly ledger = { fetched: 0, published: 0, quarantined: 0, duplicates: 0 };
  private readonly sums = new Map<string, bigint>();
  private readonly nulls = new Map<string, number>();
  private batch: BatchBuilder;
  private violations: Violation[] = [];
  private quarantined: Quarantined[] = [];
  /** Keys of the rows of the present district. */
  private keys = new FingerprintTable();
  /** Its records as they are: rows with their values, and what stands in quarantine. */
  private contents = new FingerprintTable();
  /** Quarantined records without a usable key, of all districts: the full listing brings them once more. */
  private readonly keyless = new FingerprintTable();

  constructor(pipeline: AnyPipeline) {
    this.pipeline = pipeline;
    this.key = createKeyReader(pipeline);
    this.columns = Object.entries(pipeline.columns).map(([name, { field, kind }]) => ({
      name,
      field,
      isText: kind === 'text',
      isCount: kind === 'count',
    }));
    this.places = [...this.columns.keys()];
    this.batch = new BatchBuilder(pipeline);
    for (const { name, isCount } of this.columns) {
      if (!isCount) continue;
      this.sums.set(name, 0n);
      this.nulls.set(name, 0);
    }
  }

  /**
   * Begins a district: records are compared for doubles within it alone. Its id is part of the key; and were a record without a key
   * counted once over all districts, which request it stands for would depend on which answer came first. What the list of all brought
   * comes last, and of its records only those that no district had.
   */
  beginDistrict(): void {
    this.keys = new FingerprintTable();
    this.contents = new FingerprintTable();
  }

  /** Takes a page of the district; gives the batches that it filled. */
  addPage(page: Page): Batch[] {
    const full: Batch[] = [];
    for (let row = 0; row < page.records.length; row += 1) {
      this.addRecord(page, row);
      if (this.batch.isFull || this.violations.length + this.quarantined.length >= noted) full.push(this.takeBatch());
    }
    if (this.batch.isHeavy) full.push(this.takeBatch());
    return full;
  }

  /** The last batch, which may be empty of rows; nothing can be added afterwards. */
  finish(): Batch {
    return this.takeBatch();
  }

  /** What became of everything in the batches taken so far. */
  totals(): TransformTotals {
    return { ledger: { ...this.ledger }, sums: Object.fromEntries(this.sums), nulls: Object.fromEntries(this.nulls) };
  }

  private addRecord(page: Page, row: number): void {
    this.ledger.fetched += 1;
    const complaint = this.key.complaint(page, row);
    if (complaint === null) {
      this.key.fingerprint(page, row, key);
      fingerprintContent(page, row, key, this.places, content);
    } else fingerprintBytes(page, row, content);
    const isListed = page.request.district === null;
    if (this.contents.meet(content, 1) !== 0 || (complaint !== null && isListed && this.keyless.has(content)))
      this.ledger.duplicates += 1;
    else if (complaint !== null) {
      if (!isListed) this.keyless.meet(content, 1);
      this.quarantine(page, row, complaint);
    } else if (this.keys.meet(key, 1) === 0) {
      this.fillRow(page, row);
      this.ledger.published += 1;
    } else {
      this.quarantine(page, row, 'same key, other values');
      this.violations.push({
        dataset: this.pipeline.table,
        place: this.key.place(page, row),
        check_name: conflictingRecords,
        severity: 'error',
        column_name: '',
        raw_value: null,
        expected: null,
        actual: null,
      });
    }
  }

  private quarantine(page: Page, row: number, reason: string): void {
    this.ledger.quarantined += 1;
    this.quarantined.push({
      dataset: this.pipeline.table,
      reason,
      record: page.bytes.toString('utf8', page.records.recordStart[row], page.records.recordEnd[row]),
      partition: page.request.district === null ? null : String(page.request.district),
      request: requestText(this.pipeline, page),
    });
  }

  private fillRow(page: Page, record: number): void {
    const row = this.batch.rows;
    this.batch.rows += 1;
    /** Columns without a value; they are named once the whole row, and so its place, is filled. */
    let without: { column: number; code: number }[] | null = null;
    for (let column = 0; column < this.columns.length; column += 1) {
      const code = this.columns[column]!.isText
        ? this.fillText(page, record, row, column)
        : this.fillNumber(page, record, row, column);
      if (code < 0) (without ??= []).push({ column, code });
    }
    for (const { column, code } of without ?? []) this.noteNoValue(page, record, row, column, code);
  }

  private fillNumber(page: Page, record: number, row: number, column: number): number {
    const value = readInteger(page, record, column);
    const { values, valid } = this.batch.numbers[column]!;
    if (value >= 0) {
      values[row] = value;
      valid[row] = 1;
    }
    return value;
  }

  private fillText(page: Page, record: number, row: number, column: number): number {
    const texts = this.batch.texts[column]!;
    const slot = record * page.records.width + column;
    const kind = page.records.fieldKind[slot];
    const start = page.records.fieldStart[slot]!;
    const end = page.records.fieldEnd[slot]!;
    if (kind === FieldKind.text && start < end) {
      texts.set(row, page.bytes, start, end);
      return 0;
    }
    const text = Buffer.from(readText(page, record, column) ?? '');
    if (text.length > 0) {
      texts.set(row, text, 0, text.length);
      return 0;
    }
    texts.skip(row);
    switch (kind) {
      case FieldKind.text:
        return NoCount.empty;
      case FieldKind.missing:
        return NoCount.missing;
      case FieldKind.null:
        return NoCount.null;
      default:
        return NoCount.malformed;
    }
  }

  private noteNoValue(page: Page, record: number, row: number, column: number, code: number): void {
    const { name } = this.columns[column]!;
    const raw = readRaw(page, record, column);
    this.batch.consistent[row] = 0;
    this.violations.push({
      dataset: this.pipeline.table,
      place: this.batch.place(row),
      check_name: noValueCheck(code),
      severity: 'error',
      column_name: name,
      raw_value: raw,
      expected: null,
      actual: null,
    });
  }

  private takeBatch(): Batch {
    const { batch, violations, quarantined } = this;
    checkRows(this.pipeline, batch, violations);
    for (const [index, { name, isCount }] of this.columns.entries()) {
      if (!isCount) continue;
      const { values, valid } = batch.numbers[index]!;
      this.sums.set(name, this.sums.get(name)! + BigInt(sumOf(values, batch.rows)));
      this.nulls.set(name, this.nulls.get(name)! + batch.rows - countOnes(valid, batch.rows));
    }
    this.batch = new BatchBuilder(this.pipeline);
    this.violations = [];
    this.quarantined = [];
    return { rows: batch.toRecordBatch(), violations, quarantined };
  }
}

function sumOf(values: Int32Array, rows: number): number {
  let sum = 0;
  for (let row = 0; row < rows; row += 1) sum += values[row]!;
  return sum;
}

/** The request whose answer held a page, without the base URL. */
function requestText(pipeline: AnyPipeline, page: Page): string {
  const { district, limit, offset } = page.request;
  return `${pipeline.endpoint}?${district === null ? '' : `${pipeline.districtParameter}=${district}&`}limit=${limit}&offset=${offset}`;
}
