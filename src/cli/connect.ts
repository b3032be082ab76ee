/** rekap connect: a script that opens the current snapshot in the DuckDB shell. */

import { declareCommand } from './options/option.ts';
import { warehouseOption } from './options/shared.ts';

export const connectCommand = declareCommand({
  options: warehouseOption,
  examples: [['rekap connect > rekap.sql && duckdb -init rekap.sql', 'open the snapshot in the shell']],
  async run({ warehouse }) {
    const [{ resolve }, { quoteText }, { requireCurrent, requireDatabase }] = await Promise.all([
      import('node:path'),
      import('../duckdb/database.ts'),
      import('../warehouse/warehouse.ts'),
    ]);
    const snapshot = await requireCurrent(warehouse);
    const { id, manifest } = snapshot;
    const database = await requireDatabase(snapshot);
    process.stdout.write(
      [
        `-- rekap snapshot ${id} of ${JSON.stringify(manifest.source)}; read-only, and it stays as it is while newer ones are published.`,
        `ATTACH ${quoteText(resolve(database))} AS rekap (READ_ONLY);`,
        'USE rekap;',
        'SHOW TABLES;',
        '',
      ].join('\n'),
    );
  },
});
