/** The project that commands and programs go by: its parts were checked against each other, and all of them decide what a snapshot is. */

import { expect, it, vi } from 'vitest';
import { loadProject } from '../../pipelines/index.ts';
import { projectDefinition } from '../../src/load/schema.ts';
import type { Project } from '../../src/pipeline.ts';

const { checked } = vi.hoisted(() => ({ checked: [] as unknown[] }));

vi.mock('../../src/define-pipeline.ts', async (load) => {
  const real = await load<typeof import('../../src/define-pipeline.ts')>();
  return {
    ...real,
    defineProject(project: Project) {
      checked.push(project);
      return real.defineProject(project);
    },
  };
});

it('is checked whenever it is loaded', () => {
  const before = checked.length;
  const project = loadProject();
  expect(checked.slice(before)).toEqual([project]);
});

it('is another one where a row check, a check across tables or a view is', () => {
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
