/** Resuming: what a broken-off sync has landed is not requested again, and never stands in for what the source says now. */

import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRekapError, RekapError } from '../../src/errors.ts';
import { type LandedResponse } from '../../src/land/formats.ts';
import { readLandedResponses } from '../../src/land/landed-run.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import type { SyncOptions } from '../../src/publish/run.ts';
import { forward, startFaultServer, type FaultServer } from '../support/fault-server.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { runReplay } from '../support/run-replay.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { startTwistedSource } from '../support/twisted-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sizes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [1101 + index, 1 + (index % 7)]));
const few = Object.fromEntries(Object.entries(sizes).slice(0, 8));
const pageSize = 4;
const hour = 3_600_000;
const hourLater = () => manualClock(new Date(Date.parse('2026-11-20T03:59:00Z')));

/** A service in front of which somebody can pull the plug: after `answers` answers it gives 500 only, until it is mended. */
async function breakable(
  data: SourceData,
  answers: number,
): Promise<FaultServer & { mend(with_?: SourceData): Promise<void> }> {
  let { url } = await serveData(data);
  let left = answers;
  const server = await startFaultServer((request, response) => {
    left -= 1;
    if (left < 0) return void response.writeHead(500).end();
    forward(request, response, url);
  });
  onTestFinished(() => server.close());
  const mend = async (changed?: SourceData): Promise<void> => {
    left = Number.POSITIVE_INFINITY;
    if (changed !== undefined) ({ url } = await serveData(changed));
    server.paths.length = 0;
  };
  return Object.assign(server, { mend });
}

const optionsFor =
  (warehouse: string, { url }: FaultServer) =>
  (settings: Partial<SyncOptions> = {}): SyncOptions =>
    syncOptions(warehouse, url, { pageSize, maxAttempts: 1, resumeWithin: hour, ...settings });

/** Breaks a sync off after so many answers; its server still fails. */
async function breakOff(
  warehouse: string,
  data: SourceData,
  answers: number,
  settings: Partial<SyncOptions> = {},
): Promise<FaultServer> {
  const server = await breakable(data, answers);
  await expect(runSync(optionsFor(warehouse, server)(settings))).rejects.toThrow(RekapError);
  return server;
}

const brokenOffAt = {
  120: preparedWarehouse((warehouse) => breakOff(warehouse, smallNation(sizes), 120)),
  160: preparedWarehouse((warehouse) => breakOff(warehouse, smallNation(sizes), 160)),
};

/** A warehouse in which a sync was broken off after so many answers, and a server of this data that is to be mended first. */
async function brokenOff(data: SourceData, answers: keyof typeof brokenOffAt = 120) {
  const { warehouse } = await brokenOffAt[answers]();
  const server = await breakable(data, 0);
  return { warehouse, server, options: optionsFor(warehouse, server) };
}

/** The folder of the newest landing. */
async function newestLanding(warehouse: string): Promise<string> {
  return join(warehouse, 'landing', (await readRunLines(warehouse)).at(-1)!.run!);
}

/** Damages the landed bodies of some answers. */
async function damageBodies(folder: string, isDamaged: (answer: LandedResponse) => boolean): Promise<void> {
  const file = join(folder, 'bodies.gz');
  const bodies = await readFile(file);
  for (const answer of (await readLandedResponses(folder)).filter(isDamaged))
    bodies[answer.position + (answer.length >> 1)]! ^= 1;
  await writeFile(file, bodies);
}

