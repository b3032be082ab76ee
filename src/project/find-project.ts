/** Finds the folder and the files of a project. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RekapError } from '../errors.ts';
import { importModule } from './import-module.ts';

export const projectFile = 'rekap.project';
export const codeEndings = ['.ts', '.js', '.mjs', '.json'];

/** Resolved by name, which works in the sources and in the build. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));

export const bundledProject = {
  folder: join(packageFolder, 'pipelines'),
  code: fileURLToPath(new URL('../../pipelines', import.meta.url)),
};

/**
 * Finds the folder of a project.
 *
 * @param given Value of --project; null for `from` or the nearest folder above it with a `rekap.project.*`, or else the bundled project.
 * @returns Null for the bundled project.
 * @throws `configuration` if the given folder has no project.
 */
export function findProject(given: string | null, from: string): string | null {
  if (given !== null) {
    if (findCode(given, projectFile) !== null) return resolve(given);
    throw new RekapError(
      'configuration',
      `${given} is not a project: it has no file ${projectFile}.ts, ${projectFile}.js or ${projectFile}.json.`,
      'Give the folder of a project with --project, or create one with "rekap new".',
    );
  }
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (findCode(folder, projectFile) !== null) return folder === bundledProject.folder ? null : folder;
    if (folder === dirname(folder)) return null;
  }
}

export function projectFileIn(folder: string): string {
  return findCode(folder, projectFile)!;
}

export function findCode(folder: string, stem: string): string | null {
  const path = codeEndings.map((ending) => join(folder, stem + ending)).find((file) => existsSync(file));
  return path ?? null;
}

/** Returns the default export of a module, or the content of a JSON file without the URL of its schema. */
export async function importDefault(path: string): Promise<unknown> {
  if (!path.endsWith('.json')) return ((await importModule(path)) as { readonly default?: unknown }).default;
  const content = JSON.parse(await readFile(path, 'utf8')) as unknown;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return content;
  const { $schema: _schema, ...declared } = content as Record<string, unknown>;
  return declared;
}
