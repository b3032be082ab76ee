/** The verdict on a partition is read back as it was landed, or the landing is refused. */

import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verdictsFile } from '../../src/land/formats.ts';
import { readVerdicts } from '../../src/land/landed-run.ts';
import { openLanding } from '../../src/land/landing.ts';
import { describedRun } from '../support/landed.ts';
import type { AcceptedReading, Verdict } from '../../src/stages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const verdict: Verdict = {
  dataset: 'voters',
  partition: '1101',
  complete: true,
  proof: 'own end',
  grade: 'overlap',
  listed: null,
  received: 12,
  pages: 2,
  readings: 2,
  read_at: '2026-11-20T03:00:02.500Z',
  reason: null,
  content: '0-0',
};
const read = () => Promise.reject(new Error('not read in these tests'));
const readings: AcceptedReading[] = [
  {
    verdict,
    pages: [
      { response: 3, first: 0, count: 10, read, release() {} },
      { response: 5, first: 1, count: 2, read, release() {} },
    ],
  },
  { verdict: { ...verdict, partition: '1102', complete: false, reason: 'it has no end' }, pages: [] },
];

async function landed() {
  const folder = join(await temporaryFolder(), 'run');
  const landing = await openLanding(folder, describedRun());
  const passed: AcceptedReading[] = [];
  const source = (async function* () {
    yield* readings;
  })();
  for await (const reading of landing.landVerdicts(source, ['a warning'])) passed.push(reading);
  await landing.close();
  return { folder, file: join(folder, verdictsFile), passed };
}

it('passes every verdict on, and reads it back with the accepted pages', async () => {
  const { folder, passed } = await landed();
  expect(passed).toEqual(readings);
  expect(await readVerdicts(folder)).toEqual({
    warnings: ['a warning'],
    verdicts: [
      { ...verdict, accepted: [[3, 0, 10], [5, 1, 2]] }, // prettier-ignore
      { ...readings[1]!.verdict, accepted: [] },
    ],
  });
});

const edit = async (file: string, from: RegExp | string, to: string) =>
  writeFile(file, (await readFile(file, 'utf8')).replace(from, to));

it.each<[string, (file: string) => Promise<unknown>, string]>([
  ['missing', (file) => rm(file), 'is missing'],
  ['empty', (file) => truncate(file), 'is incomplete'],
  ['without its last line', (file) => edit(file, /[^\n]*\n$/, ''), 'is incomplete'],
  ['without its first line', (file) => edit(file, /^.*\n/, ''), 'end'],
  ['longer', (file) => appendFile(file, '{}\n'), 'is incomplete'],
  ['malformed', (file) => edit(file, '[3,0,10]', '[3,-1,10]'), 'is damaged'],
])('is refused if it is %s', async (_what, damage, words) => {
  const { folder, file } = await landed();
  await damage(file);
  await expect(readVerdicts(folder)).rejects.toMatchObject({
    code: 'landing',
    message: expect.stringContaining(words),
  });
});
