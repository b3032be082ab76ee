/** run.json is read as far as it describes a run; a replay goes by every word of it. */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runFile } from '../../src/land/formats.ts';
import { readRunFile } from '../../src/land/landed-run.ts';
import { describedRun } from '../support/landed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

async function read(value: unknown) {
  const folder = await temporaryFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, runFile), typeof value === 'string' ? value : JSON.stringify(value));
  return readRunFile(folder);
}

it('gives back what was written', async () => {
  const run = describedRun({ previous: '20261119T030002Z-1f3a9c', partitions: ['1101', '1102'] });
  expect(await read(run)).toEqual(run);
});

it.each<[string, object | string]>([
  ['no JSON', '{'],
  ['no object', 'null'],
  ['another format', { format: 4 }],
  ['an id that is a path', { run: '../..' }],
  ['a snapshot before that is a path', { previous: '../../x' }],
  ['no dataset', { datasets: [] }],
  ['a dataset twice', { datasets: ['voters', 'voters'] }],
  ['no partition where some are named', { partitions: [] }],
  ['a partition that is no text', { partitions: [1101] }],
  ['no project', { project: undefined }],
  ['a project that contradicts itself', { project: { ...describedRun().project, pipelines: [] } }],
  ['a page of nothing', { page_size: 0 }],
  ['another protocol', { base_url: 'mailto:x' }],
  ['a time beyond the calendar', { started_at: '+275000-01-01T00:00:00.000Z' }],
  ['a time that is none', { started_at: '2026-99-20T03:00:02.000Z' }],
  ['a word for yes', { strict: 'yes' }],
  ['a word for what was accepted', { accept_changes: 'yes' }],
])('is refused: %s', async (_, change) => {
  const value = typeof change === 'string' ? change : { ...describedRun(), ...change };
  await expect(read(value)).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
});
