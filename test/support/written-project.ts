/** Small projects, written to a folder that is gone after the test. */

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** Files by their paths; what is no text is written as JSON. */
export type Files = Readonly<Record<string, unknown>>;

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
}

export async function writeProject(files: Files): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, files);
  return folder;
}

export const projectJson = { name: 'small', title: 'A small project', paging: { by: 'none' } };

/** A pipeline of two columns, as JSON. */
export const peopleJson = {
  table: 'people',
  title: 'People',
  comment: 'People by place.',
  path: '/people',
  columns: {
    place: { kind: 'text', field: 'Place', comment: 'Name of the place.' },
    total: { kind: 'count', field: 'Total', comment: 'People.' },
  },
  key: ['place'],
  watch: ['total'],
  checks: [] as unknown[],
};

/** A project that is synced from its own sample of two records in no time. */
export const writeSampleProject = (): Promise<string> =>
  writeProject({
    'rekap.project.json': projectJson,
    'people.json': peopleJson,
    'sample/people.json': [
      { Place: 'ACEH', Total: '3' },
      { Place: 'BALI', Total: '4' },
    ],
  });
