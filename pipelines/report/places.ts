/** Reads the turnout of places: provinces, districts and regencies, and what their rates cover. */

import type { Database } from '../../src/runtime/database.ts';
import { type Count, figuresOf, isKnown, queryOf, type Rate, type Row } from './figure.ts';
import type { Election } from './election.ts';

const sexes = ['both', 'male', 'female'] as const;
export type Sex = (typeof sexes)[number];

/** Turnout of a place: users divided by voters in the DPT and the DPK, over the regencies compared. */
export interface Place {
  readonly name: string;
  readonly province: string | null;
  readonly turnout: Readonly<Record<Sex, Rate>>;
  /** The parts of the turnout of both sexes. A regency has them also if its figures contradict each other. */
  readonly users: Count;
  readonly voters: Count;
  /** Why a regency isn't part of any rate, or `compared`; null for a place with several regencies. */
  readonly status: string | null;
  /** What the rates of a place with several regencies cover; null for a regency. */
  readonly scope: Scope | null;
  /** The worst severity of the violations of a regency; null if it has none. */
  readonly worst: string | null;
  readonly row: string;
  readonly key: string;
  readonly kemendagriCode: string | null;
}

const reasons = ['missing', 'unknown', 'zero_denominator', 'contradicting'] as const;

export interface Scope {
  /** The part of the known voters whose regency is compared. */
  readonly voters: Rate;
  readonly withContradicting: Rate;
  /** Regencies that aren't compared. */
  readonly left: Readonly<Record<(typeof reasons)[number], Count>>;
}

/** A place whose compared regencies have a smaller part of its known voters isn't ranked. In percent. */
export const leastScope = 95;

/** Returns whether the rates of a place cover too little of it to be ranked. */
export function isPartial({ scope, turnout }: Place): boolean {
  if (scope === null || !isKnown(turnout.both)) return false;
  const { numerator, denominator } = scope.voters;
  return 100n * (numerator ?? 0n) < BigInt(leastScope) * (denominator ?? 0n);
}

/** The first or last regencies by turnout, and the number of those with the value of the last one. */
export interface Ranking {
  readonly places: readonly Place[];
  readonly tied: Count;
}

/** Maximum rows per table. The others are counted. */
const maxRegencies = 2000;
const rankingLength = 10;
export const rate = 'users_per_dpt_and_dpk_pct';

export function scopeOf({ count, rate: rateOf }: ReturnType<typeof figuresOf>): Omit<Scope, 'voters'> {
  return {
    withContradicting: rateOf(
      `${rate}_with_contradicting`,
      'users_with_contradicting',
      'voters_dpt_and_dpk_with_contradicting',
    ),
    left: Object.fromEntries(reasons.map((reason) => [reason, count(`regencies_${reason}`)])) as Scope['left'],
  };
}

export function readProvinces(database: Database, { condition }: Election): Promise<Place[]> {
  return readPlaces(database, 'turnout_sums', ['level', 'province'], {
    from: `(SELECT t.*, kemendagri_code FROM turnout_sums t LEFT JOIN dim_province
      ON province_natural_key = concat_ws(' / ', election_year, election_type, t.province)) WHERE level = 'province' AND ${condition}`,
    order: 'rate DESC NULLS LAST, province',
    limit: maxRegencies,
  });
}

export function readDistricts(database: Database, { condition }: Election): Promise<Place[]> {
  return readPlaces(database, 'turnout_sums', ['level', 'dapil_id'], {
    from: `turnout_sums WHERE level = 'dapil' AND ${condition}`,
    order: 'rate DESC NULLS LAST, dapil_id',
    limit: maxRegencies,
  });
}

const regencyKey = ['dapil_id', 'province', 'regency'] as const;

export function readRegencies(database: Database, { condition }: Election): Promise<Place[]> {
  return readPlaces(database, 'turnout', regencyKey, {
    from: `(FROM turnout LEFT JOIN (
      SELECT dapil_id, province, regency, min(severity) AS worst FROM violations WHERE ${condition} GROUP BY ALL
    ) USING (dapil_id, province, regency)) WHERE ${condition}`,
    order: 'province, regency, dapil_id',
    limit: maxRegencies,
  });
}

