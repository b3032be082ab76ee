/** Declares pipelines and projects: what cannot work is refused when it is loaded. */

import { complaintsAboutPipeline, complaintsAboutProject } from './definition-complaints.ts';
import { RekapError } from '../errors.ts';
import type { Pipeline, Project } from '../pipeline.ts';

/**
 * Declares a pipeline and checks the declaration, so that a mistake shows when the program starts.
 *
 * @throws `pipeline-definition` naming the pipeline and the part that is wrong.
 */
export function definePipeline<const Column extends string>(pipeline: Pipeline<Column>): Pipeline<Column> {
  for (const complaint of complaintsAboutPipeline(pipeline)) {
    throw new RekapError(
      'pipeline-definition',
      `Pipeline "${pipeline.table}": ${complaint}.`,
      'Correct its file in pipelines/.',
    );
  }
  return pipeline;
}

/**
 * Puts a project together and checks that its parts agree, as `definePipeline` does for each pipeline by itself.
 *
 * @throws `pipeline-definition` naming what contradicts what.
 */
export function defineProject(project: Project): Project {
  for (const complaint of complaintsAboutProject(project)) {
    throw new RekapError(
      'pipeline-definition',
      `Project: ${complaint}.`,
      'Correct pipelines/index.ts or the files it lists.',
    );
  }
  return project;
}
