/** Builds an Arrow batch of a pipeline's columns, row by row. Each text is copied once. */

import type { RecordBatch } from 'apache-arrow';
import { batchRows, type Column, type NumberColumn, packBits } from '../kinds/column.ts';
import { kindOf } from '../kinds/kinds.ts';
import { TextColumn } from '../kinds/text.ts';
import { type AnyPipeline, keyPlaces } from '../project/declaration.ts';
import { consistencyColumn } from '../project/reserved.ts';
import * as arrow from '../runtime/arrow.ts';
import type { Place } from '../stages.ts';

/** Bytes of text after which a batch is passed on at the end of a page: Arrow offsets have 31 bits. */
const maxTextBytes = 1 << 24;

export class BatchBuilder {
  rows = 0;
  readonly columns: readonly Column[];
  readonly consistent = new Uint8Array(batchRows).fill(1);
  readonly names: readonly string[];
  private readonly key: readonly number[];
  private readonly texts: readonly TextColumn[];

  constructor(pipeline: AnyPipeline) {
    this.names = Object.keys(pipeline.columns);
    this.key = keyPlaces(pipeline);
    this.columns = Object.values(pipeline.columns).map((definition) => kindOf(definition).newColumn());
    this.texts = this.columns.filter((column) => column instanceof TextColumn);
  }

  get isFull(): boolean {
    return this.rows === batchRows;
  }

  get isHeavy(): boolean {
    return this.texts.some(({ starts }) => starts[this.rows]! > maxTextBytes);
  }

  numbers(name: string): NumberColumn {
    return this.columns[this.names.indexOf(name)] as NumberColumn;
  }

  place(row: number): Place {
    return Object.fromEntries(this.key.map((index) => [this.names[index]!, this.columns[index]!.value(row)]));
  }

  toRecordBatch(): RecordBatch {
    const { rows } = this;
    const consistency = arrow.makeData({
      type: new arrow.Bool(),
      length: rows,
      nullCount: 0,
      data: packBits(this.consistent, rows),
    });
    const children = [...this.columns.map((column) => column.toData(rows)), consistency];
    const fields = [...this.names, consistencyColumn].map(
      (name, index) => new arrow.Field(name, children[index]!.type, name !== consistencyColumn),
    );
    const data = arrow.makeData({ type: new arrow.Struct(fields), length: rows, nullCount: 0, children });
    return new arrow.RecordBatch(new arrow.Schema(fields), data);
  }
}