export async function readRanking(
  database: Database,
  { condition }: Election,
  direction: 'DESC' | 'ASC',
): Promise<Ranking> {
  const compared = `turnout WHERE ${condition} AND rate_status = 'compared'`;
  const places = await readPlaces(database, 'turnout', regencyKey, {
    from: compared,
    order: `rate ${direction}, regency, province, dapil_id`,
    limit: rankingLength,
  });
  const last = places.at(-1)?.turnout.both;
  const [row] = await database.rows<Row>(
    `SELECT count(*) AS tied FROM ${compared} AND sex = 'both'
     AND users_all::HUGEINT * ${last?.denominator ?? 0} = voters_dpt_and_dpk::HUGEINT * ${last?.numerator ?? 1}`,
  );
  return {
    places,
    tied: { name: `finding.tied_${direction === 'DESC' ? 'highest' : 'lowest'}`, count: row!['tied'] as bigint },
  };
}

interface PlacesQuery {
  readonly from: string;
  /** `rate` is the turnout of both sexes. */
  readonly order: string;
  readonly limit: number;
}

async function readPlaces(
  database: Database,
  view: string,
  key: readonly string[],
  { from, order, limit }: PlacesQuery,
): Promise<Place[]> {
  const isRegency = view === 'turnout';
  const [users, voters] = isRegency
    ? ['users_all', 'voters_dpt_and_dpk']
    : ['users_compared', 'voters_dpt_and_dpk_compared'];
  const perSex = sexes.flatMap((sex) =>
    [users, voters].map((column) => `max(${column}) FILTER (sex = '${sex}') AS ${column}_${sex}`),
  );
  const scope = isRegency
    ? []
    : [
        'voters_compared',
        'voters_all',
        'users_with_contradicting',
        'voters_dpt_and_dpk_with_contradicting',
        ...reasons.map((reason) => `regencies_${reason}`),
      ].map((column) => `max(${column}) FILTER (sex = 'both') AS ${column}`);
  const also = ['dapil_name', 'rate_status', 'kemendagri_code', 'worst'].map((name) => `any_value(${name}) AS ${name}`);
  const names = key.join(', ');
  // The places are chosen by their row of both sexes: to group all rows takes much longer.
  const rows = await database.rows<Row>(
    `WITH given AS (
       SELECT NULL::VARCHAR AS dapil_name, NULL::VARCHAR AS rate_status, NULL::VARCHAR AS kemendagri_code, NULL::VARCHAR AS worst WHERE false
       UNION ALL BY NAME SELECT * FROM ${from}
     ),
     chosen AS (SELECT ${names}, ${rate} AS rate FROM given WHERE sex = 'both' ORDER BY ${order} LIMIT ${limit})
     SELECT ${names}, rate, ${[...perSex, ...scope, ...also].join(', ')}
     FROM given JOIN chosen USING (${names}) GROUP BY ${names}, rate ORDER BY ${order}`,
  );
  return rows.map((row) => {
    const place = key.map((column) => [column, String(row[column])] as const);
    const text = (column: string) => (row[column] ?? null) as string | null;
    const hasRate = !isRegency || row['rate_status'] === 'compared';
    const turnout = sexes.map((sex) => [
      sex,
      figuresOf(view, hasRate ? row : { ...row, [`${users}_${sex}`]: null, [`${voters}_${sex}`]: null }, [
        ...place,
        ['sex', sex],
      ]).rate(rate, `${users}_${sex}`, `${voters}_${sex}`),
    ]);
    const parts = { [users]: row[`${users}_both`]!, [voters]: row[`${voters}_both`]! };
    const figures = figuresOf(view, { ...row, ...parts }, [...place, ['sex', 'both']]);
    return {
      name: text('regency') ?? text('dapil_name') ?? text('province') ?? String(row['dapil_id']),
      province: isRegency ? text('province') : null,
      turnout: Object.fromEntries(turnout) as Place['turnout'],
      users: figures.count(users),
      voters: figures.count(voters),
      status: text('rate_status'),
      scope: isRegency
        ? null
        : { voters: figures.rate('voters_compared_pct', 'voters_compared', 'voters_all'), ...scopeOf(figures) },
      row: `${view}?${queryOf(place)}`,
      key: placeKey(row),
      kemendagriCode: text('kemendagri_code'),
      worst: text('worst'),
    };
  });
}

/** Returns the key of a regency, which connects regencies and problems. */
export function placeKey(row: Row): string {
  return JSON.stringify(regencyKey.map((column) => row[column] ?? null));
}
