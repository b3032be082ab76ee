/** Imports a module of a project: compiled code of this package as it is, and a project's own TypeScript or JavaScript through jiti. */

import { dirname, extname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The sources, or the build, that this file belongs to. */
const ownFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..') + sep;

/**
 * Node 20 runs no TypeScript. jiti runs it on every version of Node alike, and finds `rekap` where the project has not installed it.
 *
 * @param path Of the module; it is trusted as much as this program is.
 */
export async function importModule(path: string): Promise<unknown> {
  if (path.startsWith(join(ownFolder, 'pipelines') + sep)) return import(pathToFileURL(path).href);
  const { createJiti } = await import('jiti');
  const rekap = fileURLToPath(new URL(`define${extname(import.meta.url)}`, import.meta.url));
  return createJiti(path, { fsCache: false, moduleCache: false, interopDefault: false, alias: { rekap } }).import(path);
}
