/** A landing verifies if every file and every body is unchanged. Each changed one is named. */

import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { responsesFile, bodiesFile, runFile } from '../../src/land/formats.ts';
import { verifyLanding } from '../../src/land/landed-run.ts';
import { openLanding } from '../../src/land/landing.ts';
import { describeFile } from '../../src/warehouse/check-files.ts';
import type { ManifestFile } from '../../src/warehouse/snapshot-format.ts';
import { requestOf } from '../support/page-request.ts';
import { voters } from '../support/bundled.ts';
import { describedRun } from '../support/landed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const described = [runFile, responsesFile, bodiesFile];

/** A landing of five responses, and the entries of these files in a manifest. */
async function landed(paths: readonly string[] = described): Promise<{ folder: string; files: ManifestFile[] }> {
  const folder = join(await temporaryFolder(), 'run');
  const { project, ...run } = describedRun();
  // An empty project makes the file short.
  const landing = await openLanding(folder, { ...run, project: { ...project, models: [], checks: [], pipelines: [] } });
  for (let page = 0; page < 5; page += 1) {
    const request = requestOf(voters, { partition: '1101', offset: page, limit: 1 });
    const url = `http://source.test/page/${page}`;
    await landing.land({ request, url, status: 200, at: new Date(0), body: Buffer.from(`response ${page}`) });
  }
  await landing.close();
  return { folder, files: await Promise.all(paths.map((path) => describeFile(folder, path, null))) };
}

it('finds a changed byte in any file, and nothing in an unchanged landing', async () => {
  const { folder, files } = await landed();
  for (const name of described) {
    const file = join(folder, name);
    const bytes = await readFile(file);
    for (let at = 0; at < bytes.length; at += 53) {
      const altered = Buffer.from(bytes);
      altered[at]! ^= 1 << (at % 8);
      await writeFile(file, altered);
      expect((await verifyLanding(folder, files))[0], `${name}, byte ${at}`).toContain(name);
    }
    await writeFile(file, bytes);
  }
  expect(await verifyLanding(folder, files)).toEqual([]);
  const reason = new Error('Terminated.');
  await expect(verifyLanding(folder, files, AbortSignal.abort(reason))).rejects.toBe(reason);
});

it('checks each body against its line, even if no manifest has the hash of bodies.gz', async () => {
  const { folder, files } = await landed([runFile, responsesFile]);
  const file = join(folder, bodiesFile);
  const { length } = await readFile(file);
  await appendFile(file, 'x');
  expect(await verifyLanding(folder, files)).toEqual([]);
  const bytes = await readFile(file);
  bytes[length - 10]! ^= 1;
  await writeFile(file, bytes);
  expect(await verifyLanding(folder, files)).toEqual([
    'bodies.gz: the response of http://source.test/page/4 was changed',
  ]);
  await truncate(file, 5);
  expect(await verifyLanding(folder, files)).toEqual([
    ...[0, 1, 2].map((page) => `bodies.gz: the response of http://source.test/page/${page} was changed`),
    'bodies.gz: and 2 more responses',
  ]);
});

it.each(described)('names %s if it is missing', async (name) => {
  const { folder, files } = await landed();
  await rm(join(folder, name));
  expect(await verifyLanding(folder, files)).toEqual([`${name}: is missing`]);
});
