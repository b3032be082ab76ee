/** Reads the problems of a snapshot: violations by place, broken sums, and values that the source restated. */

import { type Database, quoteText } from '../../src/runtime/database.ts';
import { messagePieces, type MessagePiece, type MessageParts } from '../../src/load/check-messages.ts';
import { type Count, figuresOf, type Row } from './figure.ts';
import type { Election } from './election.ts';
import { knownSexes } from './figures.ts';
import { placeKey } from './places.ts';
import { sumChecks, summedColumns, type Project } from '../../src/project/declaration.ts';
import type { Language } from '../../src/project/sql-file.ts';

/** A declared sum over all rows of a dataset: the source's totals, the sum of the known parts, and the difference. */
export interface Link {
  readonly dataset: string;
  readonly check: string;
  readonly total: string;
  readonly parts: readonly string[];
  readonly sourceTotal: Count;
  readonly knownParts: Count;
  readonly difference: Count;
  readonly rows: Count;
}

/** The difference between the grand total of a dataset and the sum of men and women on all lists. */
export interface Chain {
  readonly dataset: string;
  readonly grandTotal: Count;
  readonly difference: Count;
  readonly leaves: Count;
}

export interface Violation extends MessageParts {
  readonly severity: string;
  readonly isNew: boolean;
  readonly since: string;
  readonly pieces: readonly MessagePiece[];
  readonly row: Row;
}

/** All violations of a regency or, if `regency` is null, of a district. */
export interface Problem {
  readonly key: string;
  readonly dapilId: number;
  readonly dapilName: string | null;
  readonly province: string | null;
  readonly regency: string | null;
  readonly violations: readonly Violation[];
}

export interface Problems {
  readonly places: readonly Problem[];
  readonly placesLeft: Count;
  readonly bySeverity: readonly {
    readonly severity: string;
    readonly rows: Count;
    readonly fresh: Count;
    readonly resolved: Count;
  }[];
  readonly elsewhere: Count;
  readonly byCheck: Readonly<Record<string, Count>>;
}

export interface Restated {
  readonly row: Row;
  readonly place: string;
  readonly dataset: string;
  readonly column: string;
  readonly before: string | null;
  readonly after: string | null;
}

const maxPlaces = 200;
const maxRestated = 200;

export async function readLinks(database: Database, project: Project, { condition }: Election): Promise<Link[]> {
  const listed = await database.rows<Row>(
    `SELECT dataset, check_name, sum(difference)::BIGINT AS difference, count(*) AS "rows" FROM reconciliation WHERE ${condition} GROUP BY ALL`,
  );
  const links: Link[] = [];
  for (const pipeline of project.pipelines) {
    const { table } = pipeline;
    const sums = summedColumns(pipeline).map((column) => `sum(${column})::BIGINT AS ${column}`);
    const [totals] = await database.rows<Row>(`SELECT ${sums.join(', ')} FROM ${table} WHERE ${condition}`);
    for (const { name, whole, parts } of sumChecks(pipeline)) {
      const key = [
        ['dataset', table],
        ['check_name', name],
      ] as const;
      const found = listed.find((row) => row['dataset'] === table && row['check_name'] === name);
      const { count } = figuresOf('reconciliation', found ?? { difference: 0, rows: 0 }, key);
      const known = parts.reduce((sum, part) => sum + BigInt(totals![part] ?? 0), 0n);
      links.push({
        dataset: table,
        check: name,
        total: whole,
        parts,
        sourceTotal: figuresOf(table, totals!, []).count(whole),
        knownParts: figuresOf('finding', { known_parts: known }, key).count('known_parts'),
        difference: count('difference'),
        rows: count('rows'),
      });
    }
  }
  return links;
}

/** Reads the difference between the grand total and the leaves of the star schema for each dataset. */
export async function readChains(database: Database, { name }: Election, links: readonly Link[]): Promise<Chain[]> {
  const [leaves] = await database.rows<Row>(
    `SELECT sum(voters)::BIGINT AS voters, sum(users)::BIGINT AS users FROM fact_people WHERE election = ${quoteText(name)} AND sex <> 'unknown'`,
  );
  const measures = [
    ['voters', 'voters'],
    ['voting_rights_users', 'users'],
  ] as const;
  return measures.map(([dataset, measure]) => {
    const chain = ['grand_total', 'male_total', 'female_total'].map((total) =>
      links.find((link) => link.dataset === dataset && link.total === total)!,
    );
    const key = [['dataset', dataset] as const, ...chain.map(({ total }) => ['total_column', total] as const)];
    const difference = chain.reduce((sum, link) => sum + link.difference.count!, 0n);
    return {
      dataset,
      grandTotal: chain[0]!.sourceTotal,
      difference: figuresOf('reconciliation', { difference }, key).count('difference'),
      leaves: figuresOf('fact_people', leaves!, knownSexes).count(measure),
    };
  });
}

