/** rekap report: writes the report of a snapshot as one HTML page. */

import { declareCommand } from './options/option.ts';
import { findReportModule, projectOption } from './project.ts';
import { languageOption, snapshotOption, readWarehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';

export const reportCommand = declareCommand({
  options: {
    ...readWarehouseOption,
    ...snapshotOption,
    ...languageOption,
    ...projectOption,
    out: { type: 'string', describe: 'output file', defaultDescription: 'report-<snapshot>-<language>.html' },
    open: { type: 'boolean', describe: 'open the report in a browser' },
  },
  examples: [
    ['rekap report --open', 'read the report of the current snapshot'],
    ['rekap report --lang id --out laporan.html', 'write the report in Indonesian to a file'],
  ],
  async run({ warehouse, snapshot: id, lang, out, open, project }) {
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
    if (open) await openInBrowser(file);
  },
});

const openers: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

async function openInBrowser(file: string): Promise<void> {
  const [{ spawn }, { resolve }] = await Promise.all([import('node:child_process'), import('node:path')]);
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  await new Promise<void>((done) => {
    const child = spawn(program, [...args, resolve(file)], { stdio: 'ignore', detached: true });
    child.once('error', () => {
      process.stderr.write(`${program} is not installed. Open ${file} in a browser.\n`);
      done();
    });
    child.once('spawn', () => {
      child.unref();
      done();
    });
  });
}
