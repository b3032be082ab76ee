/** Writes a file outside the warehouse: first under a temporary name, then renamed. */

import { access, lstat, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { systemCode, RekapError, systemReason } from '../../errors.ts';
import { whyDiskIsFull } from '../../warehouse/file-errors.ts';
import { warehousePaths } from '../../warehouse/snapshot-format.ts';

/**
 * Checks that an output file is outside the warehouse.
 * @param option The option that names the file.
 * @throws `usage` if `target` is in the warehouse or links to a file in it.
 */
export async function requireOutside(target: string, warehouse: string, option = '--out'): Promise<void> {
  // Parts of a warehouse may be links to another disk.
  const paths = Object.values(warehousePaths(warehouse));
  const folders = [...(await findAll(paths)), ...paths.map((each) => resolve(each))];
  const path = resolve(target);
  // The target of a link, and the folder of the link itself.
  const [leadsTo, parent] = await Promise.all([findAll([path]), findAll([dirname(path)])]);
  const places = [path, ...leadsTo, ...parent.map((folder) => join(folder, basename(path)))];
  const isWithin = (place: string, folder: string): boolean => relative(folder, place).split(sep)[0] !== '..';
  if (places.some((place) => folders.some((folder) => isWithin(place, folder)))) {
    const what = `${target} is in the warehouse ${warehouse}, and ${option === '--out' ? 'a query' : option} never writes to the warehouse.`;
    throw new RekapError('usage', what, `Choose a path outside the warehouse with ${option}.`);
  }
}

async function findAll(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return found.filter((place) => place !== null);
}

/**
 * Passes a temporary name to `write`, then renames the file. Replaces the target of a link instead of the link.
 * @throws `disk-full` if there isn't enough space, RekapError if the file can't be written.
 */
export async function writeAside<Value>(target: string, write: (aside: string) => Promise<Value>): Promise<Value> {
  const path = await findFile(target);
  const aside = temporaryPath(path);
  try {
    await access(dirname(path));
    await rm(aside, { force: true });
    const value = await write(aside);
    await rename(aside, path);
    return value;
  } catch (error) {
    // If removal fails too, report the first error.
    await rm(aside, { force: true }).catch(() => undefined);
    throw explainTarget(error, target);
  }
}

/**
 * Writes files as `writeAside` does, but renames them only when all are complete, and the first file last.
 * @throws as `writeAside`. If a file can't be renamed, the message names those that are already written.
 */
export async function writeAllAside(
  files: readonly { readonly target: string; readonly write: (aside: string) => Promise<unknown> }[],
): Promise<void> {
  const [first, ...others] = files;
  if (first === undefined) return;
  let written: string[] = [];
  try {
    await writeAside(first.target, async (aside) => {
      await first.write(aside);
      await writeAllAside(others);
      written = others.map(({ target }) => target);
    });
  } catch (error) {
    if (written.length === 0 || !(error instanceof RekapError)) throw error;
    const what = `${error.message} Already written: ${written.join(', ')}.`;
    throw new RekapError(error.code, what, error.next, { cause: error });
  }
}

/** Returns the temporary name that `writeAside` uses. Throws RekapError if `target` exists but isn't a file. */
export async function temporaryName(target: string): Promise<string> {
  return temporaryPath(await findFile(target));
}

function temporaryPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.part`);
}

/** Returns the path to write. Refuses devices and pipes, which a rename would replace. */
async function findFile(target: string): Promise<string> {
  const path = resolve(target);
  const found = await lstat(path).catch(() => null);
  if (found === null) return path;
  const real = await realpath(path).catch(() => null);
  if (real !== null && (await stat(real)).isFile()) return real;
  const what = `${target} exists, but is not a file.`;
  throw new RekapError('usage', what, 'Choose a file with --out, or remove --out and redirect the output.');
}

function explainTarget(error: unknown, target: string): unknown {
  if (error instanceof RekapError || !(error instanceof Error)) return error;
  const cause = { cause: error };
  const full = whyDiskIsFull(error);
  if (full === 'size') {
    const tooLarge = `${target} would exceed the maximum file size of this system.`;
    return new RekapError('disk-full', tooLarge, 'Select less data, or raise the file size limit (ulimit -f).', cause);
  }
  if (full !== null) {
    const noSpace = `The disk is full: no space is left for ${target}.`;
    return new RekapError('disk-full', noSpace, 'Free some space, or write to another disk.', cause);
  }
  if (systemCode(error) === 'unknown') return error;
  const what = `${target} cannot be written: ${systemReason(error)}.`;
  return new RekapError('usage', what, 'Choose another file.', cause);
}
