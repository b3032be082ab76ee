/** Writes the sample's figures as the service's records, with the planted faults in them. */

import voters from '../../pipelines/voters.ts';
import votingRightsUsers from '../../pipelines/voting-rights-users.ts';
import type { DeclaredPipeline } from '../../src/project/declaration.ts';
import type { District } from './districts.ts';
import { type CountColumn, type Fault, faults } from './faults.ts';
import { type Lists, makeFigures, type RegencyFigures, type Sexes } from './figures.ts';

/** A record as the service gives it: the source's field names, every value a string. */
export type SampleRecord = Readonly<Record<string, string>>;

type Column = keyof typeof voters.columns;
type Counts = Record<CountColumn, number>;

/** The records of both datasets, one for each regency, in the order of `districts`. */
export function makeRecords(districts: readonly District[]): Record<Fault['dataset'], readonly SampleRecord[]> {
  const figures = makeFigures(districts);
  for (const fault of faults) {
    if (!figures.some((row) => isIn(fault, row)))
      throw new Error(`A fault is planned for ${fault.regency}, which has no row.`);
  }
  return {
    voters: figures.map((row) => toRecord(voters, row)),
    voting_rights_users: figures.map((row) => toRecord(votingRightsUsers, row)),
  };
}

/** The text of one file: a JSON array with a record on each line. */
export function formatRecords(records: readonly SampleRecord[]): string {
  return `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`;
}

/** The name of a dataset's file: the last part of its endpoint. */
export function sampleFileName(dataset: Fault['dataset']): string {
  const { path } = dataset === 'voters' ? voters : votingRightsUsers;
  return `${path.slice(path.lastIndexOf('/') + 1)}.json`;
}

function isIn(fault: Fault, { district, regency }: RegencyFigures): boolean {
  return fault.dapilId === district.dapilId && fault.regency === regency;
}

function toRecord(pipeline: DeclaredPipeline<Column>, row: RegencyFigures): SampleRecord {
  const { district, regency } = row;
  const fault = faults.find((planned) => planned.dataset === pipeline.table && isIn(planned, row));
  const cells: Record<Column, string> = {
    election_year: '2024',
    election_type: 'DPR-RI',
    dapil_id: String(district.dapilId),
    dapil_name: district.dapilName,
    province: district.province,
    regency,
    ...writeCounts(miscount(addUp(listsOf(pipeline.table, row, fault)), fault), fault),
  };
  const columns = Object.keys(pipeline.columns) as Column[];
  return Object.fromEntries(columns.map((column) => [pipeline.columns[column].field, cells[column]]));
}

function listsOf(dataset: string, { voters: listed, users }: RegencyFigures, fault: Fault | undefined): Lists {
  if (dataset === 'voters') return listed;
  if (fault?.change.kind !== 'users above voters') return users;
  const { list, excess } = fault.change;
  return { ...users, [list]: { male: listed[list].male + excess, female: listed[list].female + excess } };
}

/** Gives all twelve counts of a row; every one of its sums holds. */
function addUp(lists: Lists): Counts {
  const sum = (sex: keyof Sexes): number => lists.dpt[sex] + lists.dptb[sex] + lists.dpk[sex];
  const both = ({ male, female }: Sexes): number => male + female;
  return {
    dpt_male: lists.dpt.male,
    dpt_female: lists.dpt.female,
    dpt_total: both(lists.dpt),
    dptb_male: lists.dptb.male,
    dptb_female: lists.dptb.female,
    dptb_total: both(lists.dptb),
    dpk_male: lists.dpk.male,
    dpk_female: lists.dpk.female,
    dpk_total: both(lists.dpk),
    male_total: sum('male'),
    female_total: sum('female'),
    grand_total: sum('male') + sum('female'),
  };
}

function miscount(counts: Counts, fault: Fault | undefined): Counts {
  if (fault?.change.kind !== 'add') return counts;
  const changed = { ...counts };
  for (const column of [fault.column, ...fault.change.also]) changed[column] += fault.change.amount;
  return changed;
}

function writeCounts(counts: Counts, fault: Fault | undefined): Record<CountColumn, string> {
  const columns = Object.keys(counts) as CountColumn[];
  const cells = Object.fromEntries(columns.map((column) => [column, String(counts[column])])) as Record<
    CountColumn,
    string
  >;
  if (fault !== undefined) cells[fault.column] = deface(cells[fault.column], fault);
  return cells;
}

function deface(digits: string, { change }: Fault): string {
  switch (change.kind) {
    case 'blank':
      return '';
    case 'thousands separator':
      return digits.replace(/\B(?=(\d{3})+$)/g, '.');
    case 'trailing space':
      return `${digits} `;
    default:
      return digits;
  }
}
