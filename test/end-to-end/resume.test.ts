/** Resuming: what a broken-off sync has landed is not asked for again, and never stands in for what the source says now. */

import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isRekapError, RekapError } from '../../src/errors.ts';
import { type LandedAnswer } from '../../src/land/formats.ts';
import { readAnswers } from '../../src/land/landed-run.ts';
import { replay } from '../../src/replay.ts';
import type { RunEvent } from '../../src/context.ts';
import type { SyncOptions } from '../../src/run/sync-options.ts';
import { startFaultServer, type FaultServer } from '../support/fault-server.ts';
import { manualClock } from '../support/manual-clock.ts';
import { readRows, readValue } from '../support/read-table.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { readRunLines } from '../support/run-lines.ts';
import { runSync, serveData, smallNation, type SourceData } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { startTwistedSource } from '../support/twisted-source.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sizes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [1101 + index, 1 + (index % 7)]));
const few = Object.fromEntries(Object.entries(sizes).slice(0, 8));
const pageSize = 4;
/** A line of answers.jsonl about a district of more than one page. */
const longDistrict = new RegExp(
  `"district":(?:${Object.entries(sizes)
    .filter(([, size]) => size > pageSize)
    .map(([district]) => district)
    .join('|')}),`,
);
const hour = 3_600_000;

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
    void fetch(url + request.url!, { headers: { 'x-api-key': String(request.headers['x-api-key']) } }).then(
      async (answer) => response.writeHead(answer.status).end(await answer.text()),
    );
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

/** Districts that a server was asked for, without the pages of the list. */
const ofDistricts = (paths: readonly string[]): string[] => paths.filter((path) => path.includes('id_dapil'));

