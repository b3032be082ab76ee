/** The part of a project that a snapshot and a landing store. */

import type { Project } from './declaration.ts';

/** Leaves out what only the project's files have: folders, and the code of its report. */
export function storedPart(project: Project): Project {
  const { name, title, description, auth, examples, pipelines, models, checks, report, workbook, sampleNotice } =
    project;
  const stored = { name, title, description, auth, examples, pipelines, models, checks };
  return {
    ...stored,
    ...(report !== undefined && { report }),
    ...(workbook !== undefined && { workbook }),
    ...(sampleNotice !== undefined && { sampleNotice }),
  };
}
