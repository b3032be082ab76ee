/** Reads a warehouse as its users do, and fails where DuckDB, Parquet and manifest are not of one and the same snapshot. */

import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { databaseFile, type Manifest, parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { regencies } from './versioned-service.ts';

export interface ReadSnapshot {
  readonly id: string;
  readonly version: number;
}

/** What a reader sees who opens `current` now. */
export async function readWholeSnapshot(warehouse: string): Promise<ReadSnapshot> {
  const folder = await realpath(join(warehouse, 'current'));
  const id = basename(folder);
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  const versions = new Map<string, string>();
  for (const [name, { sums, rows }] of Object.entries(manifest.datasets))
    versions.set(`manifest ${name}`, `${rows} ${sums['dpt_male']} ${sums['dpt_male']}`);
  const database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    for (const table of ['voters', 'voting_rights_users']) {
      const parquet = `read_parquet(${quoteText(join(folder, parquetPath(table)))})`;
      for (const [name, relation] of [
        [`table ${table}`, table],
        [`Parquet ${table}`, parquet],
      ] as const) {
        const [row] = await database.rows<{ seen: string }>(
          `SELECT concat_ws(' ', count(*), min(dpt_male) * count(*), max(dpt_male) * count(*)) AS seen FROM ${relation}`,
        );
        versions.set(name, row!.seen);
      }
    }
    const [log] = await database.rows<{ id: string }>('SELECT max(snapshot_id) AS id FROM snapshots_log');
    versions.set('snapshots_log', log!.id);
  } finally {
    database.close();
  }
  const version = Number(manifest.datasets['voters']!.sums['dpt_male']) / regencies;
  const expected = `${regencies} ${version * regencies} ${version * regencies}`;
  for (const [what, seen] of versions) {
    const should = what === 'snapshots_log' ? id : expected;
    if (seen !== should) throw new Error(`${id}: ${what} shows ${seen}, not ${should}`);
  }
  if (manifest.snapshot !== id) throw new Error(`${id}: the manifest is of ${manifest.snapshot}`);
  return { id, version };
}

/** Milliseconds between two readings; without any, readers would take the machine from those they watch. */
const pause = 200;

/** A reader that opens `current` again and again until it is stopped: what it saw, or what went wrong. */
export function startReader(warehouse: string) {
  const stopped = new AbortController();
  const seen = { readings: 0 };
  const reading = (async () => {
    while (!stopped.signal.aborted) {
      await readWholeSnapshot(warehouse);
      seen.readings += 1;
      await setTimeout(pause);
    }
  })();
  // Met by `stop`; until then it must not count as unhandled.
  reading.catch(() => undefined);
  return {
    async stop(): Promise<typeof seen> {
      stopped.abort();
      await reading;
      return seen;
    },
  };
}

/** Opens the current snapshot and keeps it open; the function asks it again which version it is of, and closes it. */
export async function holdOpen(warehouse: string): Promise<() => Promise<number>> {
  const database = await openDatabase(join(await realpath(join(warehouse, 'current')), databaseFile), {
    readOnly: true,
  });
  return async () => {
    try {
      const [row] = await database.rows<{ low: number; high: number }>(
        'SELECT least(min(v.dpt_male), min(u.dpt_male)) AS low, greatest(max(v.dpt_male), max(u.dpt_male)) AS high FROM voters v, voting_rights_users u',
      );
      if (row!.low !== row!.high) throw new Error(`versions ${row!.low} and ${row!.high} in one snapshot`);
      return row!.low;
    } finally {
      database.close();
    }
  };
}