describe('a sync that goes on', () => {
  it('saves the requests that were answered before, and publishes the same', async () => {
    const data = smallNation(sizes);
    const fresh = await temporaryFolder();
    const whole = await runSync(syncOptions(fresh, (await serveData(data)).url, { pageSize }));
    const { warehouse, server, options } = await brokenOff(data, 160);
    const [line] = await readRunLines(warehouse);
    const landed = await readAnswers(join(warehouse, 'landing', line!.run!));
    await server.mend();
    const resumed = await runSync(options());
    expect(resumed.outcome).toBe('published');
    // Every page that was landed whole is a request saved; only a district in the midst of its pages is begun anew.
    expect(resumed.figures.from_landing).toBeGreaterThan(40);
    expect(resumed.figures.requests).toBe(server.paths.length);
    expect(server.paths.length).toBeLessThanOrEqual(whole.figures.requests - resumed.figures.from_landing);
    // The last district of the list is read to its empty page: where that was landed, nothing of the district is asked for again.
    const last = Math.max(...Object.keys(sizes).map(Number));
    const toItsEnd = landed
      .filter(({ district, offset }) => district === last && offset > 0)
      .map(({ url }) => new URL(url));
    expect(toItsEnd).not.toEqual([]);
    for (const { pathname } of toItsEnd)
      expect(server.paths.filter((path) => path.startsWith(`${pathname}?id_dapil=${last}&`))).toEqual([]);
    for (const table of ['voters', 'voting_rights_users'])
      expect(await readRows(warehouse, `FROM ${table}`)).toEqual(await readRows(fresh, `FROM ${table}`));
  });

  it('takes over the district with which the list begins, though it came in pages of its own', async () => {
    const data = smallNation({ 1101: 9, 1102: 3, 1103: 3, 1104: 9 });
    // One request after the other: the first dataset is read before the second.
    const inTurn = { pageSize, concurrency: 1 };
    const whole = await runSync(syncOptions(await temporaryFolder(), (await serveData(data)).url, inTurn));
    const warehouse = await temporaryFolder();
    await breakOff(warehouse, data, whole.figures.requests - 12, inTurn);
    const server = await breakable(data, 0);
    await server.mend();
    await runSync(optionsFor(warehouse, server)());
    expect(server.paths).not.toEqual([]);
    expect(server.paths.filter((path) => path.startsWith('/api/datapemilihdpr?id_dapil=1101&'))).toEqual([]);
    expect(await readRows(warehouse, 'FROM voters WHERE dapil_id = 1101')).toHaveLength(9);
  });

  it('counts the pages that it took over, not those of a district that it had to begin anew', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes));
    const [line] = await readRunLines(warehouse);
    const file = join(warehouse, 'landing', line!.run!, 'answers.jsonl');
    const answers = (await readFile(file, 'utf8')).split('\n');
    // Of each district that takes several pages, the first one is left.
    const left = answers.filter((answer) => answer.includes('"offset":0') && longDistrict.test(answer));
    expect(left.length).toBeGreaterThan(10);
    await writeFile(file, `${left.join('\n')}\n`);
    await server.mend();
    const { figures } = await runSync(options());
    expect(figures.from_landing).toBe(0);
    expect(figures.requests).toBe(server.paths.length);
  });

  it('asks for the list anew, all of it', async () => {
    const data = smallNation(sizes);
    const { server, options } = await brokenOff(data);
    await server.mend();
    await runSync(options());
    const list = server.paths.filter((path) => !path.includes('id_dapil'));
    expect(list.length).toBeGreaterThan(2 * (data.datapemilihdpr.length / pageSize));
  });

  it('sees what came, went and was renamed at the source meanwhile', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data);
    const changed = smallNation(sizes);
    for (const records of [changed.datapemilihdpr, changed.datahakpilihdpr]) {
      records.splice(3, 1);
      records[0]!['NamaKabupaten'] = 'KOTA RENAMED';
      records.push({ ...records[20]!, NamaKabupaten: 'KOTA NEW' });
    }
    await server.mend(changed);
    const { manifest } = await runSync(options());
    const names = await readRows<{ regency: string }>(warehouse, 'SELECT regency FROM voters ORDER BY regency');
    expect(names.map(({ regency }) => regency)).toEqual(
      changed.datapemilihdpr.map((record) => String(record['NamaKabupaten'])).toSorted(),
    );
    expect(manifest.datasets['voters']!.districts.every(({ complete }) => complete)).toBe(true);
  });

  it('loses no record that moves between two districts just while the list is read anew', async () => {
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
      void fetch(urls[hasMoved.has(pathname) ? 1 : 0] + request.url!, {
        headers: { 'x-api-key': String(request.headers['x-api-key']) },
      }).then(async (answer) => response.writeHead(answer.status).end(await answer.text()));
    });
    onTestFinished(() => server.close());
    const result = await runSync({ ...options(), baseUrl: server.url }).catch((error: unknown) => error);
    if (isRekapError(result, 'incomplete')) return;
    expect(await readValue(warehouse, "SELECT count(*) FROM voters WHERE regency = 'KOTA MOVED'")).toBe('1');
  });

  it('takes nothing over of what the source has restated meanwhile', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes), 160);
    const changed = smallNation(sizes);
    for (const record of changed.datahakpilihdpr) record['JumlahSeluruhPenggunaHakPilih'] = '4711';
    await server.mend(changed);
    const { figures, warnings } = await runSync(options());
    expect(warnings.filter((warning) => warning.includes('nothing is taken over'))).toHaveLength(1);
    expect(await readRows(warehouse, 'SELECT DISTINCT grand_total AS total FROM voting_rights_users')).toEqual([
      { total: 4711 },
    ]);
    // The other dataset is as it was.
    expect(figures.from_landing).toBeGreaterThan(0);
  });

  it('goes on again after a second break, from both', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data, 120);
    await server.mend();
    server.paths.length = 0;
    const controller = new AbortController();
    const stop = new Error('stopped');
    let answers = 0;
    const second = runSync(options(), {
      signal: controller.signal,
      report: (event) => {
        if (event.kind === 'request') answers += 1;
        if (answers === 150) controller.abort(stop);
      },
    });
    await expect(second).rejects.toThrow('stopped');
    const before = ofDistricts(server.paths).length;
    server.paths.length = 0;
    const third = await runSync(options());
    expect(third.figures.from_landing).toBeGreaterThan(20);
    expect(before).toBeGreaterThan(0);
    const total = data.datapemilihdpr.reduce((sum, record) => sum + Number(record['JumlahSeluruhPemilih']), 0);
    expect(await readValue(warehouse, 'SELECT sum(grand_total) FROM voters')).toBe(String(total));
  });

  it('asks again for a district whose landed pages hold what is not its own', async () => {
    let isFaulty = true;
    const source = await startTwistedSource(smallNation(few), (response, honest, { url }) =>
      response.end(isFaulty && url!.includes('=1104') ? honest.replaceAll('"1104"', '"1105"') : honest),
    );
    const warehouse = await temporaryFolder();
    const options = optionsFor(warehouse, source)();
    await expect(runSync(options)).rejects.toThrow(/brought a record of district 1105/);
    isFaulty = false;
    const { figures, manifest } = await runSync(options);
    expect(figures.from_landing).toBeGreaterThan(10);
    expect(manifest.datasets['voters']!.rows).toBe(smallNation(few).datapemilihdpr.length);
  });

  it('takes nothing over from an earlier break whose list named other records, though a later one named the same', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes), 160);
    const changed = smallNation(sizes);
    changed.datapemilihdpr.at(-1)!['NamaKabupaten'] = 'KOTA BARU';
    await server.mend(changed);
    const voters = options({ datasets: ['voters'] });
    const controller = new AbortController();
    let asked = 0;
    const report = ({ kind }: RunEvent): void => {
      if (kind === 'request' && (asked += 1) === 100) controller.abort(new Error('stopped'));
    };
    await expect(runSync(voters, { signal: controller.signal, report })).rejects.toThrow('stopped');
    const [, second] = await readRunLines(warehouse);
    const landed = await readAnswers(join(warehouse, 'landing', second!.run!));
    const { figures } = await runSync(voters);
    expect(figures.from_landing).toBeGreaterThan(0);
    expect(figures.from_landing).toBeLessThanOrEqual(landed.filter(({ district }) => district !== null).length);
  });

  it('leaves a landing that a replay can reproduce it from', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await runSync(options());
    await server.close();
    const replayed = await replay(
      project,
      { warehouse, run: null, into: null, strict: false, acceptChanges: false, acceptSource: false },
      { clock: manualClock(), random: () => 0.5, report: () => {}, signal: new AbortController().signal },
    );
    expect(replayed.outcome).toBe('reproduced');
  });
});

