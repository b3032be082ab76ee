/** rekap evidence: shows where the figures of a row come from, or states what is known of a place or of everything. */

import { usageError } from './options/usage-error.ts';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { declareCommand } from './options/option.ts';
import { allOptions, pick } from './options/all-options.ts';
import { renderEvidence } from './print/evidence-text.ts';
import { statementHtml, statementText } from './print/statement-page.ts';
import { widthOf } from './print/wrap-text.ts';
import { systemCode } from '../errors.ts';
import { type Evidence, findEvidence } from '../snapshots/find-evidence.ts';
import { readResponseBody } from '../snapshots/received-records.ts';
import { requireOutside, writeAside } from '../snapshots/query/write-aside.ts';
import { collectStatement } from '../snapshots/statement.ts';
import { sampleNotice } from '../warehouse/snapshot-format.ts';
import { chooseSnapshot } from '../warehouse/warehouse.ts';

export const command = declareCommand({
  positionals: {
    name: 'value of the last column of the key, as the source spells it; with --statement, of any column with text or in the key [default: all records in quarantine]',
  },
  options: {
    ...pick('warehouse', 'snapshot', 'column', 'lang', 'json'),
    dataset: { ...allOptions.dataset, describe: 'only these datasets' },
    statement: {
      type: 'boolean',
      describe: 'instead state on one page what was read, what proves it and what is unknown, of NAME or of everything',
    },
    out: {
      ...allOptions.out,
      describe:
        'new folder for the original responses, with a SHA256SUMS file for "sha256sum -c"; with --statement, an HTML file',
    },
  },
  examples: [
    ['rekap evidence "STATION 12"', 'failed checks and the original records'],
    ['rekap evidence "STATION 12" --column total', 'one column, even if all checks pass'],
    ['rekap evidence "STATION 12" --out station-12', 'the responses as files, with their SHA-256'],
    ['rekap evidence', 'all records without a row, and the reason'],
    ['rekap evidence --statement --out statement.html', 'a page to attach to what you publish'],
  ],
  async run({ warehouse, snapshot: id, dataset, column, lang, out, statement }, [name = null]) {
    const snapshot = await chooseSnapshot(warehouse, id);
    const { pipelines } = snapshot.manifest.project;
    const notice = sampleNotice(snapshot.manifest, lang);
    const tables = pipelines.map(({ table }) => table);
    const columns = pipelines.flatMap((pipeline) => Object.keys(pipeline.columns));
    requireKnown(dataset, tables, 'dataset');
    requireKnown(column, columns, 'column');
    if (statement) {
      const stated = await collectStatement(warehouse, snapshot, name, { column: column?.[0], datasets: dataset });
      if (out !== undefined) {
        await requireOutside(out, warehouse);
        await writeAside(out, (aside) => writeFile(aside, statementHtml(stated, notice, lang)));
      }
      return { stated, notice };
    }
    const found = await findEvidence(warehouse, snapshot, { name, datasets: dataset ?? null, columns: column ?? [] });
    if (out !== undefined) await writeFolder(warehouse, out, found);
    return { found, notice };
  },
  toJson: (result) => ('stated' in result ? result.stated : result.found),
  print(result, { lang, out }) {
    if ('stated' in result)
      return out === undefined
        ? statementText(result.stated, result.notice, lang, widthOf(process.stdout))
        : `${out}\n`;
    const { found, notice } = result;
    const parts = [renderEvidence(found, lang, widthOf(process.stdout))];
    if (notice !== null && found.length > 0) parts.push(`${notice}\n`);
    if (out !== undefined)
      parts.push(`The responses are in ${out}. To verify them: cd ${out} && sha256sum -c SHA256SUMS\n`);
    return parts.join('\n');
  },
});

function requireKnown(given: readonly string[] | undefined, known: readonly string[], option: string): void {
  const wrong = given?.find((name) => !known.includes(name));
  if (wrong !== undefined)
    throw usageError(
      `--${option}: unknown ${option} ${JSON.stringify(wrong)}.`,
      `Choose from ${[...new Set(known)].join(', ')}.`,
    );
}

async function writeFolder(warehouse: string, folder: string, found: readonly Evidence[]): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const why = systemCode(error) === 'EEXIST' ? 'already exists' : 'cannot be created';
    throw usageError(`The folder ${folder} ${why}.`, 'Choose a new folder with --out.', error);
  }
  const files = new Map<string, Buffer>();
  for (const record of found.flatMap(({ records }) => records))
    if (!files.has(record.file)) files.set(record.file, await readResponseBody(warehouse, record));
  files.set('evidence.json', Buffer.from(`${JSON.stringify(found, null, 2)}\n`));
  const sums = [...files].map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  await writeFile(join(folder, 'SHA256SUMS'), sums.join(''));
}
