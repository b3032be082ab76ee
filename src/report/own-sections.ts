/** Draws the sections that a project adds to its report. */

import type { Project } from '../project/declaration.ts';
import type { Language } from '../project/sql-file.ts';
import type { Database } from '../runtime/database.ts';
import { Html, html, table } from '../runtime/html.ts';
import { formatNumber } from '../runtime/text.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

/** Draws each section with its text and the result of its query. */
export async function drawOwnSections({ project, database }: ReportFacts): Promise<Html[]> {
  const sections: Html[] = [];
  for (const { title, text = [], query } of project.report ?? []) {
    const rows =
      query === undefined
        ? null
        : await database.rows<Record<string, Cell>>(`FROM (${query.trim().replace(/;$/, '')})`);
    sections.push(
      html`<section>
        <h2>${title}</h2>
        ${[text].flat().map((paragraph) => html`<p>${paragraph}</p>`)} ${rows === null ? null : ownTable(rows, title)}
      </section>`,
    );
  }
  return sections;
}

const maxOwnRows = 500;

/** Decimals, dates and times have types of DuckDB. */
type Cell = string | number | bigint | boolean | null | undefined | { toString(): string };

function ownTable(rows: readonly Record<string, Cell>[], title: string): Html {
  if (rows.length === 0) return html`<p class="quiet">No rows.</p>`;
  const names = Object.keys(rows[0]!);
  const numbers = names.flatMap((name, place) =>
    rows.every((row) => row[name] === null || isNumber(row[name])) ? [place] : [],
  );
  const shown = rows.slice(0, maxOwnRows).map((row) => names.map((name) => cellOf(row[name])));
  const caption =
    rows.length > maxOwnRows ? `${title}: the first ${maxOwnRows} of ${formatNumber(rows.length)} rows` : title;
  const head = names.map((name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll('_', ' '));
  return table(shown, { caption, head, numbers });
}

function isNumber(value: Cell): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function cellOf(value: Cell): string {
  if (value === null || value === undefined) return '–';
  return isNumber(value) ? formatNumber(value) : String(value);
}

export interface ReportFacts {
  /** As stored in the snapshot. */
  readonly project: Project;
  readonly database: Database;
  readonly manifest: Manifest;
  /** Responses to the run that created the snapshot. Empty if they are no longer stored. */
  readonly responses: readonly StoredResponse[];
  /** ID of the pinned snapshot, or null. */
  readonly pinned: string | null;
  readonly language: Language;
}

/** A response that the landing still contains. */
export interface StoredResponse {
  readonly dataset: string;
  /** Null for the full listing. */
  readonly partition: string | null;
  readonly url: string;
  readonly at: string;
  readonly status: number;
  readonly sha256: string;
}

export type DrawReport = (facts: ReportFacts) => Promise<string | null>;
