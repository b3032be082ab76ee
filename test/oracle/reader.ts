/** Readers that open `current` again and again as a program of a user's does, and write down what they saw and when. */

import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { databaseFile, type Manifest, parquetPath } from '../../src/warehouse/snapshot-format.ts';
import type { Look } from './judge-history.ts';

/** The column whose every figure is the version that the source gave. */
const column = 'dpt_male';
const tables = ['voters', 'voting_rights_users'] as const;

/** Opens `current` once and reads all that belongs together from one folder: link, manifest, DuckDB and Parquet. */
export async function look(warehouse: string, reader: string): Promise<Look> {
  const began = performance.now();
  const seen = await readCurrentFolder(warehouse).then(
    (found) => ({ ...found, failure: null }),
    (error: unknown) => ({ ids: [], hash: '', figures: {}, failure: String(error) }),
  );
  return { reader, began, ended: performance.now(), ...seen };
}

async function readCurrentFolder(warehouse: string): Promise<Pick<Look, 'ids' | 'hash' | 'figures'>> {
  const folder = await realpath(join(warehouse, 'current'));
  const bytes = await readFile(join(folder, 'manifest.json'));
  const manifest = JSON.parse(bytes.toString()) as Manifest;
  const database = await openDatabase(join(folder, databaseFile), { readOnly: true });
  try {
    const figures: Record<string, number[]> = {};
    for (const table of tables) {
      const { rows, sums } = manifest.datasets[table]!;
      figures[`the manifest's ${table}`] = Array.from({ length: rows }, () => Number(sums[column]) / rows);
      for (const from of [table, `read_parquet(${quoteText(join(folder, parquetPath(table)))})`])
        figures[from] = (await database.rows<{ figure: number }>(`SELECT ${column} AS figure FROM ${from}`)).map(
          ({ figure }) => figure,
        );
    }
    const [log] = await database.rows<{ id: string }>('SELECT max(snapshot_id) AS id FROM snapshots_log');
    const hash = createHash('sha256').update(bytes).digest('hex');
    return { ids: [basename(folder), manifest.snapshot, log!.id], hash, figures };
  } finally {
    database.close();
  }
}

/** Milliseconds between two looks; without any, readers would take the machine from those whom they watch. */
const pause = 200;

/** A reader that looks until it is stopped, or the present test is over, and gives what it saw. */
export function startReader(warehouse: string, reader: string): { stop(): Promise<Look[]> } {
  const stopped = new AbortController();
  const looking = (async () => {
    const looks: Look[] = [];
    while (!stopped.signal.aborted) {
      looks.push(await look(warehouse, reader));
      await setTimeout(pause);
    }
    return looks;
  })();
  const stop = (): Promise<Look[]> => {
    stopped.abort();
    return looking;
  };
  onTestFinished(async () => void (await stop()));
  return { stop };
}
