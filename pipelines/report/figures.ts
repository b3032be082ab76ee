/** The figures that the report shows, read from the views of a snapshot. */

import { type Database, quoteText } from '../../src/duckdb/database.ts';
import { messageOf, type MessageParts } from '../../src/check-messages.ts';
import type { Language, Project } from '../../src/pipeline.ts';

type Sex = 'male' | 'female' | 'both';

/** Turnout of a place in percent, by sex; null where it cannot be reckoned. */
export interface Turnout {
  readonly name: string;
  readonly male: number | null;
  readonly female: number | null;
  readonly both: number | null;
  readonly users: number;
  readonly voters: number;
}

export interface ListFigures {
  readonly list: string;
  readonly voters: number;
  readonly users: number;
}

export interface ViolationFigures extends MessageParts {
  readonly severity: string;
  readonly district: number;
  readonly place: string;
  readonly said: string;
  readonly isNew: boolean;
  readonly since: string;
}

export interface Figures {
  readonly election: string;
  readonly nation: Readonly<Record<Sex, Readonly<Record<string, number>>>>;
  readonly provinces: readonly Turnout[];
  readonly districts: readonly Turnout[];
  readonly highest: readonly Turnout[];
  readonly lowest: readonly Turnout[];
  readonly lists: readonly ListFigures[];
  /** The most important first: new before standing, errors before warnings. */
  readonly violations: readonly ViolationFigures[];
  readonly restated: readonly {
    readonly place: string;
    readonly column: string;
    readonly before: string;
    readonly after: string;
  }[];
}

/** Rows of a long list that a page can carry; what is beyond them is counted. */
export const mostRows = 200;

const percent = 'users_per_dpt_and_dpk_pct';

/** @throws where the snapshot has no turnout to show. */
export async function readFigures(
  database: Database,
  project: Project,
  { snapshot, language }: { readonly snapshot: string; readonly language: Language },
): Promise<Figures | null> {
  const [election] = await database.rows<{ election_year: number; election_type: string }>(
    'SELECT election_year, election_type FROM turnout_national ORDER BY election_year DESC, election_type LIMIT 1',
  );
  if (election === undefined) return null;
  const { election_year: year, election_type: type } = election;
  const here = `election_year = ${year} AND election_type = ${quoteText(type)}`;
  const turnout = (view: string, name: string, key: string, order: string, limit: number, where = 'true') =>
    database.rows<Turnout>(
      `SELECT any_value(${name}) AS name,
         max(${percent}) FILTER (sex = 'male') AS male, max(${percent}) FILTER (sex = 'female') AS female,
         max(${percent}) FILTER (sex = 'both') AS "both",
         coalesce(max(users_all) FILTER (sex = 'both'), 0)::DOUBLE AS users, coalesce(max(voters_all) FILTER (sex = 'both'), 0)::DOUBLE AS voters
       FROM ${view} WHERE ${here} AND ${where} GROUP BY ${key} ORDER BY "both" ${order} NULLS LAST, ${key} LIMIT ${limit}`,
    );
  const regency = "regency || ', ' || province";
  const regencies = (order: string) =>
    turnout('turnout', regency, 'dapil_id, province, regency', order, 10, `is_complete AND ${percent} IS NOT NULL`);
  return {
    election: `${type} ${year}`,
    nation: await readNation(database, here),
    provinces: await turnout('turnout_by_province', 'province', 'province', 'DESC', mostRows),
    districts: await turnout('turnout_by_dapil', 'dapil_name', 'dapil_id', 'DESC', mostRows),
    highest: await regencies('DESC'),
    lowest: await regencies('ASC'),
    // From men and women alone, as every sum over lists should be.
    lists: await database.rows<ListFigures>(
      `SELECT list, coalesce(sum(people) FILTER (dataset = 'voters'), 0)::DOUBLE AS voters,
         coalesce(sum(people) FILTER (dataset = 'voting_rights_users'), 0)::DOUBLE AS users
       FROM fact_people WHERE election = concat_ws(' ', ${year}, ${quoteText(type)}) GROUP BY list ORDER BY list_position(['DPT', 'DPTb', 'DPK'], list)`,
    ),
    violations: await readViolations(database, project, { snapshot, language }),
    restated: await database.rows(
      `SELECT concat_ws(', ', regency, province, dataset) AS place, column_name AS "column",
         coalesce(old_value, '–') AS before, coalesce(new_value, '–') AS after
       FROM changes WHERE snapshot_id = ${quoteText(snapshot)} ORDER BY ALL LIMIT ${mostRows}`,
    ),
  };
}

async function readNation(database: Database, here: string): Promise<Figures['nation']> {
  const rows = await database.rows<{ sex: Sex } & Record<string, number>>(
    `SELECT sex, regencies, regencies_left_out, regencies_inconsistent,
       COLUMNS('^(users|voters)_')::DOUBLE FROM turnout_national WHERE ${here}`,
  );
  return Object.fromEntries(rows.map((row) => [row.sex, row] as const)) as unknown as Figures['nation'];
}

async function readViolations(
  database: Database,
  project: Project,
  { snapshot, language }: { readonly snapshot: string; readonly language: Language },
): Promise<ViolationFigures[]> {
  const rows = await database.rows<Omit<ViolationFigures, 'said'>>(
    `SELECT dataset, check_name, column_name, raw_value, expected, actual, severity, dapil_id AS district,
       concat_ws(', ', regency, province) AS place, first_snapshot = ${quoteText(snapshot)} AS "isNew", strftime(since, '%Y-%m-%d') AS since
     FROM violations ORDER BY first_snapshot <> ${quoteText(snapshot)}, severity, dataset, check_name, dapil_id, place, column_name LIMIT ${mostRows}`,
  );
  return rows.map((row) => ({ ...row, said: messageOf(project, row, language) }));
}
