/** Reads the figures of the nation and of the lists from the views of a snapshot. */

import { type Database, quoteText } from '../../src/runtime/database.ts';
import type { Election } from './election.ts';
import { type Count, figuresOf, type Rate, type Row } from './figure.ts';
import { rate, type Scope, scopeOf, type Sex } from './places.ts';

export interface Sums extends Omit<Scope, 'voters'> {
  readonly turnout: Rate;
  readonly users: Count;
  readonly voters: Count;
  readonly regencies: Count;
  readonly compared: Count;
  readonly inUsers: Count;
  readonly inVoters: Count;
  /** Regencies with an unknown total, which `users` and `voters` don't include. */
  readonly unknownUsers: Count;
  readonly unknownVoters: Count;
}

export interface ListFigures {
  readonly list: string;
  readonly voters: Count;
  readonly users: Count;
  readonly rate: Rate;
  readonly shareOfVoters: Rate;
  readonly shareOfUsers: Rate;
}

export async function readNation(database: Database, { condition }: Election): Promise<Readonly<Record<Sex, Sums>>> {
  const rows = await database.rows<Row>(`FROM turnout_sums WHERE level = 'national' AND ${condition}`);
  return Object.fromEntries(
    rows.map((row) => {
      const { count, rate: rateOf } = figuresOf('turnout_sums', row, [
        ['level', 'national'],
        ['sex', String(row['sex'])],
      ]);
      const sums: Sums = {
        turnout: rateOf(rate, 'users_compared', 'voters_dpt_and_dpk_compared'),
        users: count('users_all'),
        voters: count('voters_all'),
        regencies: count('regencies'),
        compared: count('regencies_compared'),
        inUsers: count('regencies_in_users'),
        inVoters: count('regencies_in_voters'),
        unknownUsers: count('unknown_users'),
        unknownVoters: count('unknown_voters'),
        ...scopeOf({ count, rate: rateOf }),
      };
      return [row['sex'], sums];
    }),
  ) as Record<Sex, Sums>;
}

/** The rows of fact_people with a known sex. */
export const knownSexes = [
  ['sex', 'male'],
  ['sex', 'female'],
] as const;

/** Reads the lists, each with its rate, and its share of all lists in the regencies compared. */
export async function readLists(database: Database, { condition, name }: Election): Promise<ListFigures[]> {
  const here = `${condition} AND sex = 'both'`;
  const rows = await database.rows<Row>(
    `WITH star AS (
       SELECT list, sum(voters)::BIGINT AS voters, sum(users)::BIGINT AS users
       FROM fact_people WHERE election = ${quoteText(name)} AND sex <> 'unknown' GROUP BY ALL
     ),
     compared AS (
       SELECT sum(COLUMNS('^(users|voters)_(all|dpt|dptb|dpk)$'))::BIGINT AS '\\0' FROM turnout WHERE ${here} AND rate_status = 'compared'
     )
     SELECT l.*, star.voters, star.users, users_all, voters_all,
       CASE list WHEN 'DPT' THEN users_dpt WHEN 'DPTb' THEN users_dptb ELSE users_dpk END AS list_users,
       CASE list WHEN 'DPT' THEN voters_dpt WHEN 'DPTb' THEN voters_dptb ELSE voters_dpk END AS list_voters
     FROM turnout_by_list l JOIN star USING (list), compared
     WHERE ${here} ORDER BY list_position(['DPT', 'DPTb', 'DPK'], list)`,
  );
  return rows.map((row) => {
    const list = String(row['list']);
    const star = figuresOf('fact_people', row, [['list', list], ...knownSexes]);
    const compared = figuresOf('turnout_by_list', row, [
      ['list', list],
      ['sex', 'both'],
    ]);
    const finding = figuresOf('finding', row, [['list', list]]);
    return {
      list,
      voters: star.count('voters'),
      users: star.count('users'),
      rate: compared.rate('users_per_voters_pct', 'users_compared', 'voters_compared'),
      shareOfVoters: finding.rate('share_of_voters', 'list_voters', 'voters_all'),
      shareOfUsers: finding.rate('share_of_users', 'list_users', 'users_all'),
    };
  });
}

/** Reads provinces and regencies without an official name, as [regency, province]. Regencies of such a province aren't listed separately. */
export async function readWithoutCode(
  database: Database,
  { name }: Election,
): Promise<(readonly [regency: string | null, province: string])[]> {
  const rows = await database.rows<{ regency: string | null; province: string }>(
    `SELECT DISTINCT CASE WHEN p.kemendagri_code IS NULL THEN NULL ELSE regency END AS regency, province
     FROM fact_people JOIN dim_regency r USING (regency_key) JOIN dim_province p USING (province_key)
     WHERE election = ${quoteText(name)} AND r.kemendagri_code IS NULL
     ORDER BY province, regency LIMIT 100`,
  );
  return rows.map(({ regency, province }) => [regency, province]);
}
