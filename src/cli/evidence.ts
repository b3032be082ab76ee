/** rekap evidence: what stands behind the figures of one regency, down to the answers of the source. */

import { declareCommand } from './options/option.ts';
import { jsonOption, languageOption, snapshotOption, warehouseOption } from './options/shared.ts';
import { RekapError, systemCode } from '../errors.ts';
import type { Evidence } from '../snapshots/evidence.ts';

export const evidenceCommand = declareCommand({
  words: { regency: 'name of a regency or city, as the source spells it [default: with --quarantine, all records]' },
  options: {
    ...warehouseOption,
    ...snapshotOption,
    dataset: { type: 'list', takes: 'NAMES', describe: 'just these datasets' },
    column: { type: 'list', takes: 'NAMES', describe: 'just what concerns these columns' },
    quarantine: { type: 'boolean', describe: 'show every record in quarantine' },
    out: {
      type: 'text',
      takes: 'FOLDER',
      describe: 'new folder for the answers as they came, with a file for "sha256sum -c"',
    },
    ...languageOption,
    ...jsonOption,
  },
  examples: [
    ['rekap evidence "OGAN ILIR"', 'what is doubtful there, and the records behind it'],
    ['rekap evidence "OGAN ILIR" --column dpt_total', 'one column, whether a check is broken or not'],
    ['rekap evidence "OGAN ILIR" --out ogan-ilir', 'the answers as files: cd ogan-ilir && sha256sum -c SHA256SUMS'],
    ['rekap evidence --quarantine', 'every record that has no row, and why'],
  ],
  async run(args, [regency]) {
    if ((regency === undefined) === !args.quarantine)
      throw new RekapError(
        'usage',
        regency === undefined ? 'There is no regency to show.' : 'Both a regency and --quarantine are given.',
        'Give the name of a regency, or --quarantine alone.',
      );
    const [{ loadProject }, { findEvidence }, { chooseSnapshot }] = await Promise.all([
      import('../../pipelines/index.ts'),
      import('../snapshots/evidence.ts'),
      import('../warehouse/warehouse.ts'),
    ]);
    const project = loadProject();
    requireNames(
      args.dataset,
      project.pipelines.map(({ table }) => table),
      'dataset',
    );
    requireNames(
      args.column,
      project.pipelines.flatMap(({ columns }) => Object.keys(columns)),
      'column',
    );
    const { warehouse, out } = args;
    const snapshot = await chooseSnapshot(warehouse, args.snapshot);
    const found = await findEvidence(project, warehouse, snapshot, {
      regency: regency ?? null,
      datasets: args.dataset ?? null,
      columns: args.column ?? [],
    });
    const [{ renderEvidence }, { widthOf }, { printJson, writeOut }, { sampleNotice }] = await Promise.all([
      import('./print/evidence-text.ts'),
      import('./print/text.ts'),
      import('./print/terminal.ts'),
      import('../warehouse/snapshot-format.ts'),
    ]);
    if (out !== undefined) await writeFolder(warehouse, out, found);
    if (args.json) return printJson(found);
    await writeOut(renderEvidence(found, args.lang, widthOf(process.stdout)));
    const notice = sampleNotice(snapshot.manifest, args.lang);
    if (notice !== null && found.length > 0) await writeOut(`\n${notice}\n`);
    if (out !== undefined) await writeOut(`\nThe answers are in ${out}: cd ${out} && sha256sum -c SHA256SUMS\n`);
  },
});

function requireNames(given: readonly string[] | undefined, known: readonly string[], option: string): void {
  const wrong = given?.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new RekapError(
      'usage',
      `--${option} ${JSON.stringify(wrong)} is no ${option}.`,
      `There are ${[...new Set(known)].join(', ')}.`,
    );
}

/** The answers as they came, what they are evidence of, and their hashes as sha256sum reads them. */
async function writeFolder(warehouse: string, folder: string, found: readonly Evidence[]): Promise<void> {
  const [{ mkdir, writeFile }, { join }, { readAnswerBody }, { createHash }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
    import('../snapshots/received-records.ts'),
    import('node:crypto'),
  ]);
  try {
    await mkdir(folder);
  } catch (error) {
    const why = systemCode(error) === 'EEXIST' ? 'is there already' : 'cannot be made';
    throw new RekapError('usage', `The folder ${folder} ${why}.`, 'Name a new one with --out.', { cause: error });
  }
  const files = new Map<string, Buffer>();
  for (const record of found.flatMap(({ records }) => records))
    if (!files.has(record.file)) files.set(record.file, await readAnswerBody(warehouse, record));
  files.set('evidence.json', Buffer.from(`${JSON.stringify(found, null, 2)}\n`));
  const sums = [...files].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
}
