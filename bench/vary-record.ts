/** Makes many records out of one: each has its own name and figures, because repeated figures would favor JSON.parse. */

import type { CountColumn } from '../data/sample/faults.ts';
import type { SampleRecord } from '../data/sample/records.ts';
import { type SumCheck, sumChecks } from '../src/project/declaration.ts';
import { voters, votingRightsUsers } from '../test/support/bundled.ts';

/** The bundled datasets. They declare the same columns under different fields. */
export const datasets = { voters, voting_rights_users: votingRightsUsers } as const;
export type DatasetName = keyof typeof datasets;

/** What distinguishes the records: different regencies, or the same regencies in different elections. */
export type Spread = 'over regencies' | 'over elections';

/** One row in this many breaks a sum, about as many as in real published figures. */
const rowsPerFault = 100;

const sums = sumChecks(voters) as SumCheck<CountColumn>[];
const wholes = new Set(sums.map(({ whole }) => whole));
const countColumns = Object.entries(voters.columns).flatMap(([column, { kind }]) =>
  kind === 'count' ? [column as CountColumn] : [],
);
const addends = countColumns.filter((column) => !wholes.has(column));

/**
 * Returns the record with every figure changed by up to 30 %. Its sums are right, except in one row of a hundred.
 *
 * @param row Number of the record over all partitions. A row changes by the same shares in both datasets, so users stay below voters.
 * @param round From 2 on, part of the regency's name or added to the year, because keys must differ.
 */
export function varyRecord(
  record: SampleRecord,
  dataset: DatasetName,
  { row, round, spread }: { readonly row: number; readonly round: number; readonly spread: Spread },
): SampleRecord {
  const { columns } = datasets[dataset];
  const counts = {} as Record<CountColumn, number>;
  for (const [index, column] of addends.entries()) {
    const figure = Number.parseInt(record[columns[column].field]!, 10) || 0;
    counts[column] = Math.round(figure * (0.7 + 0.6 * randomAt(row * addends.length + index)));
  }
  for (const { parts, whole } of sums) counts[whole] = parts.reduce((sum, part) => sum + counts[part], 0);
  if (row % rowsPerFault === 0) counts.dpt_total += 1;
  const varied: Record<string, string> = { ...record };
  for (const column of countColumns) varied[columns[column].field] = String(counts[column]);
  const { regency, election_year: year } = columns;
  if (round > 1 && spread === 'over regencies') varied[regency.field] += ` ${round}`;
  if (round > 1 && spread === 'over elections')
    varied[year.field] = String(Number(varied[year.field]) + 5 * (round - 1));
  return varied;
}

/** Returns a number from 0 to below 1 that depends only on `place`. */
function randomAt(place: number): number {
  let bits = Math.imul(place ^ (place >>> 16), 0x45d9f3b);
  bits = Math.imul(bits ^ (bits >>> 16), 0x45d9f3b);
  return ((bits ^ (bits >>> 16)) >>> 0) / 4_294_967_296;
}
