/** rekap export: every table and view of a snapshot as files for other programs. */

import { declareCommand } from './options/option.ts';
import { snapshotOption, readWarehouseOption } from './options/shared.ts';
import { RekapError, systemReason } from '../errors.ts';
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
    into: {
      type: 'folder',
      takes: 'FOLDER',
      describe: 'folder to write into [default: rekap-<snapshot>, a new or empty one]',
    },
  },
  examples: [
    ['rekap export', 'one workbook with every table, and a sheet that says what it is'],
    ['rekap export --format csv --into csv', 'a CSV file for each table, and ABOUT.txt'],
  ],
  async run({ warehouse, snapshot: id, format, into }) {
    const [
      { chooseSnapshot, requireDatabase },
      { requireOutside },
      { exportSnapshot },
      { sampleNotice },
      { mkdir, readdir },
    ] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('../query/write-aside.ts'),
      import('../snapshots/export-snapshot.ts'),
      import('../warehouse/snapshot-format.ts'),
      import('node:fs/promises'),
    ]);
    const snapshot = await chooseSnapshot(warehouse, id);
    await requireDatabase(snapshot);
    const folder = into ?? `rekap-${snapshot.id}`;
    await requireOutside(folder, warehouse, '--into');
    try {
      await mkdir(folder, { recursive: true });
    } catch (error) {
      const what = `The folder ${folder} cannot be made: ${systemReason(error)}.`;
      throw new RekapError('usage', what, 'Name another one with --into.', { cause: error });
    }
    if (into === undefined && (await readdir(folder)).length > 0)
      throw new RekapError(
        'usage',
        `The folder ${folder} is not empty.`,
        'Name another one with --into, or remove it.',
      );
    const files = await exportSnapshot(snapshot, format, folder);
    const notice = sampleNotice(snapshot.manifest);
    process.stdout.write(`${files.join('\n')}\n`);
    process.stderr.write(`${countOf(files.length, 'file')} of snapshot ${snapshot.id} written into ${folder}\n`);
    if (notice !== null) process.stderr.write(`${notice}\n`);
  },
});
