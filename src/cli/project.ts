/** Loads the project of a command. */

import { configurationError } from './options/usage-error.ts';
import { isRekapError } from '../errors.ts';
import type { LoadedProject } from '../project/load-project.ts';

export async function loadChosenProject(given: string | undefined): Promise<LoadedProject> {
  const { loadProject } = await import('../project/load-project.ts');
  return loadProject(await findTrusted(given));
}

/** @throws `configuration` if the user didn't name the project, and other users could have written its code. */
export async function findTrusted(given: string | undefined): Promise<string | null> {
  const { findProject } = await import('../project/find-project.ts');
  const folder = findProject(given ?? null, process.cwd());
  if (folder === null || given !== undefined) return folder;
  const { listLoaded } = await import('../project/project-files.ts');
  const { whyUntrusted } = await import('./options/config-file.ts');
  for (const path of await listLoaded(folder)) {
    const why = await whyUntrusted(path);
    if (why !== null)
      throw configurationError(
        `The project in ${folder} is not used, because ${path} ${why}, and its code would run.`,
        'If you trust it, add --project with this folder.',
      );
  }
  return folder;
}

/** Finds the module that renders the report of a project; null if its code isn't available, or it has no report. */
export async function findReportModule(given: string | undefined, name: string): Promise<string | null> {
  const { loadProject } = await import('../project/load-project.ts');
  for (const find of [() => findTrusted(given), async () => null])
    try {
      const project = await loadProject(await find());
      if (project.name === name) return project.reportModule;
    } catch (error) {
      // A project with errors must not prevent reading a published snapshot.
      if (!isRekapError(error, 'pipeline-definition', 'configuration') || given !== undefined) throw error;
    }
  return null;
}
