/** Chooses the election that the report is about. */

import { type Database, quoteText } from '../../src/runtime/database.ts';

export interface Election {
  readonly title: string;
  readonly year: number;
  readonly condition: string;
  /** Value of `election` in the star, such as 2024 DPR-RI. */
  readonly name: string;
  readonly others: readonly string[];
}

/** Returns the newest election, apart from those with less than half of the regencies of the largest; null if the snapshot has no regencies. */
export async function readElection(database: Database): Promise<Election | null> {
  const [newest, ...older] = await database.rows<{ election_year: number; election_type: string }>(
    `SELECT election_year, election_type FROM turnout_national
     ORDER BY regencies * 2 >= max(regencies) OVER () DESC, election_year DESC, election_type`,
  );
  if (newest === undefined) return null;
  const titleOf = (election: typeof newest) => `${election.election_type} ${election.election_year}`;
  return {
    title: titleOf(newest),
    year: newest.election_year,
    name: `${newest.election_year} ${newest.election_type}`,
    condition: `election_year = ${newest.election_year} AND election_type = ${quoteText(newest.election_type)}`,
    others: older.map(titleOf),
  };
}
