/** A project is validated whenever it is loaded, and its definition depends on all its parts. */

import { expect, it, vi } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { projectDefinition } from '../../src/load/schema.ts';
import type { Project } from '../../src/project/declaration.ts';
import { loadProject as loadAgain } from '../../src/project/load-project.ts';
import { storedPart } from '../../src/project/stored.ts';

const { checked } = vi.hoisted(() => ({ checked: [] as unknown[] }));

vi.mock('../../src/project/validate.ts', async (load) => {
  const real = await load<typeof import('../../src/project/validate.ts')>();
  return {
    ...real,
    findProblems(project: Project) {
      checked.push(project);
      return real.findProblems(project);
    },
  };
});

it('is validated whenever it is loaded', async () => {
  const before = checked.length;
  const project = await loadAgain();
  expect(checked.slice(before)).toEqual([storedPart(project)]);
});

it('has another definition if a row check, a check across tables or a view changes', () => {
  const project = loadProject();
  const [first, ...others] = project.pipelines as [Project['pipelines'][number], ...Project['pipelines'][number][]];
  const [model, ...models] = project.models as [Project['models'][number], ...Project['models'][number][]];
  const [check, ...checks] = project.checks as [Project['checks'][number], ...Project['checks'][number][]];
  const changed: Partial<Project>[] = [
    { pipelines: [{ ...first, checks: first.checks.slice(1) }, ...others] },
    { pipelines: [{ ...first, checks: first.checks.map((each) => ({ ...each, severity: 'warning' })) }, ...others] },
    { models: [{ ...model, sql: `${model.sql} LIMIT 1` }, ...models] },
    { checks: [{ ...check, sql: `${check.sql} LIMIT 1` }, ...checks] },
  ];
  for (const change of changed)
    expect(projectDefinition({ ...project, ...change })).not.toEqual(projectDefinition(project));
  expect(projectDefinition(loadProject())).toEqual(projectDefinition(project));
});
