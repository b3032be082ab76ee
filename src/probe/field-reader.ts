/** Reads the fields of probed records as a sync does, so that a draft has only kinds that the sync accepts. */

import { kindOf } from '../kinds/kinds.ts';
import { readRaw } from '../kinds/read-field.ts';
import type { AnyPipeline, ColumnDefinition } from '../project/declaration.ts';
import { ScanError } from '../source/decode/json-text.ts';
import { createPageScanner } from '../source/decode/page-scanner.ts';
import { FieldKind, type Page } from '../stages.ts';
import type { Envelope, ProbedRecord } from './envelope.ts';
import type { ProbeResponse } from './prober.ts';

export interface ProbedField {
  /** The text of each record's value, with the digits of the source; null for null, missing and empty ones. */
  readonly values: readonly (string | null)[];
  /** Returns, for each value that isn't null, whether a column of this definition accepts it. */
  accepts(definition: ColumnDefinition): boolean[];
}

interface Place {
  readonly page: Page;
  readonly row: number;
}

/** @param responses The responses that contained the records. */
export function readFields(
  records: readonly ProbedRecord[],
  fields: readonly string[],
  responses: Iterable<ProbeResponse>,
  { format, records: pointer }: Envelope,
): ProbedField[] {
  const columns = Object.fromEntries(fields.map((field) => [field, { kind: 'text', field, comment: field }]));
  const pipeline = { table: 'probe', columns, paging: { by: 'none' }, format, records: pointer } as unknown;
  const scan = createPageScanner(() => undefined);
  const places = new Map<string, Place>();
  for (const { target, status, body } of responses) {
    if (status !== 200) continue;
    try {
      const page = scan(pipeline as AnyPipeline, { dataset: 'probe', partition: null, target }, target, body);
      const { recordStart, recordEnd, length } = page.records;
      for (let row = 0; row < length; row += 1) {
        const text = body.toString('utf8', recordStart[row], recordEnd[row]);
        places.set(JSON.stringify(JSON.parse(text)), { page, row });
      }
    } catch (error) {
      if (!(error instanceof ScanError)) throw error;
    }
  }
  const found = records.flatMap((record) => places.get(JSON.stringify(record)) ?? []);
  return fields.map((_, column): ProbedField => {
    const values = found.map(({ page, row }) => textAt(page, row, column));
    const present = found.filter((_place, at) => values[at] !== null);
    return {
      values,
      accepts(definition) {
        const filled = kindOf(definition).newColumn(1);
        return present.map(({ page, row }) => filled.fill(page, row, column, 0) === 0);
      },
    };
  });
}

/** Returns the text of a value; null for null, missing and empty ones, and for arrays and objects. */
function textAt(page: Page, row: number, column: number): string | null {
  const raw = readRaw(page, row, column);
  const isOther = page.records.fieldKind[row * page.records.width + column] === FieldKind.other;
  return raw === '' || (isOther && raw !== 'true' && raw !== 'false') ? null : raw;
}
