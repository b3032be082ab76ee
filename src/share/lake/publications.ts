/** Defines the table `publications`, which records every snapshot that was published to a catalog. */

import { type Database, quoteText } from '../../runtime/database.ts';
import { lakeTableSql } from './lake-database.ts';
import type { NewTable } from './iceberg.ts';

export const publicationsName = 'publications';

/** A row of the table. */
export interface Publication {
  readonly sequence: number;
  readonly snapshot_id: string;
  readonly run_id: string;
  readonly source: string;
  readonly published_at: string;
  readonly manifest_sha256: string;
}

const columns = [
  ['sequence', 'int', 'Number of the publication, from 1. Row 0 only begins the table.'],
  ['snapshot_id', 'string', 'ID of the snapshot.'],
  ['run_id', 'string', 'ID of the run whose responses the snapshot was built from.'],
  ['source', 'string', 'URL of the source.'],
  ['published_at', 'timestamp', 'UTC time of the publication.'],
  ['manifest_sha256', 'string', 'SHA-256 of the manifest, which lists the hash of every file.'],
] as const;

export const publicationsTable: NewTable = {
  name: publicationsName,
  schema: {
    type: 'struct',
    fields: columns.map(([name, type, doc], index) => ({ id: index + 1, name, required: true, type, doc })),
  },
  properties: {
    'format-version': '2',
    comment: 'The snapshots that were published, one row each. The last one is in the tables.',
  },
};

/** Returns the last publication, or null. */
export async function lastPublication(database: Database, namespace: string): Promise<Publication | null> {
  const [last] = await database.rows<Publication>(
    `SELECT sequence, snapshot_id, run_id, source, strftime(published_at, '%Y-%m-%dT%H:%M:%SZ') AS published_at, manifest_sha256
     FROM ${lakeTableSql(namespace, publicationsName)} WHERE sequence > 0 ORDER BY sequence DESC LIMIT 1`,
  );
  return last ?? null;
}

export async function addPublication(
  database: Database,
  namespace: string,
  row: Omit<Publication, 'published_at'>,
  now: Date,
): Promise<void> {
  const { sequence, snapshot_id, run_id, source, manifest_sha256 } = row;
  const texts = [snapshot_id, run_id, source, now.toISOString().slice(0, 19), manifest_sha256];
  await database.run(
    `INSERT INTO ${lakeTableSql(namespace, publicationsName)} VALUES (${sequence}, ${texts.map(quoteText).join(', ')})`,
  );
}