export async function readProblems(
  database: Database,
  project: Project,
  { condition }: Election,
  { snapshot, language }: { readonly snapshot: string; readonly language: Language },
): Promise<Problems> {
  const here = quoteText(snapshot);
  const rows = await database.rows<Row>(
    `WITH places AS (
       SELECT dapil_id, province, regency, min(severity) AS worst, bool_or(first_snapshot = ${here}) AS fresh, count(*) OVER () AS place_count
       FROM violations WHERE ${condition} GROUP BY dapil_id, province, regency
     ),
     first_places AS (FROM places ORDER BY fresh DESC, worst, dapil_id, province NULLS FIRST, regency LIMIT ${maxPlaces})
     SELECT v.* EXCLUDE (message), v.first_snapshot = ${here} AS is_new, strftime(since, '%Y-%m-%d') AS since_date, worst, fresh, place_count, d.dapil_name
     FROM violations v JOIN first_places p ON p.dapil_id = v.dapil_id
       AND p.province IS NOT DISTINCT FROM v.province AND p.regency IS NOT DISTINCT FROM v.regency
     LEFT JOIN (FROM dim_dapil WHERE ${condition}) d ON d.dapil_id = v.dapil_id
     WHERE ${condition.replaceAll('election_', 'v.election_')}
     ORDER BY fresh DESC, worst, v.dapil_id, v.province NULLS FIRST, v.regency, severity, dataset, check_name, column_name`,
  );
  const places = new Map<string, Problem & { violations: Violation[] }>();
  for (const row of rows) {
    const key = placeKey(row);
    const parts = row as unknown as MessageParts & { severity: string };
    const place = places.get(key) ?? {
      key,
      dapilId: Number(row['dapil_id']),
      dapilName: row['dapil_name'] as string | null,
      province: row['province'] as string | null,
      regency: row['regency'] as string | null,
      violations: [],
    };
    places.set(key, place);
    place.violations.push({
      ...parts,
      isNew: row['is_new'] === true,
      since: String(row['since_date']),
      pieces: messagePieces(project, parts, language),
      row,
    });
  }
  const all = Number(rows[0]?.['place_count'] ?? 0);
  return {
    places: [...places.values()],
    placesLeft: { name: 'finding.places_left', count: BigInt(all - places.size) },
    ...(await countProblems(database, { condition, here })),
  };
}

async function countProblems(
  database: Database,
  { condition, here }: { readonly condition: string; readonly here: string },
): Promise<Pick<Problems, 'bySeverity' | 'elsewhere' | 'byCheck'>> {
  const severities = await database.rows<Row>(
    `SELECT severity, count(*) FILTER (resolved_snapshot IS NULL) AS "rows",
       count(*) FILTER (resolved_snapshot IS NULL AND first_snapshot = ${here}) AS fresh, count(*) FILTER (resolved_snapshot = ${here}) AS resolved
     FROM violations_log WHERE ${condition} GROUP BY ALL ORDER BY ALL`,
  );
  const checks = await database.rows<Row>(
    `SELECT check_name, count(*) AS "rows" FROM violations WHERE ${condition} GROUP BY ALL`,
  );
  const [elsewhere] = await database.rows<Row>(
    `SELECT count(*) AS violations_elsewhere FROM violations WHERE NOT (${condition})`,
  );
  return {
    bySeverity: severities.map((row) => {
      const severity = String(row['severity']);
      const finding = figuresOf('finding', row, [['severity', severity]]);
      return {
        severity,
        rows: figuresOf('violations', row, [['severity', severity]]).count('rows'),
        fresh: { ...finding.count('fresh'), name: `finding.new?severity=${severity}` },
        resolved: finding.count('resolved'),
      };
    }),
    elsewhere: figuresOf('finding', elsewhere!, []).count('violations_elsewhere'),
    byCheck: Object.fromEntries(
      checks.map((row) => {
        const check = String(row['check_name']);
        return [check, figuresOf('violations', row, [['check_name', check]]).count('rows')];
      }),
    ),
  };
}

/** Reads the values that the source changed since the previous snapshot, and the number of those that aren't shown. */
export async function readRestated(
  database: Database,
  { condition }: Election,
  snapshot: string,
): Promise<{ readonly rows: readonly Restated[]; readonly left: Count }> {
  const here = `${condition} AND snapshot_id = ${quoteText(snapshot)}`;
  const rows = await database.rows<Row>(`FROM changes WHERE ${here} ORDER BY ALL LIMIT ${maxRestated}`);
  const [all] = await database.rows<Row>(`SELECT count(*) AS "rows" FROM changes WHERE ${here}`);
  const text = (row: Row, column: string) => row[column] as string | null;
  return {
    rows: rows.map((row) => ({
      row,
      place: [text(row, 'regency'), text(row, 'province')].filter((name) => name !== null).join(', '),
      dataset: String(row['dataset']),
      column: String(row['column_name']),
      before: text(row, 'old_value'),
      after: text(row, 'new_value'),
    })),
    left: { name: 'finding.restated_left', count: BigInt(all!['rows']!) - BigInt(rows.length) },
  };
}