describe('a sync that goes on', () => {
  it('saves the requests that were answered before, and publishes the same', async () => {
    const data = smallNation(sizes);
    const fresh = await temporaryFolder();
    const whole = await runSync(syncOptions(fresh, (await serveData(data)).url, { pageSize }));
    const { warehouse, server, options } = await brokenOff(data, 160);
    await server.mend();
    const resumed = await runSync(options());
    expect(resumed.outcome).toBe('published');
    expect(resumed.figures.from_landing).toBeGreaterThan(40);
    expect(resumed.figures.requests).toBe(server.paths.length);
    expect(server.paths.length).toBeLessThanOrEqual(whole.figures.requests - resumed.figures.from_landing);
    // The list is requested again, all of it.
    const list = server.paths.filter((path) => !path.includes('id_dapil'));
    expect(list.length).toBeGreaterThan(2 * (data.datapemilihdpr.length / pageSize));
    for (const table of ['voters', 'voting_rights_users'])
      expect(await readRows(warehouse, `FROM ${table}`)).toEqual(await readRows(fresh, `FROM ${table}`));
    // Its own landing is whole: the answers that it took over lie there too.
    await server.close();
    expect((await runReplay(warehouse)).outcome).toBe('reproduced');
  });

  it('sees what came, went, was renamed and restated at the source meanwhile', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data);
    const changed = smallNation(sizes);
    for (const records of [changed.datapemilihdpr, changed.datahakpilihdpr]) {
      records.splice(3, 1);
      records[0]!['NamaKabupaten'] = 'KOTA RENAMED';
      records.push({ ...records[20]!, NamaKabupaten: 'KOTA NEW' });
    }
    for (const record of changed.datahakpilihdpr) record['JumlahSeluruhPenggunaHakPilih'] = '4711';
    await server.mend(changed);
    const { manifest, warnings } = await runSync(options());
    expect(warnings.filter((warning) => warning.includes('cannot be reused')).length).toBeGreaterThan(0);
    expect(await readRows(warehouse, 'SELECT DISTINCT grand_total AS total FROM voting_rights_users')).toEqual([
      { total: 4711 },
    ]);
    const names = await readRows<{ regency: string }>(warehouse, 'SELECT regency FROM voters ORDER BY regency');
    expect(names.map(({ regency }) => regency)).toEqual(
      changed.datapemilihdpr.map((record) => String(record['NamaKabupaten'])).toSorted(),
    );
    expect(manifest.datasets['voters']!.partitions.every(({ complete }) => complete)).toBe(true);
  });

  it('loses no record that moves between two partitions just while the list is read anew', async () => {
    const { warehouse, options } = await brokenOff(smallNation(sizes), 160);
    const [before, after] = [smallNation(sizes), smallNation(sizes)];
    for (const records of [after.datapemilihdpr, after.datahakpilihdpr]) {
      // From the end of the list to its beginning; another one is withdrawn, so that pages begin where they did.
      const moved = records.pop()!;
      records.splice(1, 1, { ...moved, IdDapil: '1101', NamaDapil: 'DAPIL 1101', NamaKabupaten: 'KOTA MOVED' });
    }
    for (const records of [before.datapemilihdpr, before.datahakpilihdpr])
      records.at(-1)!['NamaKabupaten'] = 'KOTA MOVED';
    const urls = [(await serveData(before)).url, (await serveData(after)).url] as const;
    const hasMoved = new Set<string>();
    const server = await startFaultServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url!, 'http://source');
      if (!searchParams.has('id_dapil') && Number(searchParams.get('offset')) > 40) hasMoved.add(pathname);
      forward(request, response, urls[hasMoved.has(pathname) ? 1 : 0]);
    });
    onTestFinished(() => server.close());
    const result = await runSync({ ...options(), baseUrl: server.url }).catch((error: unknown) => error);
    if (isRekapError(result, 'incomplete')) return;
    expect(await readValue(warehouse, "SELECT count(*) FROM voters WHERE regency = 'KOTA MOVED'")).toBe('1');
  });

  it('goes on again after a second break, from both', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data, 120);
    await server.mend();
    await breakOffAfter(options(), 150);
    const third = await runSync(options());
    expect(third.figures.from_landing).toBeGreaterThan(20);
    expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe(String(data.datapemilihdpr.length));
  });

  it('asks again for a partition whose landed pages hold what is not its own', async () => {
    let isFaulty = true;
    const source = await startTwistedSource(smallNation(few), (response, honest, { url }) =>
      response.end(isFaulty && url!.includes('=1104') ? honest.replaceAll('"1104"', '"1105"') : honest),
    );
    const warehouse = await temporaryFolder();
    const options = optionsFor(warehouse, source)();
    await expect(runSync(options)).rejects.toThrow(/contains a record of partition 1105/);
    isFaulty = false;
    const { figures, manifest } = await runSync(options);
    expect(figures.from_landing).toBeGreaterThan(10);
    expect(manifest.datasets['voters']!.rows).toBe(smallNation(few).datapemilihdpr.length);
  });

  it('takes over nothing of a run whose list was another, though a later run had the same', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes), 160);
    const changed = smallNation(sizes);
    changed.datapemilihdpr.at(-1)!['NamaKabupaten'] = 'KOTA BARU';
    await server.mend(changed);
    const voters = options({ datasets: ['voters'] });
    await breakOffAfter(voters, 100);
    const landed = await readLandedResponses(await newestLanding(warehouse));
    const { figures } = await runSync(voters);
    expect(figures.from_landing).toBeGreaterThan(0);
    expect(figures.from_landing).toBeLessThanOrEqual(landed.filter(({ partition }) => partition !== null).length);
  });
});

