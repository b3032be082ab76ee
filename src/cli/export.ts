/** rekap export: writes all tables and views of a snapshot as files for other programs. */

import { usageError } from './options/usage-error.ts';
import { readdir } from 'node:fs/promises';
import { declareCommand } from './options/option.ts';
import { allOptions, pick, readWarehouse } from './options/all-options.ts';
import { printNotice } from './print/terminal.ts';
import { withSignals } from './signals.ts';
import { countOf } from '../runtime/text.ts';
import { exportSnapshot } from '../snapshots/export-snapshot.ts';
import { requireOutside } from '../snapshots/query/write-aside.ts';
import { sampleNotice } from '../warehouse/snapshot-format.ts';
import { chooseSnapshot, requireDatabase } from '../warehouse/warehouse.ts';

export const command = declareCommand({
  positionals: { table: 'a table or a view; without one, all of them' },
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
    ['rekap export turnout_by_province', 'one table as a workbook'],
    ['rekap export --format csv --out csv', 'a CSV file per table, and ABOUT.txt'],
  ],
  async run({ warehouse, snapshot: id, format, out }, [only = null]) {
    const snapshot = await chooseSnapshot(warehouse, id);
    await requireDatabase(snapshot);
    const folder = out ?? `rekap-${snapshot.id}`;
    await requireOutside(folder, warehouse, '--out');
    if (out === undefined && (await readdir(folder).catch(() => [])).length > 0)
      throw usageError(`The folder ${folder} is not empty.`, 'Choose another folder with --out, or remove this one.');
    const files = await withSignals({ next: `Nothing was written to ${folder}.` }, (signal) =>
      exportSnapshot(snapshot, { format, folder, only, signal }),
    );
    printNotice(`${countOf(files.length, 'file')} of snapshot ${snapshot.id} written to ${folder}`);
    printNotice(sampleNotice(snapshot.manifest));
    return files;
  },
  print: (files) => `${files.join('\n')}\n`,
});
