/** Lists the snapshots of a warehouse, including damaged ones. */

import { renderTable } from './table.ts';
import { complete, paint, printable } from './terminal.ts';
import { fitLines } from './wrap-text.ts';
import { RekapError } from '../../errors.ts';
import { formatNumber } from '../../runtime/text.ts';
import { glanceAt } from '../../publish/verify-snapshot.ts';
import {
  listSnapshotIds,
  readCurrentId,
  readPinnedId,
  readSnapshot,
  recoveryHint,
  requireWarehouse,
} from '../../warehouse/warehouse.ts';

/** An element of `snapshots --json`. If the manifest can't be read, only the reason is known. */
interface ListedSnapshot {
  /** Null if the entry is about a damaged `current` or `pinned`, which doesn't name a snapshot. */
  readonly id: string | null;
  readonly current: boolean;
  readonly pinned: boolean;
  /** The problem, as a sentence; null if the manifest is readable, and exactly its files exist, with the right sizes. */
  readonly damaged: string | null;
  readonly next: string | null;
  readonly created_at: string | null;
  readonly source: string | null;
  readonly rows: Readonly<Record<string, number>>;
}

const unknown = { created_at: null, source: null, rows: {} } as const;
const intact = { damaged: null, next: null } as const;

/** Returns every snapshot, newest last, then a `current` that names none of them. */
export async function listSnapshots(warehouse: string): Promise<readonly ListedSnapshot[]> {
  await requireWarehouse(warehouse);
  const current = await orDamage(() => readCurrentId(warehouse));
  const ids = await listSnapshotIds(warehouse);
  const pinned = await orDamage(() => readPinnedId(warehouse));
  const marksOf = (id: string) => ({ current: id === current.value, pinned: id === pinned.value });
  const listed = await Promise.all(ids.map((id) => describe(warehouse, id, marksOf(id))));
  const { value, ...damage } = current;
  if (damage.damaged !== null) listed.push({ id: null, current: true, pinned: false, ...unknown, ...damage });
  else if (value !== null && !ids.includes(value)) listed.push(await describe(warehouse, value, marksOf(value)));
  const { damaged, next } = pinned;
  if (damaged !== null) listed.push({ id: null, current: false, pinned: true, ...unknown, damaged, next });
  return listed;
}

async function describe(
  warehouse: string,
  id: string,
  marks: Pick<ListedSnapshot, 'current' | 'pinned'>,
): Promise<ListedSnapshot> {
  const { value, ...damage } = await orDamage(() => readSnapshot(warehouse, id));
  if (value === null) return { id, ...marks, ...unknown, ...damage };
  const { created_at, source, datasets } = value.manifest;
  const rows = Object.fromEntries(Object.entries(datasets).map(([table, dataset]) => [table, dataset.rows]));
  const { value: problems, ...unread } = await orDamage(() => glanceAt(value.folder, value.manifest));
  const found =
    problems === null || problems.length === 0
      ? unread
      : { damaged: `${problems.join('; ')}.`, next: complete(recoveryHint(id)) };
  return { id, ...marks, ...found, created_at, source, rows };
}

async function orDamage<Value>(read: () => Promise<Value>) {
  try {
    return { value: await read(), ...intact };
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    return { value: null, damaged: error.message, next: complete(error.next) };
  }
}

export function renderList(snapshots: readonly ListedSnapshot[]): string {
  const tables = [...new Set(snapshots.flatMap(({ rows }) => Object.keys(rows)))];
  const rows = snapshots.map(({ id, current, pinned, damaged, created_at, source, rows: counts }) => [
    current ? paint('green', `● current${pinned ? ', pinned' : ''}`) : pinned ? 'pinned' : '',
    id ?? '',
    damaged === null ? (created_at ?? '').slice(0, 19).replace('T', ' ') : paint('red', 'damaged'),
    printable(source ?? ''),
    ...tables.map((table) => (damaged === null ? formatNumber(counts[table] ?? 0) : '')),
  ]);
  const right = tables.map((_, index) => index + 4);
  const head = ['state', 'snapshot', 'created (UTC)', 'source', ...tables.map((table) => printable(table))];
  const damages = snapshots.flatMap(({ id, current, damaged, next }) => {
    if (damaged === null) return [];
    const what = id !== null ? `Snapshot ${id}` : current ? 'current' : 'pinned';
    return fitLines(`\n${what} is damaged: ${printable(damaged)}\n  ${next}\n`, process.stdout);
  });
  return `${renderTable(rows, { head, right })}\n${damages.join('')}`;
}
