/** Makes many records of `voters` out of one: a name and figures of its own for each, for repeated figures would favour JSON.parse. */

import type { CountColumn } from '../data/sample/faults.ts';
import type { SampleRecord } from '../data/sample/records.ts';
import { type SumCheck, sumChecks } from '../src/project/declaration.ts';
import { voters } from '../test/support/bundled.ts';

/** What many records are told apart by: regencies whose names are all different, or elections in which the same names come again. */
export type Spread = 'over regencies' | 'over elections';

/** One row in so many breaks a sum, about as many as in real published figures. */
const rowsPerFault = 100;

/** The declaration allows no other names in them. */
const sums = sumChecks(voters) as SumCheck<CountColumn>[];
const wholes = new Set(sums.map(({ whole }) => whole));
const countColumns = Object.entries(voters.columns).flatMap(([column, { kind }]) =>
  kind === 'count' ? [column as CountColumn] : [],
);
const addends = countColumns.filter((column) => !wholes.has(column));

/**
 * The record with every figure moved by up to 30 %, its sums in order but for one row in a hundred.
 *
 * @param row Number of the record over all partitions; the same number gives the same figures.
 * @param round From 2 on, joined to the regency's name, or added to the year: no two records may have one key.
 */
export function varyRecord(record: SampleRecord, row: number, round: number, spread: Spread): SampleRecord {
  const counts = {} as Record<CountColumn, number>;
  for (const [index, column] of addends.entries()) {
    const figure = Number.parseInt(record[voters.columns[column].field]!, 10) || 0;
    counts[column] = Math.round(figure * (0.7 + 0.6 * randomAt(row * addends.length + index)));
  }
  for (const { parts, whole } of sums) counts[whole] = parts.reduce((sum, part) => sum + counts[part], 0);
  if (row % rowsPerFault === 0) counts.dpt_total += 1;
  const varied: Record<string, string> = { ...record };
  for (const column of countColumns) varied[voters.columns[column].field] = String(counts[column]);
  const { regency, election_year: year } = voters.columns;
  if (round > 1 && spread === 'over regencies') varied[regency.field] += ` ${round}`;
  if (round > 1 && spread === 'over elections')
    varied[year.field] = String(Number(varied[year.field]) + 5 * (round - 1));
  return varied;
}

/** A number from 0 up to but not including 1 that belongs to `place`. */
function randomAt(place: number): number {
  let bits = Math.imul(place ^ (place >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 4_294_967_296;
}
