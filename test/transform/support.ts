/** Transforms pages of voters' records, and reads the rows back from the Arrow batches. */

import { voters } from '../support/bundled.ts';
import type { Batch } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

export const dptMale = voters.columns.dpt_male.field;
/** The key of `voterRecord()`. */
export const place = {
  election_year: 2024,
  election_type: 'DPR-RI',
  dapil_id: 1101,
  province: 'ACEH',
  regency: 'ACEH BARAT',
};
/** The request that returned the pages. */
const request = { partition: '1101', offset: 40, limit: 20 };

/** Transforms pages of one partition. */
export function transform(...pages: unknown[]) {
  const transformer = new Transformer(voters);
  transformer.beginPartition();
  const batches = pages.flatMap((data) => transformer.addPage(pageOf(voters, data, request)));
  batches.push(transformer.finish());
  return {
    batches,
    // A getter, because tests with many rows read columns instead.
    get rows() {
      return batches.flatMap(rowsOf);
    },
    violations: batches.flatMap(({ violations }) => violations),
    quarantined: batches.flatMap(({ quarantined }) => quarantined),
    totals: transformer.totals(),
  };
}

export function rowsOf({ rows }: Batch): Record<string, unknown>[] {
  const names = rows.schema.fields.map(({ name }) => name);
  return Array.from({ length: rows.numRows }, (_, row) =>
    Object.fromEntries(names.map((name) => [name, rows.getChild(name)!.get(row)])),
  );
}

/** The JSON of a record in which one field has the value `json`. */
export function recordJson(field: string, json: string): string {
  return JSON.stringify(voterRecord({ [field]: '@' })).replace('"@"', () => json);
}
