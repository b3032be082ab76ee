/** Defines the input of a snapshot's report. */

import type { Database } from '../runtime/database.ts';
import type { LandedResponse } from '../land/formats.ts';
import type { Project } from '../project/declaration.ts';
import type { Language } from '../project/sql-file.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';

export interface ReportFacts {
  /** As stored in the snapshot. */
  readonly project: Project;
  readonly database: Database;
  readonly manifest: Manifest;
  /** Responses to the run that created the snapshot. Empty if they are no longer stored. */
  readonly responses: readonly LandedResponse[];
  /** ID of the pinned snapshot, or null. */
  readonly pinned: string | null;
  readonly language: Language;
}

export type DrawReport = (facts: ReportFacts) => Promise<string | null>;
