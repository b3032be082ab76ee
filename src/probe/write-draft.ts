/** Writes the files of a draft, never over existing ones. */

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RekapError, systemReason } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';
import type { Draft } from './draft.ts';

/** What a project doesn't share: the key, and what it fetched. */
export const ignoredFile = { path: '.gitignore', text: 'api-key\ndata/\n' };

interface Place {
  readonly folder: string;
  /** The project that the pipeline is added to; null to create one. */
  readonly project: LoadedProject | null;
  readonly origin: string;
}

/**
 * @returns The paths of the files.
 * @throws `usage` if the project copies another service, or a file exists.
 */
export async function writeDraft(draft: Draft, { folder, project, origin }: Place): Promise<string[]> {
  const declared = project?.baseUrl ?? null;
  if (declared !== null && new URL(declared).origin !== origin) {
    const what = `The project ${project!.name} copies ${new URL(declared).origin}, not ${origin}.`;
    const next = 'A project has one service. Create another project with --project and a new folder.';
    throw new RekapError('usage', what, next);
  }
  const isNew = project === null && !existsSync(join(folder, ignoredFile.path));
  const files = [
    ...(isNew ? [ignoredFile] : []),
    ...(project === null ? [{ path: 'rekap.project.ts', text: draft.project }] : []),
    { path: `pipelines/${draft.table}.ts`, text: draft.pipeline },
    ...(draft.sample === null ? [] : [{ path: `sample/${draft.sample.name}`, text: draft.sample.text }]),
  ].map(({ path, text }) => ({ path: join(folder, path), text }));
  return writeNew(files);
}

export async function writeNew(files: readonly { readonly path: string; readonly text: string }[]): Promise<string[]> {
  const existing = files.find(({ path }) => existsSync(path));
  if (existing !== undefined) {
    const what = `${existing.path} already exists.`;
    throw new RekapError('usage', what, 'No file was written. Move it, or choose another folder.');
  }
  for (const { path, text } of files) {
    try {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { flag: 'wx' });
    } catch (error) {
      const reason = systemReason(error);
      throw new RekapError('usage', `${path} cannot be written: ${reason}.`, 'Choose another folder.', {
        cause: error,
      });
    }
  }
  return files.map(({ path }) => path);
}
