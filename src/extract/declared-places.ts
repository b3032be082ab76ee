/** Compares the places that a declaration names with what the responses of a run contain. A place that never occurs is probably misspelled. */

import type { AnyPipeline } from '../project/declaration.ts';
import { fieldPath } from '../project/field-path.ts';
import { withSuggestion } from '../runtime/closest-name.ts';
import { formatNumber } from '../runtime/text.ts';
import { FieldKind, type Page } from '../stages.ts';

const maxNamed = 5;

export class DeclaredPlaces {
  private readonly pipeline: AnyPipeline;
  /** Columns whose field no record has had, with their place among the fields. */
  private readonly absent: Map<string, number>;
  private readonly unknown = new Set<string>();
  private records = 0;
  private lacksFlag: boolean;
  private members: readonly string[] = [];

  constructor(pipeline: AnyPipeline) {
    this.pipeline = pipeline;
    this.absent = new Map(Object.keys(pipeline.columns).map((name, place) => [name, place]));
    this.lacksFlag = pipeline.paging.hasMore !== undefined;
  }

  note({ records, hasMore, unknownFields, envelope }: Page): void {
    const { length, width, fieldKind } = records;
    if (length === 0) return;
    if (this.records === 0) this.members = [...envelope.keys()];
    this.records += length;
    if (hasMore !== null) this.lacksFlag = false;
    for (const [name, place] of this.absent)
      for (let slot = place; slot < length * width; slot += width)
        if (fieldKind[slot] !== FieldKind.missing) {
          this.absent.delete(name);
          break;
        }
    for (const name of unknownFields) this.unknown.add(name);
  }

  /** Returns what is wrong with the declaration: a flag or a required field that never occurs. */
  problems(): string[] {
    const { hasMore } = this.pipeline.paging;
    const members = this.members.length === 0 ? 'no members beside the records' : this.members.slice(0, 12).join(', ');
    return [
      ...(this.lacksFlag && this.records > 0
        ? [`no response has ${hasMore}, which should say whether a page follows ("hasMore"); the first has ${members}`]
        : []),
      ...this.describe(false, 'correct the field, or add nullable: true to the column'),
    ];
  }

  /** Returns the nullable columns whose field no record has. */
  warnings(): string[] {
    return this.describe(true, 'the column is NULL in all rows');
  }

  private describe(nullable: boolean, advice: string): string[] {
    const { columns } = this.pipeline;
    if (this.records === 0) return [];
    const names = [...this.absent.keys()].filter((name) => (columns[name]!.nullable === true) === nullable);
    const shown = names.slice(0, maxNamed).map((name) => {
      const { field } = columns[name]!;
      const what = `none of ${formatNumber(this.records)} records has the field "${field}" of the column "${name}"`;
      return `${withSuggestion(what, fieldPath(field).at(-1)!, [...this.unknown])} (${advice})`;
    });
    return names.length > shown.length ? [...shown, `and ${names.length - shown.length} more columns`] : shown;
  }
}
