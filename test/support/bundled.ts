/** The bundled project, loaded once for all tests of a file. */

import declaredVoters from '../../pipelines/voters.ts';
import type { AnyPipeline, Pipeline } from '../../src/project/declaration.ts';
import { type LoadedProject, loadProject as load } from '../../src/project/load-project.ts';

type Column = keyof typeof declaredVoters.columns;

const project = await load();

export const { pipelines } = project;
export const voters = pipelineOf('voters') as Pipeline<Column>;
export const votingRightsUsers = pipelineOf('voting_rights_users') as Pipeline<Column>;
export const modelNames = project.models.map(({ name }) => name);
export const checkNames = project.checks.map(({ name }) => name);

export function loadProject(): LoadedProject {
  return project;
}

function pipelineOf(name: string): AnyPipeline {
  return pipelines.find(({ table }) => table === name)!;
}
