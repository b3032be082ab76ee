/** A sync from the real service that must not publish: it says why, and leaves the warehouse as it was. */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sync } from '../../src/index.ts';
import { interruptedBy, RekapError } from '../../src/errors.ts';
import { verifyLanding } from '../../src/land/landed-run.ts';
import { definePipeline, defineProject, integer } from '../../src/project/define.ts';
import { lockWarehouse } from '../../src/publish/lock.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { readCurrent } from '../../src/warehouse/warehouse.ts';
import { alterFile } from '../support/alter-file.ts';
import { answerJson, forward, startFaultServer } from '../support/fault-server.ts';
import { readValue } from '../support/read-table.ts';
import { nation, publishedNation } from '../support/prepared-snapshots.ts';
import { readRunLines } from '../support/run-lines.ts';
import { cliPath } from '../support/run-cli.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { syncOptions, testKey } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('a source that gives no usable record', () => {
  it.each([
    [{}, /^Nothing was published\. The responses of the source are in \S+landing\/\S+\.$/],
    [{ keepLanding: 0 }, /^Nothing was published\. Check the responses of the source\.$/],
  ])('is refused, and it is said where to look: %j', async (settings, next) => {
    const warehouse = await temporaryFolder();
    const { url } = await serveData({ datapemilihdpr: [], datahakpilihdpr: [] });
    await expect(runSync(syncOptions(warehouse, url, settings))).rejects.toMatchObject({
      code: 'gate',
      message: expect.stringContaining('voters is empty'),
      next: expect.stringMatching(next),
    });
  });
});

it('a source without the endpoint is refused with its status and URL', async () => {
  const server = await startFaultServer((_, response) => answerJson(response, { detail: 'Not Found' }, 404));
  onTestFinished(() => server.close());
  const project = defineProject({
    name: 'mistyped',
    pipelines: [
      definePipeline({
        table: 'items',
        path: '/itemz',
        paging: { by: 'page', page: 'page', size: 'per_page' },
        columns: { id: integer('id') },
        key: ['id'],
      }),
    ],
  });
  const synced = sync({ project, baseUrl: server.url, warehouse: await temporaryFolder(), clock: manualClock() });
  await expect(synced).rejects.toMatchObject({
    code: 'gate',
    message: expect.stringMatching(/items is empty: http\S+\/itemz\?\S+ returned status 404.*`path`/),
  });
});

