/** Writes tables of the served snapshot as CSV, each when it is first requested. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { exportCsv } from '../snapshots/export-snapshot.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { tableMemory, tablesAtOnce } from './limits.ts';

/** Whole files, because a client that reads slowly must not hold a database, and one that fails must be visible. */
export class CsvFiles {
  readonly #limit = pLimit(tablesAtOnce);
  #kept: { readonly id: string; readonly folder: Promise<string>; readonly files: Map<string, Promise<void>> } | null =
    null;

  /** Writes `<name>.csv` unless it exists, and returns its folder. */
  async write(snapshot: Snapshot, name: string): Promise<string> {
    if (this.#kept?.id !== snapshot.id) {
      void this.close().catch(() => undefined);
      this.#kept = { id: snapshot.id, folder: mkdtemp(join(tmpdir(), 'rekap-csv-')), files: new Map() };
    }
    const { files, folder: created } = this.#kept;
    const folder = await created;
    let file = files.get(name);
    if (file === undefined) {
      file = this.#limit(() => exportCsv(snapshot, name, join(folder, `${name}.csv`), { memory: tableMemory }));
      files.set(name, file);
      file.catch(() => files.delete(name));
    }
    await file;
    return folder;
  }

  /** Removes the files. Responses in progress keep theirs open. */
  async close(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    if (kept !== null) await rm(await kept.folder, { recursive: true, force: true });
  }
}
