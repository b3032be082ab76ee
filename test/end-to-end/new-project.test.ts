/** A new project works at once, in every command, in its own words. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { peopleJson, projectJson, writeProject } from '../support/written-project.ts';

it('a new project is checked, tested, synced, reported and queried, without a word of the bundled one', async () => {
  const above = await temporaryFolder();
  const folder = join(above, 'mine');
  let printed = '';
  const rekap = async (words: readonly string[], cwd = folder): Promise<string> => {
    const { code, stdout, stderr } = await runHere([...words], { HOME: above }, cwd);
    expect(code, `${words.join(' ')}\n${stderr}`).toBe(0);
    printed += stdout + stderr;
    return stdout;
  };
  await rekap(['new', 'mine'], above);
  expect(JSON.parse(await rekap(['check', '--json']))).toMatchObject({ project: 'mine', datasets: ['stations'] });
  const tested = JSON.parse(await rekap(['test', '--faults', 'clamp', '429', '--json'])) as { trials: object[] };
  expect(tested).toMatchObject({ records: 36 });
  expect(tested.trials).toMatchObject([{ outcome: 'exact' }, { outcome: 'exact' }, { outcome: 'exact' }]);
  expect(await rekap(['test', '--faults', '429'])).toMatch(
    /36 records of the sample: 1 exact, 0 refused\..*only a sync/is,
  );
  await rekap(['sync', '--sample']);
  const rows = await rekap(['query', 'SELECT count(*) AS n, sum(ballots) AS ballots FROM stations', '--json']);
  expect(JSON.parse(rows)).toEqual([{ n: 36, ballots: 15_750 }]);
  for (const words of ['status', 'snapshots', 'snapshots current', 'snapshots verify', 'runs', 'replay'])
    await rekap(words.split(' '));
  for (const words of ['sync --help', 'report --out report.html']) await rekap(words.split(' '));
  const report = await readFile(join(folder, 'report.html'), 'utf8');
  expect(report).toContain('for testing only');
  expect(report).toContain('Ballots by region');
  expect(report).toContain('5,697');
  expect(printed + report).not.toMatch(/dapil|district|regenc|province|voter|election/i);
});

it('a section of the report whose query fails is named by its line', async () => {
  const above = await temporaryFolder();
  await runHere(['new', 'mine'], {}, above);
  const file = join(above, 'mine/report.ts');
  await writeFile(file, (await readFile(file, 'utf8')).replace('sum(ballots)', 'sum(ballot)'));
  const { code, stderr } = await runHere(['check'], {}, join(above, 'mine'));
  expect(code).toBe(2);
  expect(stderr).toMatch(/report\.ts:5: Binder Error/);
});

it('a test of a project that loses records fails, and names the fault and the number of records', async () => {
  const above = await temporaryFolder();
  const folder = join(above, 'mine');
  await runHere(['new', 'mine'], {}, above);
  const file = join(folder, 'pipelines/stations.ts');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/, values: list\(.*\)/, ''));
  const { code, stderr } = await runHere(['test', '--faults', 'hide'], { HOME: above }, folder);
  expect(code).toBe(1);
  expect(stderr).toMatch(/hide.*\d+ of 36 records.*`values`/s);
});

it.each([['test'], ['sync', '--sample']])(
  'a project without a sample is told how to make one: %j',
  async (...words) => {
    const folder = await writeProject({ 'rekap.project.json': projectJson, 'people.json': peopleJson });
    const { code, stderr } = await runHere(words, { HOME: folder }, folder);
    expect(code).toBe(2);
    expect(stderr).toMatch(/has no sample.*sample\/people\.json.*rekap probe/s);
    expect(stderr).not.toContain('ENOENT');
  },
);
