/** rekap evidence: shows where the figures of a row come from, including the responses of the source. */

import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { RekapError, systemCode } from '../errors.ts';
import type { Evidence } from '../snapshots/find-evidence.ts';

export const command = declareCommand({
  positionals: {
    name: 'value of the last column of the key, as the source spells it [default: all records in quarantine]',
  },
  options: {
    ...pick('warehouse', 'snapshot', 'column', 'lang', 'json'),
    dataset: { ...allOptions.dataset, describe: 'only these datasets' },
    out: {
      ...allOptions.out,
      describe: 'new folder for the original responses, with a SHA256SUMS file for "sha256sum -c"',
    },
  },
  examples: [
    ['rekap evidence "STATION 12"', 'failed checks and the original records'],
    ['rekap evidence "STATION 12" --column total', 'one column, even if all checks pass'],
    ['rekap evidence "STATION 12" --out station-12', 'the responses as files, with their SHA-256'],
    ['rekap evidence', 'all records without a row, and the reason'],
  ],
  async run(args, [name]) {
    const [{ findEvidence }, { chooseSnapshot }] = await Promise.all([
      import('../snapshots/find-evidence.ts'),
      import('../warehouse/warehouse.ts'),
    ]);
    const { warehouse, out } = args;
    const snapshot = await chooseSnapshot(warehouse, args.snapshot);
    const { project } = snapshot.manifest;
    requireKnown(
      args.dataset,
      project.pipelines.map(({ table }) => table),
      'dataset',
    );
    requireKnown(
      args.column,
      project.pipelines.flatMap(({ columns }) => Object.keys(columns)),
      'column',
    );
    const found = await findEvidence(warehouse, snapshot, {
      name: name ?? null,
      datasets: args.dataset ?? null,
      columns: args.column ?? [],
    });
    const [{ renderEvidence }, { widthOf }, { printJson, writeOut }, { sampleNotice }] = await Promise.all([
      import('./print/evidence-text.ts'),
      import('./print/wrap-text.ts'),
      import('./print/terminal.ts'),
      import('../warehouse/snapshot-format.ts'),
    ]);
    if (out !== undefined) await writeFolder(warehouse, out, found);
    if (args.json) return printJson(found);
    await writeOut(renderEvidence(found, args.lang, widthOf(process.stdout)));
    const notice = sampleNotice(snapshot.manifest, args.lang);
    if (notice !== null && found.length > 0) await writeOut(`\n${notice}\n`);
    if (out !== undefined)
      await writeOut(`\nThe responses are in ${out}. To verify them: cd ${out} && sha256sum -c SHA256SUMS\n`);
  },
});

function requireKnown(given: readonly string[] | undefined, known: readonly string[], option: string): void {
  const wrong = given?.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw new RekapError(
      'usage',
      `--${option}: unknown ${option} ${JSON.stringify(wrong)}.`,
      `Choose from ${[...new Set(known)].join(', ')}.`,
    );
}

async function writeFolder(warehouse: string, folder: string, found: readonly Evidence[]): Promise<void> {
  const [{ mkdir, writeFile }, { join }, { readResponseBody }, { createHash }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
    import('../snapshots/received-records.ts'),
    import('node:crypto'),
  ]);
  try {
    await mkdir(folder);
  } catch (error) {
    const why = systemCode(error) === 'EEXIST' ? 'already exists' : 'cannot be created';
    throw new RekapError('usage', `The folder ${folder} ${why}.`, 'Choose a new folder with --out.', { cause: error });
  }
  const files = new Map<string, Buffer>();
  for (const record of found.flatMap(({ records }) => records))
    if (!files.has(record.file)) files.set(record.file, await readResponseBody(warehouse, record));
  files.set('evidence.json', Buffer.from(`${JSON.stringify(found, null, 2)}\n`));
  const sums = [...files].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
}
