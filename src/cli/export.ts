/** rekap export: writes all tables and views of a snapshot as files for other programs. */

import { declareCommand } from './options/option.ts';
import { allOptions, pick, readWarehouse } from './options/all-options.ts';
import { withSignals } from './signals.ts';
import { RekapError } from '../errors.ts';
import { countOf } from '../runtime/text.ts';

export const command = declareCommand({
  options: {
    ...readWarehouse,
    ...pick('snapshot'),
    format: {
      ...allOptions.format,
      choices: ['xlsx', 'csv', 'parquet'],
      default: 'xlsx',
      describe: 'xlsx writes one workbook with a sheet per table; csv and parquet write a file per table',
    },
    out: {
      ...allOptions.out,
      path: 'folder',
      describe: 'output folder',
      defaultDescription: 'rekap-<snapshot>, which must be new or empty',
    },
  },
  examples: [
    ['rekap export', 'one workbook with all tables, and a sheet that describes them'],
    ['rekap export --format csv --out csv', 'a CSV file per table, and ABOUT.txt'],
  ],
  async run({ warehouse, snapshot: id, format, out }) {
    const [{ chooseSnapshot, requireDatabase }, { requireOutside }, { exportSnapshot }, { sampleNotice }, { readdir }] =
      await Promise.all([
        import('../warehouse/warehouse.ts'),
        import('../snapshots/query/write-aside.ts'),
        import('../snapshots/export-snapshot.ts'),
        import('../warehouse/snapshot-format.ts'),
        import('node:fs/promises'),
      ]);
    const snapshot = await chooseSnapshot(warehouse, id);
    await requireDatabase(snapshot);
    const folder = out ?? `rekap-${snapshot.id}`;
    await requireOutside(folder, warehouse, '--out');
    if (out === undefined && (await readdir(folder).catch(() => [])).length > 0)
      throw new RekapError(
        'usage',
        `The folder ${folder} is not empty.`,
        'Choose another folder with --out, or remove this one.',
      );
    const files = await withSignals({ next: `Nothing was written to ${folder}.` }, (signal) =>
      exportSnapshot(snapshot, { format, folder, signal }),
    );
    const notice = sampleNotice(snapshot.manifest);
    process.stdout.write(`${files.join('\n')}\n`);
    process.stderr.write(`${countOf(files.length, 'file')} of snapshot ${snapshot.id} written to ${folder}\n`);
    if (notice !== null) process.stderr.write(`${notice}\n`);
  },
});
