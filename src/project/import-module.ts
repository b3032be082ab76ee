/** Imports a module of a project, and explains an error in it: compiled code of this package directly, and TypeScript or JavaScript of a project through jiti. */

import { dirname, extname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf, RekapError } from '../errors.ts';
import { withSuggestion } from '../runtime/closest-name.ts';
import * as define from './define.ts';

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

/** The names that a project can import from rekap. */
const helpers = Object.keys(define);

/** @param path Path of the imported file. The error may come from another file of the project, which it imports. */
export function importError(error: unknown, path: string, folder: string): RekapError {
  const at = findPlace(error, resolve(folder)) ?? relative(folder, path);
  const message = `${at} cannot be loaded: ${explain(error)}.`.replace(/\?\.$/, '?');
  return new RekapError('pipeline-definition', message, 'Correct the file.', { cause: error });
}

/** Returns the first file and line of the project that an error names; null if it names none. */
function findPlace(error: unknown, folder: string): string | null {
  const trace = error instanceof Error ? `${error.message}\n${error.stack}` : '';
  for (const [, path, line] of trace.matchAll(/((?:\/|[A-Z]:\\)[^\n()]*?):(\d+):\d+/g)) {
    const shown = relative(folder, path!);
    if (!/^\.\.|node_modules/.test(shown)) return `${shown}:${line}`;
  }
  return null;
}

/** Describes why a module can't run. A mistyped helper is the most common reason. */
function explain(error: unknown): string {
  const what = messageOf(error).split('\n')[0]!.trim().replace(/\.$/, '');
  const [, missing, notExported] = /^(\w+) is not defined$|^\(0 , _rekap\.(\w+)\) is not a function$/.exec(what) ?? [];
  if (notExported !== undefined) return withSuggestion(`rekap has no export "${notExported}"`, notExported, helpers);
  if (missing === undefined) return what;
  return helpers.includes(missing) ? `${what}; import it from 'rekap'` : withSuggestion(what, missing, helpers);
}
