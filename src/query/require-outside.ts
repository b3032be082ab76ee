/** Keeps what a query writes out of the warehouse, by whatever way its name leads there. */

import { realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { RekapError } from '../errors.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';

/**
 * Checks that a file to be written lies outside the warehouse.
 *
 * @throws `usage` where `target` would come to lie in the warehouse's real folder, or links to a file there.
 */
export async function requireOutside(target: string, warehouse: string): Promise<void> {
  // Its parts may be links to another disk.
  const folders = await findAll(Object.values(warehousePaths(warehouse)));
  const path = resolve(target);
  // Where it leads, if it is a link, and where its name stands.
  const [leadsTo, parent] = await Promise.all([findAll([path]), findAll([dirname(path)])]);
  const places = [...leadsTo, ...parent.map((folder) => join(folder, basename(path)))];
  if (places.some((place) => folders.some((folder) => isWithin(place, folder))))
    throw new RekapError(
      'usage',
      `${target} lies in the warehouse ${warehouse}, and a query never writes into the warehouse.`,
      'Name a file outside it with --out.',
    );
}

/** The real places of those paths that there are. */
async function findAll(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => null)));
  return found.filter((place) => place !== null);
}

function isWithin(place: string, folder: string): boolean {
  const [first] = relative(folder, place).split(sep);
  return first !== '..';
}
