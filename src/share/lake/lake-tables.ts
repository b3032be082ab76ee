/** Reads which tables a snapshot has, and creates them in a catalog. */

import { basename, join } from 'node:path';
import { RekapError } from '../../errors.ts';
import { type DescribedColumn, openDatabase, readParquetSql } from '../../runtime/database.ts';
import { readPublishedDictionary } from '../../warehouse/read-dictionary.ts';
import { requireDatabase, type Snapshot } from '../../warehouse/warehouse.ts';
import type { Catalog } from './catalog.ts';
import type { TableChange } from './iceberg.ts';
import { publicationsName, publicationsTable } from './publications.ts';
import { type LakeColumn, type LakeTable, currentFields, missingFields, newTable } from './table-schema.ts';

/** Returns the tables of a snapshot, and the results of its models. */
export async function tablesOf(snapshot: Snapshot): Promise<LakeTable[]> {
  const dictionary = await readPublishedDictionary(await requireDatabase(snapshot));
  const keys = new Map(snapshot.manifest.project.pipelines.map(({ table, key }) => [table, key]));
  const database = await openDatabase(':memory:');
  try {
    const tables: LakeTable[] = [];
    for (const { path } of snapshot.manifest.files) {
      if (!path.endsWith('.parquet')) continue;
      const name = basename(path, '.parquet');
      const file = join(snapshot.folder, path);
      const relation = dictionary.find((one) => one.name === name);
      const described = await database.rows<DescribedColumn>(`DESCRIBE FROM ${readParquetSql(file)}`);
      const columns = described.map(({ column_name, column_type }): LakeColumn => ({
        name: column_name,
        type: column_type,
        meaning: relation?.columns.find((column) => column.name === column_name)?.meaning ?? '',
      }));
      tables.push({ name, meaning: relation?.meaning ?? '', file, columns, key: keys.get(name) ?? [] });
    }
    return tables;
  } finally {
    database.close();
  }
}

/** Creates missing tables, and adds missing columns to existing ones. Both are empty, so readers see no figures of another snapshot. */
export async function createTables(catalog: Catalog, tables: readonly LakeTable[]): Promise<void> {
  requireDistinct([publicationsName, ...tables.map(({ name }) => name)]);
  await catalog.createNamespace();
  if ((await catalog.loadTable(publicationsName)) === null) await catalog.createTable(publicationsTable);
  const additions: TableChange[] = [];
  for (const table of tables) {
    const metadata = await catalog.loadTable(table.name);
    if (metadata === null) {
      await catalog.createTable(newTable(table, { 'rekap.table': table.name }));
      continue;
    }
    const missing = missingFields(table, metadata);
    if (missing.length === 0) continue;
    additions.push(
      catalog.change(table.name, {
        requirements: [
          { type: 'assert-table-uuid', uuid: metadata['table-uuid'] },
          { type: 'assert-current-schema-id', 'current-schema-id': metadata['current-schema-id'] },
        ],
        updates: [
          {
            action: 'add-schema',
            schema: { type: 'struct', fields: [...currentFields(metadata), ...missing] },
            'last-column-id': metadata['last-column-id'] + missing.length,
          },
          { action: 'set-current-schema', 'schema-id': -1 },
        ],
      }),
    );
  }
  if (additions.length > 0) await catalog.commitOnce(additions, 'add columns');
}

/** @throws `usage` if a table of the project has the name of one that rekap adds in a catalog. */
export function requireDistinct(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice === undefined) return;
  const what = `The table ${twice} cannot be written to a catalog, because rekap creates a table with this name there.`;
  throw new RekapError('usage', what, 'Rename it in the project.');
}
