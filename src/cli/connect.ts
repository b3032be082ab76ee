/** rekap connect: a script that opens the current snapshot in the DuckDB shell. */

import { declareCommand } from './options/option.ts';
import { snapshotOption, readWarehouseOption } from './options/shared.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

export const connectCommand = declareCommand({
  options: { ...readWarehouseOption, ...snapshotOption },
  examples: [['rekap connect > rekap.sql && duckdb -init rekap.sql', 'open the snapshot in the DuckDB shell']],
  async run({ warehouse, snapshot: id }) {
    const { chooseSnapshot, requireDatabase } = await import('../warehouse/warehouse.ts');
    const snapshot = await chooseSnapshot(warehouse, id);
    process.stdout.write(await connectScript(snapshot, await requireDatabase(snapshot)));
  },
});

/** Statements for DuckDB's own shell. */
export async function connectScript({ id, manifest }: Snapshot, database: string): Promise<string> {
  const [{ resolve }, { quoteText }, { sampleNotice }] = await Promise.all([
    import('node:path'),
    import('../duckdb/database.ts'),
    import('../warehouse/snapshot-format.ts'),
  ]);
  const notice = sampleNotice(manifest);
  return [
    `-- rekap snapshot ${id} from ${JSON.stringify(manifest.source)}, read-only. It stays the same when newer snapshots are published.`,
    ...(notice === null ? [] : [`-- ${notice}`]),
    `ATTACH ${quoteText(resolve(database))} AS rekap (READ_ONLY);`,
    'USE rekap;',
    'SHOW TABLES;',
    '',
  ].join('\n');
}
