/** Compares the places that a declaration names with what the responses of a run contain. A place that never occurs is probably misspelled. */

import type { AnyPipeline } from '../project/declaration.ts';
import { partitionParameters } from '../project/partition-list.ts';
import { fieldPath, isBeside } from '../project/field-path.ts';
import { withSuggestion } from '../runtime/closest-name.ts';
import { countOf } from '../runtime/text.ts';
import { FieldKind, type Page } from '../stages.ts';

const maxNamed = 5;

export class DeclaredPlaces {
  private readonly pipeline: AnyPipeline;
  /** Columns whose field no record has had, with their place among the fields. */
  private readonly absent: Map<string, number>;
  private readonly unknown = new Set<string>();
  private records = 0;
  private lacksFlag: boolean;
  private lacksCount: boolean;
  private members: readonly string[] = [];

  constructor(pipeline: AnyPipeline) {
    this.pipeline = pipeline;
    // Those whose value is beside the record have no field.
    const fields = Object.entries(pipeline.columns).flatMap(([name, column], place) =>
      isBeside(column) ? [] : [[name, place] as const],
    );
    this.absent = new Map(fields);
    this.lacksFlag = pipeline.paging.hasMore !== undefined;
    this.lacksCount = pipeline.reportedCount !== undefined;
  }

  note({ records, count, hasMore, unknownFields, envelope }: Page): void {
    const { length, width, fieldKind } = records;
    if (length === 0) return;
    if (this.records === 0) this.members = [...envelope.keys()];
    this.records += length;
    if (hasMore !== null) this.lacksFlag = false;
    if (count !== null) this.lacksCount = false;
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
    if (this.records === 0) return [];
    const { paging, reportedCount } = this.pipeline;
    const members = this.members.length === 0 ? 'no members beside the records' : this.members.slice(0, 12).join(', ');
    const lacking = [
      ...(this.lacksFlag ? [`${paging.hasMore}, which should say whether a page follows ("hasMore")`] : []),
      ...(this.lacksCount ? [`${reportedCount}, which should be the number of records ("reportedCount")`] : []),
    ];
    return [
      ...lacking.map((what) => `no response has ${what}; the first has ${members}`),
      ...shorten(this.missingFields(false)),
    ];
  }

  /** Returns the nullable columns whose field no record has. */
  warnings(): string[] {
    return shorten(this.missingFields(true));
  }

  /** Returns the fields that no record has, of columns that are nullable, or of those that are not. */
  missingFields(nullable: boolean): MissingField[] {
    const { columns, key } = this.pipeline;
    if (this.records === 0) return [];
    const requested = new Set(partitionParameters(this.pipeline).map(({ column }) => column));
    return [...this.absent.keys()]
      .filter((name) => (columns[name]!.nullable === true) === nullable)
      .map((name) => {
        const { field } = columns[name]!;
        const what = `none of ${countOf(this.records, 'record')} has the field "${field}" of the column "${name}"`;
        const advice = nullable
          ? 'the column is NULL in all rows'
          : requested.has(name)
            ? "correct the field, or add from: 'request' if records don't repeat the value that is requested"
            : `correct the field${key.includes(name) ? '' : ', or add nullable: true to the column'}`;
        const path = fieldPath(field);
        const typed = path.length === 1 ? field : path.at(-1)!;
        return { field, what: `${withSuggestion(what, typed, [...this.unknown])} (${advice})` };
      });
  }
}

interface MissingField {
  readonly field: string;
  readonly what: string;
}

function shorten(missing: readonly MissingField[]): string[] {
  const shown = missing.slice(0, maxNamed).map(({ what }) => what);
  return missing.length > shown.length ? [...shown, `and ${missing.length - shown.length} more columns`] : shown;
}
