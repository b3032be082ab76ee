/** What the report of a snapshot is made from, whoever draws it. */

import type { Database } from '../runtime/database.ts';
import type { Language, Project } from '../project/declaration.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

export interface ReportFacts {
  /** As the snapshot declares it. */
  readonly project: Project;
  /** The snapshot's, open for reading. */
  readonly database: Database;
  readonly manifest: Manifest;
  /** What the source answered to the run that made the snapshot; none where that is no longer kept. */
  readonly answers: readonly AnswerOfRecord[];
  /** Id of the pinned snapshot; null if no snapshot is pinned. */
  readonly pinned: string | null;
  readonly language: Language;
}

/** Where the figures of a partition come from. */
export interface AnswerOfRecord {
  readonly dataset: string;
  /** Null for the full listing. */
  readonly partition: string | null;
  readonly url: string;
  /** ISO 8601. */
  readonly at: string;
  readonly status: number;
  readonly sha256: string;
}

/** Draws a report as one page of HTML; null where its tables have nothing to show. */
export type DrawReport = (facts: ReportFacts) => Promise<string | null>;
