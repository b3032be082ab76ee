/** The names in everything that programs read, printed or kept in the warehouse, are of one style: that of the tables' columns. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';

/** Every name in a document, at whatever depth, but not those in `project`: it is kept as the project's files declare it. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value).flatMap(([name, member]) => [name, ...(name === 'project' ? [] : namesIn(member))]);
}

function expectOneStyle(documents: readonly unknown[]): void {
  const names = documents.flatMap(namesIn);
  expect(names.length).toBeGreaterThan(1);
  // Answers are counted by their status, which is a number.
  expect(names.filter((name) => !/^([a-z][a-z0-9]*(_[a-z0-9]+)*|[1-5]\d\d)$/.test(name))).toEqual([]);
}

it('in what a sync prints, which begins with what became of it', async () => {
  const { known } = await sampleWarehouse();
  const document: unknown = JSON.parse(known);
  expectOneStyle([document]);
  expect(Object.keys(document as object).slice(0, 3)).toEqual(['kind', 'run', 'outcome']);
});

it.each(['replay', 'snapshots', 'snapshots current', 'snapshots verify', 'diff 29991231T235959Z-ffffff'])(
  'in what rekap %s prints',
  async (line) => {
    const { warehouse } = await sampleWarehouse();
    const { stdout } = await runHere([...line.split(' '), '--warehouse', warehouse, '--json']);
    expectOneStyle([JSON.parse(stdout)]);
  },
);

it('in the files of a warehouse', async () => {
  const { warehouse, known } = await sampleWarehouse();
  const { run } = JSON.parse(known) as { run: string };
  const documents = async (path: string): Promise<unknown[]> => {
    const text = await readFile(join(warehouse, path), 'utf8');
    return path.endsWith('.jsonl')
      ? text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
      : [JSON.parse(text)];
  };
  for (const path of [
    'current/manifest.json',
    `landing/${run}/run.json`,
    `landing/${run}/responses.jsonl`,
    'runs.jsonl',
  ])
    expectOneStyle(await documents(path));
});