describe('a sync that has nothing to go on from', () => {
  async function expectEverythingAsked(
    options: SyncOptions,
    server: FaultServer,
    clock = manualClock(),
  ): Promise<void> {
    const { figures, warnings } = await runSync(options, { clock });
    expect(figures.from_landing).toBe(0);
    expect(figures.requests).toBe(server.paths.length);
    expect(warnings.filter((warning) => warning.includes('nothing to resume'))).toHaveLength(
      options.resumeWithin === null ? 0 : 1,
    );
  }

  it('is one that is not told to', async () => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await expectEverythingAsked(options({ resumeWithin: null }), server);
  });

  it('is one after a run that came to its end', async () => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await runSync(options());
    server.paths.length = 0;
    await expectEverythingAsked(options(), server);
  });

  it('is one after a run that published and died before it could say so', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await runSync(options());
    await rm(join(warehouse, 'runs.jsonl'));
    server.paths.length = 0;
    await expectEverythingAsked(options(), server);
  });

  it('is one whose pages were landed too long ago', async () => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    const later = manualClock(new Date(Date.parse('2026-11-20T03:00:00Z') + hour + 1000));
    await expectEverythingAsked(options(), server, later);
  });

  it.each<[string, Partial<SyncOptions>, (data: SourceData) => void]>([
    ['comes in pages of another size', { pageSize: pageSize + 1 }, () => {}],
    ['names other records', {}, ({ datapemilihdpr }) => void datapemilihdpr.pop()],
  ])('is one whose list %s, and that is said', async (_, settings, change) => {
    const data = smallNation(sizes);
    const { server, options } = await brokenOff(data);
    change(data);
    await server.mend(data);
    const { figures, warnings } = await runSync(options({ ...settings, datasets: ['voters'] }));
    expect(figures.from_landing).toBe(0);
    expect(warnings).toContainEqual(expect.stringMatching(/^voters: nothing is taken over from what was landed/));
  });

  it('is one of some districts, and that is said', async () => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await expectEverythingAsked(options({ districts: [1101] }), server);
  });

  it('is one whose source gives no list, and that is said', async () => {
    const { options } = await brokenOff(smallNation(sizes));
    const source = await startTwistedSource(smallNation({ 1101: 3, 1102: 2 }), (response, honest, { url }) =>
      url!.includes('id_dapil') ? response.end(honest) : response.writeHead(400).end(),
    );
    const { figures, warnings } = await runSync(options({ baseUrl: source.url }));
    expect(figures.from_landing).toBe(0);
    expect(warnings).toContainEqual(expect.stringMatching(/^voters: nothing is taken over .* no full listing/));
  });

  it('is one of another source', async () => {
    const { server, options } = await brokenOff(smallNation(sizes));
    await server.mend();
    await expectEverythingAsked(options({ source: 'another' }), server);
  });
});

