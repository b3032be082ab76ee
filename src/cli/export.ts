/** rekap export: every table and view of a snapshot as files for other programs. */

import { declareCommand } from './options/option.ts';
import { snapshotOption, readWarehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';
import { countOf } from '../runtime/text.ts';

export const exportCommand = declareCommand({
  options: {
    ...readWarehouseOption,
    ...snapshotOption,
    format: {
      type: 'text',
      takes: 'FORMAT',
      choices: ['xlsx', 'csv', 'parquet'],
      default: 'xlsx',
      describe: 'one workbook with a sheet for each table, or a file for each table',
    },
    into: { type: 'folder', takes: 'FOLDER', describe: 'folder to write into; it is made where there is none' },
  },
  examples: [
    ['rekap export --into for-excel', 'one workbook with every table, and a sheet that says what it is'],
    ['rekap export --format csv --into csv', 'a CSV file for each table'],
  ],
  async run({ warehouse, snapshot: id, format, into }) {
    if (into === undefined)
      throw new RekapError('usage', 'There is no folder to write into.', 'Name one, as in --into for-excel.');
    const [{ chooseSnapshot, requireDatabase }, { requireOutside }, { exportSnapshot }, { mkdir }] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('../query/write-aside.ts'),
      import('../snapshots/export-snapshot.ts'),
      import('node:fs/promises'),
    ]);
    const snapshot = await chooseSnapshot(warehouse, id);
    await requireDatabase(snapshot);
    await requireOutside(into, warehouse);
    await mkdir(into, { recursive: true });
    const files = await exportSnapshot(snapshot, format, into);
    process.stdout.write(`${files.join('\n')}\n`);
    process.stderr.write(`${countOf(files.length, 'file')} of snapshot ${snapshot.id} written into ${into}\n`);
  },
});
