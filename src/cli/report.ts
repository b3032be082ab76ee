/** rekap report: writes the report of a snapshot as one HTML page. */

import { usageError } from './options/usage-error.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { declareCommand } from './options/option.ts';
import { allOptions, pick, readWarehouse } from './options/all-options.ts';
import { findReportModule } from './project.ts';
import { makeReport } from '../publish/write-report.ts';
import { requireOutside, writeAside } from '../snapshots/query/write-aside.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { chooseSnapshot, readPinnedId, requireDatabase } from '../warehouse/warehouse.ts';

export const command = declareCommand({
  options: {
    ...readWarehouse,
    ...pick('snapshot', 'lang', 'project'),
    out: { ...allOptions.out, defaultDescription: 'report-<snapshot>-<language>.html' },
  },
  examples: [
    ['rekap report', 'write the report of the current snapshot to a file'],
    ['rekap report --lang id --out laporan.html', 'write the report in Indonesian to a file'],
  ],
  async run({ warehouse, snapshot, lang, out, project }) {
    const { id, folder, manifest, ...rest } = await chooseSnapshot(warehouse, snapshot);
    await requireDatabase({ id, folder, manifest, ...rest });
    const file = out ?? `report-${id}-${lang}.html`;
    await requireOutside(file, warehouse);
    const landing = join(warehousePaths(warehouse).landing, manifest.run);
    // `rekap status` reports a damaged pin.
    const pinned = await readPinnedId(warehouse).catch(() => null);
    const reportModule = await findReportModule(project, manifest.project.name);
    const page = await makeReport(reportModule, manifest, { folder, landing, pinned }, lang);
    if (page === null)
      throw usageError(`Snapshot ${id} does not contain figures for its report.`, 'Sync all datasets first.');
    await writeAside(file, (aside) => writeFile(aside, page));
    return file;
  },
  print: (file) => `${file}\n`,
});
