/** rekap report: writes the report of a snapshot as one HTML page. */

import { declareCommand } from './options/option.ts';
import { allOptions, pick, readWarehouse } from './options/all-options.ts';
import { findReportModule } from './project.ts';
import { RekapError } from '../errors.ts';

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
  async run({ warehouse, snapshot: id, lang, out, project }) {
    const [{ makeReport }, { chooseSnapshot, readPinnedId, requireDatabase }, { writeAside, requireOutside }, paths] =
      await Promise.all([
        import('../publish/write-report.ts'),
        import('../warehouse/warehouse.ts'),
        import('../snapshots/query/write-aside.ts'),
        import('../warehouse/snapshot-format.ts'),
      ]);
    const { join } = await import('node:path');
    const snapshot = await chooseSnapshot(warehouse, id);
    await requireDatabase(snapshot);
    const { folder, manifest } = snapshot;
    const file = out ?? `report-${snapshot.id}-${lang}.html`;
    await requireOutside(file, warehouse);
    const landing = join(paths.warehousePaths(warehouse).landing, manifest.run);
    // `rekap status` reports a damaged pin.
    const pinned = await readPinnedId(warehouse).catch(() => null);
    const page = await makeReport(
      await findReportModule(project, manifest.project.name),
      manifest,
      { folder, landing, pinned },
      lang,
    );
    if (page === null)
      throw new RekapError(
        'usage',
        `Snapshot ${snapshot.id} does not contain figures for its report.`,
        'Sync all datasets first.',
      );
    const { writeFile } = await import('node:fs/promises');
    await writeAside(file, (aside) => writeFile(aside, page));
    process.stdout.write(`${file}\n`);
  },
});
