/** Imports a module of a project: compiled code of this package directly, and TypeScript or JavaScript of a project through jiti. */

import { dirname, extname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ownFolder = join(dirname(fileURLToPath(import.meta.url)), '..', '..') + sep;

/**
 * Uses jiti, because Node 20 doesn't run TypeScript. jiti also finds `rekap` if the project hasn't installed it.
 *
 * @param path Path of the module, which is trusted like this program.
 */
export async function importModule(path: string): Promise<unknown> {
  if (path.startsWith(join(ownFolder, 'pipelines') + sep)) return import(pathToFileURL(path).href);
  const { createJiti } = await import('jiti');
  const rekap = fileURLToPath(new URL(`../project/define${extname(import.meta.url)}`, import.meta.url));
  return createJiti(path, { fsCache: false, moduleCache: false, interopDefault: false, alias: { rekap } }).import(path);
}
