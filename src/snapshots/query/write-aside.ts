/** The file that a query writes: outside the warehouse, aside first, then renamed; and why it cannot be written. */

import { access, lstat, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { systemCode, RekapError, systemReason } from '../../errors.ts';
import { whyDiskIsFull } from '../../warehouse/file-errors.ts';
import { warehousePaths } from '../../warehouse/snapshot-format.ts';

/**
 * Checks that a file to be written lies outside the warehouse.
 *
 * @param option The one that names the file.
 * @throws `usage` where `target` would come to lie in the warehouse's real folder, or links to a file there.
 */
export async function requireOutside(target: string, warehouse: string, option = '--out'): Promise<void> {
  // Its parts may be links to another disk.
  const paths = Object.values(warehousePaths(warehouse));
  const folders = [...(await findAll(paths)), ...paths.map((each) => resolve(each))];
  const path = resolve(target);
  // Where it leads, if it is a link, and where its name stands.
  const [leadsTo, parent] = await Promise.all([findAll([path]), findAll([dirname(path)])]);
  const places = [path, ...leadsTo, ...parent.map((folder) => join(folder, basename(path)))];
  const isWithin = (place: string, folder: string): boolean => relative(folder, place).split(sep)[0] !== '..';
  if (places.some((place) => folders.some((folder) => isWithin(place, folder))))
    throw new RekapError(
      'usage',
      `${target} is in the warehouse ${warehouse}, and ${option === '--out' ? 'a query' : option} never writes to the warehouse.`,
      `Choose a path outside the warehouse with ${option}.`,
    );
}

/** The real places of those paths that there are. */
async function findAll(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return found.filter((place) => place !== null);
}

/**
 * Gives `write` a name beside `target` and renames what it wrote; nothing half-written ever stands at `target`. A link stays, and what it
 * leads to is written.
 *
 * @throws `disk-full` where there is no room for the file, RekapError where it cannot be written at all.
 */
export async function writeAside<Value>(target: string, write: (aside: string) => Promise<Value>): Promise<Value> {
  const path = await findFile(target);
  const aside = besides(path);
  try {
    await access(dirname(path));
    await rm(aside, { force: true });
    const value = await write(aside);
    await rename(aside, path);
    return value;
  } catch (error) {
    // Where nothing can be written, nothing can be removed; what failed first is what is told.
    await rm(aside, { force: true }).catch(() => undefined);
    throw explainTarget(error, target);
  }
}

/** The name that `writeAside` gives for `target`. Throws RekapError where `target` is there, and is no file. */
export async function asideName(target: string): Promise<string> {
  return besides(await findFile(target));
}

function besides(path: string): string {
  return join(dirname(path), `.${basename(path)}.${process.pid}.part`);
}

/** Where the file lies or will lie. What is no file, such as a device or a pipe, would be gone once a file is renamed to its name. */
async function findFile(target: string): Promise<string> {
  const path = resolve(target);
  const found = await lstat(path).catch(() => null);
  if (found === null) return path;
  const real = await realpath(path).catch(() => null);
  if (real !== null && (await stat(real)).isFile()) return real;
  throw new RekapError(
    'usage',
    `${target} exists, but is not a file.`,
    'Choose a file with --out, or remove --out and redirect the output.',
  );
}

/** The error itself, or one that says why the file cannot be written. */
function explainTarget(error: unknown, target: string): unknown {
  if (error instanceof RekapError || !(error instanceof Error)) return error;
  const cause = { cause: error };
  const full = whyDiskIsFull(error);
  if (full !== null)
    return new RekapError(
      'disk-full',
      full === 'size'
        ? `${target} would exceed the maximum file size of this system.`
        : `The disk is full: no space is left for ${target}.`,
      full === 'size'
        ? 'Select less data, or raise the file size limit (ulimit -f).'
        : 'Free some space, or write to another disk.',
      cause,
    );
  if (systemCode(error) === 'unknown') return error;
  const what = `${target} cannot be written: ${systemReason(error)}.`;
  return new RekapError('usage', what, 'Choose another file.', cause);
}