describe('a sync that must not publish', () => {
  const synced = publishedNation();

  /** A warehouse with one snapshot, and a check that it is still as it was. */
  async function published() {
    const { warehouse, known } = await synced();
    const [run] = known;
    return {
      warehouse,
      async expectUntouched() {
        expect((await readCurrent(warehouse))?.id).toBe(run);
        expect(await readdir(join(warehouse, 'snapshots'))).toEqual([run]);
        const unlock = await lockWarehouse(warehouse);
        unlock();
      },
    };
  }

  it('because a partition is gone is refused by the gate, naming it, and accepted when told so', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation({ 1101: 3, 1102: 12 }));
    const refused = await runSync(syncOptions(warehouse, url)).catch((error: unknown) => error);
    const { run } = (await readRunLines(warehouse)).at(-1)!;
    expect(refused).toMatchObject({
      exitCode: 3,
      message: expect.stringContaining('partition 1201'),
      next: expect.stringContaining(`"rekap replay ${run} --accept-changes" to publish exactly these figures`),
    });
    await expectUntouched();
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({ outcome: 'refused', exit_code: 3 });
    for (const settings of [{ dryRun: true }, { keepLanding: 0 }])
      await expect(runSync(syncOptions(warehouse, url, settings))).rejects.toMatchObject({
        next: expect.stringContaining('run the sync again with --accept-changes'),
      });
    expect((await runSync(syncOptions(warehouse, url, { acceptChanges: true }))).outcome).toBe('published');
  });

  it('because checks are broken is refused under --strict, which names those of severity error', async () => {
    const { warehouse, expectUntouched } = await published();
    const data = smallNation(nation);
    data.datapemilihdpr[0]!['JumlahPemilihLakiLakiDalamDPT'] = '1';
    // A warning beside the errors: the partition goes by two names.
    data.datapemilihdpr[0]!['NamaDapil'] = 'ANOTHER NAME';
    const { url } = await serveData(data);
    const refused = await runSync(syncOptions(warehouse, url, { strict: true })).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'gate' });
    expect((refused as RekapError).reasons).toEqual([
      expect.stringMatching(
        /^voters: 2 violations of severity error \(--strict\); by check: dpt_sexes_sum 1, male_lists_sum 1; for example, .* is \d+, but /,
      ),
    ]);
    expect((refused as RekapError).next).toBe(
      'Nothing was published. Without --strict, the sync publishes the figures and lists the problems in the tables violations and quarantine.',
    );
    await expectUntouched();
  });

  it('because it is a dry run tells what it would publish', async () => {
    const { warehouse, expectUntouched } = await published();
    const landings = await readdir(join(warehouse, 'landing'));
    const { url } = await serveData(smallNation({ ...nation, 1301: 2 }));
    const result = await runSync(syncOptions(warehouse, url, { dryRun: true, keepLanding: 0 }));
    // Retention belongs to what is published: its own answers come on top, and no others go.
    expect(await readdir(join(warehouse, 'landing'))).toEqual([...landings, result.run].toSorted());
    expect(result).toMatchObject({ outcome: 'dry run', manifest: { datasets: { voters: { rows: 18 } } } });
    await expectUntouched();
  });

  it('because the source is another one is refused until told so', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation({ ...nation, 1301: 1 }));
    await expect(runSync(syncOptions(warehouse, url, { source: 'https://other' }))).rejects.toBeInstanceOf(RekapError);
    await expectUntouched();
    const reason = expect.stringContaining('not from https://other');
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({
      run: null,
      outcome: 'failed',
      exit_code: 2,
      reason,
    });
    expect((await runSync(syncOptions(warehouse, url, { source: 'https://other', acceptSource: true }))).outcome).toBe(
      'published',
    );
  });

  it('because a partition never answers names the partition and the others are not lost from the message', async () => {
    const { warehouse, expectUntouched } = await published();
    const { url } = await serveData(smallNation(nation));
    const proxy = await startFaultServer((request, response) => {
      if (request.url!.includes('id_dapil=1102')) return answerJson(response, { error: 'down' }, 500);
      forward(request, response, url);
    });
    const failed = runSync(syncOptions(warehouse, proxy.url));
    await expect(failed).rejects.toMatchObject({ code: 'incomplete' });
    await expect(failed).rejects.toThrow(/voters, partition 1102.*500/s);
    await expect(failed).rejects.toThrow(
      /^1 of \d+ partitions of voters, 1 of \d+ partitions of voting_rights_users could not be proved complete:$/m,
    );
    await proxy.close();
    await expectUntouched();
  });

  it('because it is interrupted leaves everything as it was, and the lock free', async () => {
    const { warehouse, expectUntouched } = await published();
    const controller = new AbortController();
    const stalled = await startFaultServer(() => controller.abort(interruptedBy('SIGINT')));
    await expect(runSync(syncOptions(warehouse, stalled.url), { signal: controller.signal })).rejects.toMatchObject({
      exitCode: 130,
    });
    await stalled.close();
    await expectUntouched();
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({ outcome: 'interrupted', exit_code: 130 });
  });

  it('because its time is up says so', async () => {
    const { warehouse, expectUntouched } = await published();
    const stalled = await startFaultServer(() => {});
    await expect(runSync(syncOptions(warehouse, stalled.url, { maxDuration: 100 }))).rejects.toBeInstanceOf(RekapError);
    await stalled.close();
    await expectUntouched();
  });

  it('because the snapshot before is damaged carries nothing over from it; a full sync replaces it once that is accepted', async () => {
    const { warehouse } = await published();
    const { url } = await serveData(smallNation(nation));
    await alterFile(join(warehouse, 'current', 'rekap.duckdb'), (bytes) => bytes.subarray(0, 4096));
    await expect(runSync(syncOptions(warehouse, url, { partitions: ['1101'] }))).rejects.toThrow(
      /damaged: rekap\.duckdb/,
    );
    await expect(runSync(syncOptions(warehouse, url))).rejects.toMatchObject({ code: 'warehouse' });
    const replaced = await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
    expect(replaced.outcome).toBe('published');
    expect(replaced.warnings.join()).toContain('damaged');
    expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe('16');
  });

  it('because another one holds the warehouse says who', async () => {
    const { warehouse, expectUntouched } = await published();
    const unlock = await lockWarehouse(warehouse);
    await expect(runSync(syncOptions(warehouse, 'http://127.0.0.1:9'))).rejects.toMatchObject({
      code: 'warehouse-busy',
    });
    unlock();
    await expectUntouched();
    const lines = await readRunLines(warehouse);
    const reason = expect.stringContaining('using the warehouse');
    expect(lines).toMatchObject([{ outcome: 'published' }, { run: null, outcome: 'refused', exit_code: 5, reason }]);
  });

  it.each([
    ['current', 'current', /is not a snapshot/],
    ['its manifest', 'current/manifest.json', /not valid JSON/],
  ])('because %s is damaged says so, and in the log of runs', async (_, name, message) => {
    const { warehouse } = await published();
    await rm(join(warehouse, name));
    if (name === 'current') await symlink('/etc', join(warehouse, name));
    else await writeFile(join(warehouse, name), '{');
    await expect(runSync(syncOptions(warehouse, 'http://127.0.0.1:9'))).rejects.toThrow(message);
    const reason = expect.stringMatching(message);
    expect((await readRunLines(warehouse)).at(-1)).toMatchObject({
      run: null,
      outcome: 'failed',
      exit_code: 2,
      reason,
    });
  });

  it('because another makes the same new warehouse says so', async () => {
    const warehouse = join(await temporaryFolder(), 'new', 'warehouse');
    const { url } = await serveData(smallNation(nation));
    const both = await Promise.allSettled([1, 2].map(() => runSync(syncOptions(warehouse, url))));
    const [refused, done] = both.toSorted((a, b) => (a.status > b.status ? -1 : 1));
    expect(done).toMatchObject({ value: { outcome: 'published' } });
    expect(refused).toMatchObject({ reason: expect.any(RekapError) });
  });

  it('because a file can grow no further says so, also where the landing meets it', async () => {
    const warehouse = await temporaryFolder();
    const data = smallNation({ 1101: 60 });
    // Nothing makes these smaller.
    for (const record of Object.values(data).flat()) record['note'] = randomBytes(10_000).toString('hex');
    const { url } = await serveData(data);
    // The answers, of 2 MB, are the first to be larger than this, in blocks of 512 or 1,024 bytes; a database with empty tables is not.
    const limited = ['-c', 'ulimit -f 1000; exec "$0" "$@"', process.execPath, cliPath];
    const child = spawn('sh', [...limited, 'sync', '--base-url', url, '--warehouse', warehouse], {
      env: { ...process.env, REKAP_API_KEY: testKey },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [told, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    expect(told).toContain(
      `rekap: A file of the warehouse ${warehouse} would exceed the maximum file size of this system.`,
    );
    expect(code).toBe(1);
    expect(await readdir(join(warehouse, 'snapshots'))).toEqual([]);
    const steps = { fetch: expect.any(Number) };
    expect(await readRunLines(warehouse)).toMatchObject([{ outcome: 'failed', exit_code: 1, steps }]);
    const [run] = await readdir(join(warehouse, 'landing'));
    // Every line that was written is of a body that was.
    expect(await verifyLanding(join(warehouse, 'landing', run!), [])).toEqual([]);
  });

  it('because the warehouse is a file says so', async () => {
    const folder = await temporaryFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'file'), '');
    await expect(runSync(syncOptions(join(folder, 'file'), 'http://127.0.0.1:9'))).rejects.toBeInstanceOf(RekapError);
  });
});
