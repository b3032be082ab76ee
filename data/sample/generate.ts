/**
 * Writes the sample files. Run from the project's folder, after a build:
 *
 *     node dist/data/sample/generate.js [folder, default data/sample] [districts, default data/reference/dapil-2024.json]
 */

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDistricts } from './districts.ts';
import { formatRecords, makeRecords, sampleFileName } from './records.ts';

const [folder = 'data/sample', reference = 'data/reference/dapil-2024.json'] = process.argv.slice(2);

const records = makeRecords(parseDistricts(await readFile(reference, 'utf8')));
await mkdir(folder, { recursive: true });
for (const dataset of ['voters', 'voting_rights_users'] as const) {
  const path = join(folder, sampleFileName(dataset));
  await writeFile(`${path}.tmp`, formatRecords(records[dataset]), { flush: true });
  await rename(`${path}.tmp`, path);
  process.stdout.write(`${path}: ${records[dataset].length} records\n`);
}
