/** Transforms pages of voters' records and gives what came of them, the rows read back out of the Arrow batches. */

import { voters } from '../support/bundled.ts';
import type { Batch } from '../../src/stages.ts';
import { Transformer } from '../../src/transform/transformer.ts';
import { pageOf, voterRecord } from '../support/pages.ts';

export const dptMale = voters.columns.dpt_male.field;
/** Where `voterRecord()` is. */
export const place = {
  election_year: 2024,
  election_type: 'DPR-RI',
  dapil_id: 1101,
  province: 'ACEH',
  regency: 'ACEH BARAT',
};
/** The request whose answers the pages are. */
const request = { partition: '1101', offset: 40, limit: 20 };

/** Transforms pages of one partition. */
export function transform(...pages: unknown[]) {
  const transformer = new Transformer(voters);
  transformer.beginPartition();
  const batches = pages.flatMap((data) => transformer.addPage(pageOf(voters, data, request)));
  batches.push(transformer.finish());
  return {
    batches,
    rows: batches.flatMap(rowsOf),
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

/** The JSON of a record with `json` in the place of one field's value. */
export function recordJson(field: string, json: string): string {
  return JSON.stringify(voterRecord({ [field]: '@' })).replace('"@"', () => json);
}
