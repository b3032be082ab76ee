/** rekap diff: shows what the source changed between two snapshots. */

import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { writeDifferences, writeViolations } from './print/differences.ts';
import { printable, printNotice, writeOut } from './print/terminal.ts';
import { RekapError } from '../errors.ts';
import { chooseSnapshots, diffSnapshots, diffViolations, loneDatasets } from '../snapshots/diff-snapshots.ts';
import { writeCsv, writeJson } from '../snapshots/query/write-result.ts';
import { sampleNotice } from '../warehouse/snapshot-format.ts';
import { listSnapshotIds, requireCurrent } from '../warehouse/warehouse.ts';
import { countOf } from '../runtime/text.ts';

export const command = declareCommand({
  positionals: {
    a: 'ID of the earlier snapshot [default: the previous snapshot of B]',
    b: 'ID of the later snapshot [default: the current snapshot]',
  },
  options: { ...pick('warehouse', 'format'), json: { ...allOptions.json, describe: 'same as --format json' } },
  exclusive: ['format', 'json'],
  examples: [
    ['rekap diff', 'the last published change, with new and resolved violations'],
    ['rekap diff 20261101T030002Z-1f3a9c', 'all changes since that snapshot'],
    ['rekap diff --format csv > restated.csv', 'a file for a spreadsheet'],
  ],
  async run({ warehouse, json, format = json ? 'json' : 'table' }, [a, b]) {
    if (a === undefined) await requireAnother(warehouse);
    const compared = await chooseSnapshots(warehouse, a, b);
    const { pipelines } = compared.after.manifest.project;
    const notes = loneDatasets(compared).map(({ table, rows, snapshot }) =>
      printable(`Only snapshot ${snapshot} contains the dataset ${table} (${countOf(rows, 'row')}).`),
    );
    const notice = sampleNotice(compared.after.manifest) ?? sampleNotice(compared.before.manifest);
    if (format === 'table') {
      await diffSnapshots(pipelines, compared, (result) => writeDifferences(result, compared, notes));
      await diffViolations(pipelines, compared, (result) => writeViolations(result, pipelines));
      if (notice !== null) await writeOut(`${notice}\n`);
      return;
    }
    for (const note of notes) printNotice(note);
    const writeRows = format === 'csv' ? writeCsv : writeJson;
    await diffSnapshots(pipelines, compared, async (result) => void (await writeRows(result, writeOut)));
    printNotice(notice);
  },
});

/** @throws `snapshot-not-found` if the warehouse contains only one snapshot. */
async function requireAnother(warehouse: string): Promise<void> {
  const { id } = await requireCurrent(warehouse);
  if ((await listSnapshotIds(warehouse)).length > 1) return;
  throw new RekapError(
    'snapshot-not-found',
    `The warehouse ${warehouse} contains only one snapshot, ${id}, so there is nothing to compare.`,
    'The next sync that finds changed figures publishes a second snapshot.',
  );
}
