/** Lists the files of a project that contain its code and SQL. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import { codeEndings, findCode, projectFileIn } from './find-project.ts';

const notPipelines = new Set(['report', 'package', 'package-lock', 'tsconfig', 'rekap']);

/** Returns the modules that may declare pipelines: in `pipelines/`, or without that folder next to `rekap.project.*`. */
export async function listPipelineFiles(folder: string): Promise<string[]> {
  const inFolder = join(folder, 'pipelines');
  return listFiles(existsSync(inFolder) ? inFolder : folder, (name) => {
    const stem = basename(name, extname(name));
    // A name with two dots, such as eslint.config.js, belongs to a tool.
    return codeEndings.includes(extname(name)) && !stem.includes('.') && !notPipelines.has(stem);
  });
}

/** Returns the SQL files of a folder, which doesn't have to exist. */
export async function listSqlFiles(folder: string): Promise<string[]> {
  return existsSync(folder) ? listFiles(folder, (name) => name.endsWith('.sql')) : [];
}

async function listFiles(folder: string, isListed: (name: string) => boolean): Promise<string[]> {
  return (await readdir(folder))
    .filter(isListed)
    .toSorted()
    .map((name) => join(folder, name));
}

const importEndings = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.json'];
const importedPath = /(?:from|import|require)\s*\(?\s*(['"`])([./][^'"`]*)\1/g;

/** Returns the files whose code or SQL a project loads, also those imported by path but not packages, and their folders up to the project. */
export async function listLoaded(project: string): Promise<ReadonlySet<string>> {
  const files = [projectFileIn(project), findCode(project, 'report') ?? [], await listPipelineFiles(project)].flat();
  for (const folder of ['models', 'checks']) files.push(...(await listSqlFiles(join(project, folder))));
  const loaded = new Set([project]);
  for (const file of files) {
    if (loaded.has(file)) continue;
    for (let path = file; path.startsWith(project + sep); path = dirname(path)) loaded.add(path);
    loaded.add(file);
    const code = await readFile(file, 'utf8').catch(() => '');
    for (const [, , path = ''] of code.matchAll(importedPath)) {
      const imported = resolve(dirname(file), path);
      const stems = [imported, imported.replace(/\.[cm]?js$/, ''), join(imported, 'index')];
      files.push(...stems.flatMap((stem) => ['', ...importEndings].map((ending) => stem + ending)).filter(existsSync));
    }
  }
  return loaded;
}
