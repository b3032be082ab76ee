/** rekap connect: a script that opens the current snapshot in the DuckDB shell. */

import type { CommandModule, InferredOptionTypes } from 'yargs';
import { declareOptions } from './options/declare-options.ts';
import { warehouseOption } from './options/options.ts';

type ConnectArguments = InferredOptionTypes<typeof warehouseOption>;

export const connectCommand: CommandModule<object, ConnectArguments> = {
  builder: (argv) =>
    declareOptions(argv, warehouseOption, {
      examples: [['$0 connect > rekap.sql && duckdb -init rekap.sql', 'open the snapshot in the shell']],
    }),
  async handler({ warehouse }) {
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
};
