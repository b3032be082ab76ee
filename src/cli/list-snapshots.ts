/** Lists the snapshots of a warehouse; one that is damaged is listed as such and does not hide the others. */

import { RekapError } from '../errors.ts';
import { listSnapshotIds } from '../publish/snapshot-folder.ts';
import { readCurrentId, readSnapshot, requireWarehouse } from '../warehouse.ts';
import { renderTable } from './table.ts';
import { formatNumber, paint, printable } from './terminal.ts';

/** A snapshot as `snapshots list` gives it; of a damaged one nothing but the reason is known. */
interface ListedSnapshot {
  /** Null where `current` itself is damaged and names none. */
  readonly id: string | null;
  readonly current: boolean;
  /** What is wrong with it, as a sentence; null where its manifest can be read. */
  readonly damaged: string | null;
  readonly created_at: string | null;
  readonly source: string | null;
  /** Rows by dataset. */
  readonly rows: Readonly<Record<string, number>>;
}

const unknown = { damaged: null, created_at: null, source: null, rows: {} } as const;

/** Every snapshot, the newest last, then a `current` that leads to none of them. */
export async function listSnapshots(warehouse: string): Promise<readonly ListedSnapshot[]> {
  await requireWarehouse(warehouse);
  const current = await orDamage(() => readCurrentId(warehouse));
  const ids = await listSnapshotIds(warehouse);
  const listed = await Promise.all(ids.map((id) => describe(warehouse, id, id === current.value)));
  if (current.damaged !== null) return [...listed, { id: null, current: true, ...unknown, damaged: current.damaged }];
  if (current.value === null || ids.includes(current.value)) return listed;
  return [...listed, await describe(warehouse, current.value, true)];
}

async function describe(warehouse: string, id: string, isCurrent: boolean): Promise<ListedSnapshot> {
  const { value, damaged } = await orDamage(() => readSnapshot(warehouse, id));
  if (value === null) return { id, current: isCurrent, ...unknown, damaged };
  const { created_at, source, datasets } = value.manifest;
  const rows = Object.fromEntries(Object.entries(datasets).map(([table, dataset]) => [table, dataset.rows]));
  return { id, current: isCurrent, damaged: null, created_at, source, rows };
}

/** What was read, or why it cannot be. */
async function orDamage<Value>(
  read: () => Promise<Value>,
): Promise<{ value: Value; damaged: null } | { value: null; damaged: string }> {
  try {
    return { value: await read(), damaged: null };
  } catch (error) {
    if (!(error instanceof RekapError)) throw error;
    return { value: null, damaged: error.message };
  }
}

/** What can be done about a damaged snapshot, of this run where it is known. */
export function waysToMend(run: string | null): string {
  const another = '"rekap snapshots rollback <id>" goes to another';
  return run === null ? `${another}.` : `"rekap replay ${run}" builds it again from its answers; ${another}.`;
}

export function renderList(snapshots: readonly ListedSnapshot[]): string {
  const tables = [...new Set(snapshots.flatMap(({ rows }) => Object.keys(rows)))];
  const rows = snapshots.map(({ id, current, damaged, created_at, source, rows: counts }) => [
    current ? paint('green', '● current') : '',
    id ?? '',
    damaged === null ? (created_at ?? '').slice(0, 19).replace('T', ' ') : paint('red', 'damaged'),
    printable(source ?? ''),
    ...tables.map((table) => (damaged === null ? formatNumber(counts[table] ?? 0) : '')),
  ]);
  const right = tables.map((_, index) => index + 4);
  const head = ['', 'snapshot', 'made (UTC)', 'source', ...tables];
  const damages = snapshots.flatMap(({ id, damaged }) =>
    damaged === null
      ? []
      : [`\n${id === null ? 'current' : `Snapshot ${id}`} is damaged: ${printable(damaged)}\n  ${waysToMend(id)}\n`],
  );
  return `${renderTable(rows, { head, whole: [0, 1, 2], right })}\n${damages.join('')}`;
}
