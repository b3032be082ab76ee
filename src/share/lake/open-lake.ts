/** Attaches a catalog to DuckDB through the relay, limited to the tables that are needed. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf, RekapError } from '../../errors.ts';
import type { Database } from '../../runtime/database.ts';
import { Catalog, conflictOf } from './catalog.ts';
import type { TableChange, TableMetadata } from './iceberg.ts';
import { type LakePlace, openLake, sealLake } from './lake-database.ts';
import { publicationsName } from './publications.ts';
import { openRelay, type Relay } from './relay.ts';

/** An attached catalog, and what is known about its tables. */
export interface OpenLake {
  readonly catalog: Catalog;
  readonly database: Database;
  readonly relay: Relay;
  readonly metadata: ReadonlyMap<string, TableMetadata>;
}

/** Returns all changes to commit, given those of DuckDB. */
export type Complete = (
  changes: readonly TableChange[],
  lake: Pick<OpenLake, 'catalog' | 'metadata'>,
) => readonly TableChange[];

/** Opens a lake, passes it to `use`, and closes it. */
export async function withLake<Value>(
  place: LakePlace,
  wanted: {
    readonly prepare?: (catalog: Catalog) => Promise<void>;
    readonly tables: readonly string[];
    readonly files: readonly string[];
    readonly complete?: Complete;
  },
  use: (lake: OpenLake) => Promise<Value>,
): Promise<Value> {
  const catalog = await Catalog.connect(place.catalog);
  const { url } = place.catalog;
  const spill = await mkdtemp(join(tmpdir(), 'rekap-lake-'));
  const metadata = new Map<string, TableMetadata>();
  const { complete = (changes: readonly TableChange[]) => changes } = wanted;
  const relay = await openRelay(catalog, (changes) => complete(changes, { catalog, metadata }));
  let database: Database | null = null;
  try {
    // First, because nothing may be created if an extension is missing.
    database = await openLake(relay, place, spill);
    await wanted.prepare?.(catalog);
    for (const name of [...wanted.tables, publicationsName]) {
      const found = await catalog.loadTable(name);
      if (found !== null) metadata.set(name, found);
    }
    const locations = [...metadata.values()].flatMap(placesOf);
    await sealLake(database, url, { locations, files: wanted.files });
    return await use({ catalog, database, relay, metadata });
  } catch (error) {
    throw explainDuckDb(error, url);
  } finally {
    database?.close();
    relay.close();
    await rm(spill, { recursive: true, force: true });
  }
}

/** Commits the open transaction. @throws The error of the relay, which knows more than DuckDB. */
export async function commitLake({ database, relay }: OpenLake): Promise<void> {
  try {
    await database.run('COMMIT');
  } catch (error) {
    throw relay.commitError() ?? new RekapError('lake', `The commit failed: ${messageOf(error)}`, '', { cause: error });
  }
  const error = relay.commitError();
  if (error !== null) throw error;
}

/** Returns where a table's files are. Properties may name other folders than its location. */
function placesOf({ location, properties = {} }: TableMetadata): string[] {
  const names = ['write.data.path', 'write.metadata.path', 'write.object-storage.path'];
  return [location, ...names.flatMap((name) => properties[name] ?? [])].map((path) => path.replace(/\/+$/, ''));
}

/** Explains an error of DuckDB, such as a store that refuses a file. Other errors stay as they are. */
function explainDuckDb(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof RekapError || !/^[A-Z][A-Za-z ]+ Error: /.test(error.message))
    return error;
  const [message = ''] = error.message.split('\n');
  // A table has changed since the transaction began.
  if (message.includes('reachable state in this transaction')) return conflictOf(url, error);
  const next = /^(IO|HTTP|Permission) Error/.test(message)
    ? 'Check the credentials, the region and the endpoint of the object store, such as AWS_REGION and AWS_ENDPOINT_URL_S3.'
    : 'Check that the namespace has the tables of this project.';
  const what = `DuckDB failed to read or write the tables of ${url}: ${message}`;
  return new RekapError('lake', what, `No rows were changed. ${next}`, { cause: error });
}
