/** A project is validated whenever it is loaded. */

import { expect, it, vi } from 'vitest';
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
