/** Defines the input of a snapshot's report. */

import type { Database } from '../runtime/database.ts';
import type { Project } from '../project/declaration.ts';
import type { Language } from '../project/sql-file.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

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
