/** Makes one call to the file system fail, known again by what it is about: calls at the same time come in any order. */

import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isSnapshotId } from '../../src/warehouse/snapshot-format.ts';
import { faultsOf, watch, type Fault, type FileCall } from './file-calls.ts';

/** Something that is done to a folder that holds a warehouse. */
type Doing = (folder: string) => Promise<unknown>;

/** A call that is to fail. */
export interface Point {
  readonly name: string;
  /** Below the folder, with the ids of runs replaced. */
  readonly place: string;
  /** Of all the same. */
  readonly nth: number;
  readonly fault: Fault;
  /** Whether every call fails from then on that can fail so. */
  readonly lasts: boolean;
}

export const onceFailing = (name: string, place: string, nth: number): Point => ({
  name,
  place,
  nth,
  fault: 'EIO',
  lasts: false,
});

export const nameOf = ({ name, place, nth, fault, lasts }: Point): string =>
  `${name} ${place} #${nth} ${fault}${lasts ? ' lasting' : ''}`;

/** Does something while the calls below the folder are watched. */
async function watching(
  folder: string,
  hooks: Partial<Pick<typeof watch, 'before' | 'after'>>,
  act: Doing,
): Promise<unknown> {
  const unwatched = { ...watch };
  Object.assign(watch, hooks, { folder });
  try {
    return await act(folder);
  } catch (error) {
    return error;
  } finally {
    Object.assign(watch, unwatched);
  }
}

async function placesIn(folder: string): Promise<(path: string) => string> {
  const names = await readdir(join(folder, 'warehouse', 'snapshots')).catch(() => []);
  const ids = names.filter(isSnapshotId).toSorted();
  return (path) =>
    relative(folder, path)
      .replace(/\d{8}T\d{6}Z-[0-9a-f]{6}/, (id) => (ids.includes(id) ? `OLD${ids.indexOf(id)}` : 'NEW'))
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'UUID');
}

/** Every call of what is done, with every way in which it can fail; `note` is told of each call that was made. */
export async function findPoints(folder: string, act: Doing, note: (call: FileCall) => void): Promise<Point[]> {
  const placeOf = await placesIn(folder);
  const times = new Map<string, number>();
  const points: Point[] = [];
  const before = (call: FileCall): null => {
    const place = placeOf(call.path);
    const nth = (times.get(`${call.name} ${place}`) ?? 0) + 1;
    times.set(`${call.name} ${place}`, nth);
    for (const fault of faultsOf(call)) {
      points.push({ name: call.name, place, nth, fault, lasts: false });
      if (nth === 1) points.push({ name: call.name, place, nth, fault, lasts: true });
    }
    return null;
  };
  const end = await watching(folder, { before, after: note }, act);
  if (end instanceof Error) throw end;
  return points;
}

/** Does it with the point's failure; gives the path that it was met at, and how the act ended. */
export async function failAt(folder: string, { name, place, nth, fault, lasts }: Point, act: Doing) {
  const placeOf = await placesIn(folder);
  let times = 0;
  let met: string | null = null;
  const before = (call: FileCall): Fault | null => {
    const isSame = call.name === name && placeOf(call.path) === place;
    if (isSame && (times += 1) === nth) met = call.path;
    else if (met === null || !lasts || !faultsOf(call).includes(fault)) return null;
    return fault;
  };
  const end = await watching(folder, { before }, act);
  return { met, end };
}
