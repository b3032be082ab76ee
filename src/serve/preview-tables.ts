/** Reads the first rows of every table and view of a snapshot, for a page. */

import { quoteIdentifier } from '../runtime/database.ts';
import { readPublishedDictionary } from '../warehouse/read-dictionary.ts';
import { displayText } from '../snapshots/query/query-result.ts';
import { runQuery } from '../snapshots/query/run-query.ts';
import { previewRows } from './limits.ts';
import type { TablePreview } from './served-site.ts';
import { parquetPath } from '../warehouse/snapshot-format.ts';
import { requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

/** Memory limit in bytes for reading one table. */
const memory = 256_000_000;

export async function previewTables(snapshot: Snapshot): Promise<TablePreview[]> {
  const file = await requireDatabase(snapshot);
  const previews: TablePreview[] = [];
  for (const { name, kind, meaning } of await readPublishedDictionary(file)) {
    const rows = snapshot.manifest.files.find(({ path }) => path === parquetPath(name))?.rows;
    if (rows === undefined || rows === null) continue;
    const sql = `FROM ${quoteIdentifier(name)} LIMIT ${previewRows}`;
    const read = await runQuery(
      file,
      sql,
      async ({ columns, groups }) => {
        const first: string[][] = [];
        for await (const group of groups()) first.push(...group.map((row) => row.map(displayText)));
        return { columns, first };
      },
      { memory },
    );
    previews.push({ name, kind, meaning, rows, ...read });
  }
  return previews;
}