describe('a landing that was left damaged', () => {
  it('costs requests, never records: an unfinished last line, a page that does not fit its hash', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data);
    const [line] = await readRunLines(warehouse);
    const folder = join(warehouse, 'landing', line!.run!);
    const answers = await readAnswers(folder);
    await appendFile(join(folder, 'answers.jsonl'), '{"dataset":"vot');
    const bodies = await readFile(join(folder, 'bodies.gz'));
    // Not in the list: without it nothing would say that the districts' pages are of the same records.
    for (const { district, position, length } of answers)
      if (district !== null && district % 2 === 0) bodies[position + (length >> 1)]! ^= 1;
    await writeFile(join(folder, 'bodies.gz'), bodies);
    await server.mend();
    const { figures, warnings } = await runSync(options());
    expect(warnings).toContainEqual(expect.stringContaining('cannot be used and is asked for again'));
    expect(figures.from_landing).toBeGreaterThan(0);
    expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe(String(data.datapemilihdpr.length));
  });

  it('is not gone on from where a page of its list is damaged', async () => {
    const data = smallNation(sizes);
    const { warehouse, server, options } = await brokenOff(data);
    const [line] = await readRunLines(warehouse);
    const folder = join(warehouse, 'landing', line!.run!);
    const [{ position, length }] = (await readAnswers(folder)).filter(({ district }) => district === null) as [
      LandedAnswer,
    ];
    const bodies = await readFile(join(folder, 'bodies.gz'));
    bodies[position + (length >> 1)]! ^= 1;
    await writeFile(join(folder, 'bodies.gz'), bodies);
    await server.mend();
    const { figures } = await runSync(options({ datasets: ['voters'] }));
    expect(figures.from_landing).toBe(0);
    expect(await readValue(warehouse, 'SELECT count(*) FROM voters')).toBe(String(data.datapemilihdpr.length));
  });

  it('is passed over where a line is damaged', async () => {
    const { warehouse, server, options } = await brokenOff(smallNation(sizes));
    const [line] = await readRunLines(warehouse);
    const file = join(warehouse, 'landing', line!.run!, 'answers.jsonl');
    await writeFile(file, (await readFile(file, 'utf8')).replace('{', '['));
    await server.mend();
    const { figures, warnings } = await runSync(options());
    expect(figures.from_landing).toBe(0);
    expect(warnings).toContainEqual(expect.stringContaining('cannot be resumed from'));
  });
});