/** Interrupts a sync after so many requests. */
async function breakOffAfter(options: SyncOptions, requests: number): Promise<void> {
  const controller = new AbortController();
  let requested = 0;
  const report = ({ kind }: RunEvent): void => {
    if (kind === 'request' && (requested += 1) === requests) controller.abort(new Error('stopped'));
  };
  await expect(runSync(options, { signal: controller.signal, report })).rejects.toThrow('stopped');
}

describe('a sync takes nothing over', () => {
  it.each<[string, Partial<SyncOptions>]>([
    ['unless it is told to', { resumeWithin: null }],
    ['of another source', { source: 'another', partitions: ['1101'] }],
    ['of pages of another size', { pageSize: pageSize + 1 }],
    ['that was landed too long ago', { resumeWithin: 1 }],
  ])('%s, and says so', async (_, settings) => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    const { figures, warnings } = await runSync(options({ dryRun: true, ...settings }), { clock: hourLater() });
    expect(figures).toMatchObject({ from_landing: 0, requests: server.paths.length });
    const said = warnings.filter((warning) => /nothing to resume|cannot be reused/.test(warning));
    expect(said.length > 0).toBe(settings.resumeWithin !== null);
  });

  it('where the source gives no list', async () => {
    const { options } = await brokenOff(smallNation(sizes));
    const source = await startTwistedSource(smallNation({ 1101: 3, 1102: 2 }), (response, honest, { url }) =>
      url!.includes('id_dapil') ? response.end(honest) : response.writeHead(400).end(),
    );
    const { figures, warnings } = await runSync(options({ baseUrl: source.url }));
    expect(figures.from_landing).toBe(0);
    expect(warnings).toContainEqual(expect.stringMatching(/^voters: .* cannot be reused: .* no full listing/));
  });

  it.each([
    ['came to its end', () => {}],
    ['published and died before it could say so', (warehouse: string) => rm(join(warehouse, 'runs.jsonl'))],
  ])('of a run that %s', async (_, change) => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await runSync(options());
    await change(warehouse);
    expect((await runSync(options())).figures.from_landing).toBe(0);
  });

  it.each<[string, (folder: string) => Promise<unknown>]>([
    ['a page of its list', (folder) => damageBodies(folder, ({ partition }) => partition === null)],
    [
      'a line',
      async (folder) => {
        const file = join(folder, 'responses.jsonl');
        await writeFile(file, (await readFile(file, 'utf8')).replace('{', '['));
      },
    ],
  ])('of a landing of which %s is damaged', async (_, damage) => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data);
    await damage(await newestLanding(warehouse));
    await server.mend();
    const { figures, manifest } = await runSync(options({ dryRun: true }));
    expect(figures.from_landing).toBe(0);
    expect(manifest.datasets['voters']!.rows).toBe(data.datapemilihdpr.length);
  });
});

it('a damaged page of a partition, or a last line that was never finished, costs requests and no records', async () => {
  const data = smallNation(sizes);
  const { warehouse, server, options } = await brokenOff(data);
  const folder = await newestLanding(warehouse);
  await damageBodies(folder, ({ partition }) => partition !== null && Number(partition) % 2 === 0);
  await appendFile(join(folder, 'responses.jsonl'), '{"dataset":"vot');
  await server.mend();
  const { figures, warnings } = await runSync(options());
  expect(warnings).toContainEqual(expect.stringContaining('is requested again'));
  expect(figures.from_landing).toBeGreaterThan(0);
  expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe(String(data.datapemilihdpr.length));
});
