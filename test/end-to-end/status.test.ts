/** The nights of a warehouse as its owner sees them: published, unchanged, failed, killed. */

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const prepared = preparedSnapshots(smallNation({ 1101: 4 }));

async function published() {
  const { warehouse, known } = await prepared();
  const { url } = await serveData(smallNation({ 1101: 4 }));
  return { warehouse, url, run: known[0] };
}

describe('rekap status', () => {
  it('says on one line and by its exit code whether the data are fresh', async () => {
    const { warehouse } = await published();
    const fresh = await runHere(['status', '--max-age', '99999d', '--warehouse', warehouse]);
    expect(fresh).toMatchObject({ code: 0, stdout: expect.stringMatching(/^fresh: published .* 4 \+ 4 rows\n$/) });
    const stale = await runHere(['status', '--max-age', '1s', '--json', '--warehouse', warehouse]);
    expect(stale.code).toBe(6);
    expect(JSON.parse(stale.stdout)).toMatchObject({ state: 'stale', exit_code: 6 });
  });

  it('names why the last run failed, though the data are fresh enough', async () => {
    const { warehouse } = await published();
    await expect(runSync(syncOptions(warehouse, 'http://127.0.0.1:1', { maxAttempts: 1 }))).rejects.toMatchObject({
      code: 'source-unreachable',
    });
    const { code, stdout } = await runHere(['status', '--max-age', '99999d', '--warehouse', warehouse]);
    expect(code).toBe(7);
    expect(stdout).toContain('cannot be reached');
  });

  it('names a sync that failed before it began, and a push that failed', async () => {
    const { warehouse, url } = await published();
    const state = async () => {
      const { code, stdout } = await runHere(['status', '--max-age', '99999d', '--json', '--warehouse', warehouse]);
      return { code, failure: (JSON.parse(stdout) as { failure: object | null }).failure };
    };
    const words = ['sync', '--base-url', url, '--accept-source', '--warehouse', warehouse];
    expect((await runHere([...words, '--api-key-file', join(warehouse, 'no-key')])).code).toBe(2);
    expect(await state()).toMatchObject({ code: 7, failure: { kind: 'sync', exit_code: 2 } });
    const nowhere = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'us-east-1', AWS_MAX_ATTEMPTS: '1' };
    const keys = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'nothing', REKAP_API_KEY: testKey };
    expect((await runHere([...words, '--push', 's3://figures/dpr'], { ...nowhere, ...keys })).code).toBe(8);
    expect(await state()).toMatchObject({ code: 7, failure: { kind: 'push', exit_code: 8 } });
  });

  it.each(['', '26', 'a day', '-1h', '0h'])('refuses the span %j', async (span) => {
    expect((await runHere(['status', `--max-age=${span}`, '--warehouse', await temporaryFolder()])).code).toBe(2);
  });
});

describe('a run that was killed', () => {
  it('gets its line from the next one that holds the lock, and only once', async () => {
    const { warehouse, url, run } = await published();
    const [landing] = await readdir(join(warehouse, 'landing'));
    expect(landing).toBe(run);
    const killed = '20261119T030000Z-aaaaaa';
    const left = join(warehouse, 'landing', killed);
    await mkdir(left);
    const file = JSON.parse(await readFile(join(warehouse, 'landing', run, 'run.json'), 'utf8')) as object;
    const started = { run: killed, started_at: '2026-11-19T03:00:00.000Z' };
    await writeFile(join(left, 'run.json'), JSON.stringify({ ...file, ...started }));
    await writeFile(join(left, 'responses.jsonl'), '');
    const seen = await runHere(['status', '--max-age', '99999d', '--json', '--warehouse', warehouse]);
    expect(JSON.parse(seen.stdout)).toMatchObject({ exit_code: 7, failure: { run: killed, exit_code: 137 } });
    for (let night = 0; night < 2; night += 1) await runSync(syncOptions(warehouse, url));
    const lines = await readRunLines(warehouse);
    expect(lines.filter((line) => line.run === killed)).toMatchObject([{ outcome: 'interrupted', exit_code: 137 }]);
    const { stdout } = await runHere(['runs', '--json', '--warehouse', warehouse]);
    expect(JSON.parse(stdout)).toEqual(expect.arrayContaining([expect.objectContaining({ run: killed })]));
  });
});

describe('rekap runs', () => {
  it('shows the steps, times, rows and warnings of one run', async () => {
    const { warehouse, run } = await published();
    const { stdout } = await runHere(['runs', run, '--json', '--warehouse', warehouse]);
    const [line] = JSON.parse(stdout) as { steps: Record<string, number>; rows: object; bytes: number }[];
    expect(Object.keys(line!.steps)).toEqual(expect.arrayContaining(['fetch', 'build_tables', 'verify']));
    expect(line!.rows).toEqual({ voters: 4, voting_rights_users: 4 });
    expect(line!.bytes).toBeGreaterThan(0);
    expect((await runHere(['runs', 'nobody', '--warehouse', warehouse])).code).toBe(2);
  });
});
