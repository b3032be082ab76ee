/** A replay keeps to what its run was told: what was accepted then needs no second word. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readRunFile } from '../../src/land/run-file.ts';
import { rollBack } from '../../src/snapshots/manage-snapshots.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { nation } from '../support/prepared-snapshots.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync, serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A warehouse whose second snapshot the gate would have refused, had it not been accepted. */
const accepted = preparedWarehouse(async (warehouse) => {
  const before = await runSync(syncOptions(warehouse, (await serveData(smallNation(nation))).url));
  const { url } = await serveData(smallNation({ 1101: 3 }));
  const after = await runSync(syncOptions(warehouse, url, { acceptChanges: true }));
  return { before, after };
});

describe('replaying a run that was published with --accept-changes', () => {
  it('reproduces its snapshot', async () => {
    const { warehouse, known } = await accepted();
    expect(await runReplay(warehouse)).toMatchObject({ outcome: 'reproduced', run: known.after.run });
  });

  it('builds it in another folder', async () => {
    const { warehouse, known } = await accepted();
    const into = await temporaryFolder();
    expect(await runReplay(warehouse, { into })).toMatchObject({ outcome: 'published', run: known.after.run });
  });

  it('restores it where the snapshot before is gone too', async () => {
    const { warehouse, known } = await accepted();
    const { before, after } = known;
    for (const { run } of [before, after]) await rm(join(warehouse, 'snapshots', run), { recursive: true });
    expect(await runReplay(warehouse, { run: after.run })).toMatchObject({ outcome: 'published', run: after.run });
  });
});

it('asks for the pages of the list that its run expected', async () => {
  const warehouse = await temporaryFolder();
  const syncPages = async (sizes: Readonly<Record<number, number>>) =>
    runSync(syncOptions(warehouse, (await serveData(smallNation(sizes))).url, { pageSize: 5 }));
  const first = await syncPages(nation);
  const second = await syncPages({ ...nation, 1101: 4 });
  const expectedBy = async ({ run }: { run: string }) =>
    (await readRunFile(join(warehouse, 'landing', run))).expected_records;
  expect(await expectedBy(first)).toEqual({ voters: 0, voting_rights_users: 0 });
  expect(await expectedBy(second)).toEqual({ voters: 16, voting_rights_users: 16 });
  for (const { run, figures } of [first, second]) {
    const replayed = await runReplay(warehouse, { run });
    expect(replayed).toMatchObject({ outcome: 'reproduced', figures: { from_landing: figures.requests } });
  }
});

/** A request of a page, and how many records there are of what it asks for. */
interface Asked {
  readonly path: string;
  readonly dapil: string | null;
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
}

/** A source whose pages are as long as `lengthOf` says, at most; none where that is null, for the connection ends then. */
async function pagingBy(sizes: Readonly<Record<number, number>>, lengthOf: (asked: Asked) => number | null) {
  const data = smallNation(sizes);
  const records = { '/api/datapemilihdpr': data.datapemilihdpr, '/api/datahakpilihdpr': data.datahakpilihdpr };
  const server = await startFaultServer((request, response) => {
    const { pathname: path, searchParams } = new URL(request.url!, 'http://source');
    const dapil = searchParams.get('id_dapil');
    const [offset, limit] = ['offset', 'limit'].map((name) => Number(searchParams.get(name))) as [number, number];
    const found = records[path as keyof typeof records].filter((each) => dapil === null || each['IdDapil'] === dapil);
    const length = lengthOf({ path, dapil, offset, limit, total: found.length });
    if (length === null) return void request.socket.destroy();
    const page = found.slice(offset, offset + length);
    answerJson(response, { count: page.length, data: page });
  });
  onTestFinished(() => server.close());
  return server;
}

it('goes by what the list has shown of paging, not by a page read ahead that led to nothing', async () => {
  const asked = new Set<string>();
  // Two servers behind one address, of which one clamps: the first answer to each district is longer than those of the list.
  const server = await pagingBy({ 1101: 8, 1102: 8, 1201: 8, 1202: 8, 1203: 7 }, ({ path, dapil, limit }) => {
    const isFirst = dapil !== null && !asked.has(path + dapil);
    asked.add(path + dapil);
    return isFirst ? 8 : Math.min(5, limit);
  });
  const warehouse = await temporaryFolder();
  const { run } = await runSync(syncOptions(warehouse, server.url, { pageSize: 10 }));
  expect(await runReplay(warehouse)).toMatchObject({ outcome: 'reproduced', run });
});

it('does without a page behind the end that was asked for in vain and never answered', async () => {
  let cutOff = 0;
  const server = await pagingBy({ 1101: 3, 1102: 5 }, ({ offset, limit, total }) => {
    if (offset <= total + 1) return limit;
    cutOff += 1;
    return null;
  });
  const warehouse = await temporaryFolder();
  const { run, figures } = await runSync(syncOptions(warehouse, server.url, { pageSize: 5 }));
  // Of each dataset one page of the list, and two looks behind the district with which it ends.
  expect([cutOff, figures.retries]).toEqual([6, 0]);
  expect(await runReplay(warehouse)).toMatchObject({ outcome: 'reproduced', run });
});

it('needs no second word for another source that its run was told to accept', async () => {
  const warehouse = await temporaryFolder();
  const { url } = await serveData(smallNation(nation));
  const first = await runSync(syncOptions(warehouse, url));
  const moved = await runSync(syncOptions(warehouse, url, { source: 'https://moved', acceptSource: true }));
  await rollBack(project, warehouse, first.run);
  await rm(join(warehouse, 'snapshots', moved.run), { recursive: true });
  const replayed = await runReplay(warehouse, { run: moved.run });
  expect(replayed).toMatchObject({ outcome: 'published', current: moved.run });
});
