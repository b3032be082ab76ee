/** What counts for a partition is read back as it was landed, or the landing is refused by name. */

import { appendFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
};
const read = () => Promise.reject(new Error('nobody reads it here'));
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

/** Lands these readings; gives the folder and what was passed on. */
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

describe('verdicts.jsonl', () => {
  it('passes every reading on, and gives back what counts for it', async () => {
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

  it.each<[string, (file: string) => Promise<unknown>, RegExp]>([
    ['missing', (file) => rm(file), /is missing/],
    ['empty', (file) => truncate(file), /is incomplete/],
    ['cut off before its last line', async (file) => cut(file, 1), /is incomplete/],
    ['missing a line', async (file) => writeFile(file, (await readFile(file, 'utf8')).replace(/^.*\n/, '')), /end/],
    ['followed by something', (file) => appendFile(file, '{}\n'), /is incomplete/],
    [
      'holding a page that is none',
      async (file) => writeFile(file, (await readFile(file, 'utf8')).replace('[3,0,10]', '[3,-1,10]')),
      /Line 1 of .* is damaged/,
    ],
  ])('is refused where it is %s', async (_what, damage, message) => {
    const { folder, file } = await landed();
    await damage(file);
    await expect(readVerdicts(folder)).rejects.toThrow(expect.objectContaining({ code: 'landing' }));
    await expect(readVerdicts(folder)).rejects.toThrow(message);
  });
});

async function cut(file: string, lines: number): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(
    file,
    `${text
      .split('\n')
      .slice(0, -1 - lines)
      .join('\n')}\n`,
  );
}
