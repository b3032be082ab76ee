/** rekap push and rekap pull as commands: their whole outputs, exit codes and lines in runs.jsonl. */

import { describe, expect, it } from 'vitest';
import { readCurrentId } from '../../src/warehouse/warehouse.ts';
import { startMemoryStore } from '../support/memory-store.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { readRunLines } from '../support/run-lines.ts';
import { smallNation } from '../support/served-source.ts';
import { addSnapshot, nights, smallWarehouse } from '../support/small-snapshots.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const [first, second, third, fourth] = nights;

/** A warehouse, a folder for a mirror, a store, and a way to run commands that find it. */
async function setUp(ids: readonly string[] = [first, second, third]) {
  const warehouse = await smallWarehouse(ids);
  const mirror = await temporaryFolder();
  const store = await startMemoryStore();
  const run = (...words: string[]) => runHere(words, { ...store.environment, AWS_MAX_ATTEMPTS: '1' });
  const outcomes = async (folder: string) =>
    (await readRunLines(folder)).map(({ kind, outcome, exit_code, bucket }) => ({ kind, outcome, exit_code, bucket }));
  return { warehouse, mirror, store, run, outcomes };
}

const published = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }), smallNation({ 1101: 22 }));

/** The same with snapshots that a pull finds whole. */
async function setUpPublished() {
  const { warehouse, known } = await published();
  return { ...(await setUp([])), warehouse, ids: known };
}

/** The figures of a JSON document, without the bytes that it must have. */
function withoutBytes(stdout: string): object {
  const { bytes, ...others } = JSON.parse(stdout) as { bytes: number };
  expect(bytes).toBeGreaterThan(0);
  return others;
}

describe('rekap push', () => {
  it('says what it pushed, what it removed there, and that it is there already', async () => {
    const { warehouse, store, run, outcomes } = await setUp();
    const push = (...words: string[]) => run('push', store.url, '--warehouse', warehouse, ...words);
    expect(await push('--snapshot', first)).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(new RegExp(`^Pushed snapshot ${first} to ${store.url}: 4 files, [\\d.]+ kB\\n$`)),
    });
    expect((await push('--snapshot', second)).code).toBe(0);
    const { stdout } = await push('--keep', '1');
    expect(stdout.split('\n').slice(1)).toEqual([`Removed from the bucket: ${first}`, '']);
    expect(await push()).toEqual({ code: 0, stderr: '', stdout: `${store.url} already contains snapshot ${third}.\n` });
    expect(await outcomes(warehouse)).toEqual(
      ['pushed', 'pushed', 'pushed', 'unchanged'].map((outcome) => ({
        kind: 'push',
        outcome,
        exit_code: 0,
        bucket: store.url,
      })),
    );
  });

  it('gives the same as JSON', async () => {
    const { warehouse, store, run } = await setUp();
    const push = (...words: string[]) => run('push', `${store.url}/`, '--json', '--warehouse', warehouse, ...words);
    const same = { bucket: store.url, removed: [] };
    const pushed = { ...same, outcome: 'pushed', snapshot: third, files: 4 };
    expect(withoutBytes((await push()).stdout)).toEqual(pushed);
    expect(JSON.parse((await push()).stdout)).toEqual({ ...pushed, outcome: 'unchanged', files: 0, bytes: 0 });
  });

  it('takes another source where that is accepted', async () => {
    const { warehouse, store, run } = await setUp();
    await run('push', store.url, '--warehouse', warehouse);
    await addSnapshot(warehouse, fourth, { source: 'elsewhere' });
    const push = (...words: string[]) => run('push', store.url, '--warehouse', warehouse, ...words);
    expect((await push()).code).toBe(2);
    expect((await push('--accept-source')).code).toBe(0);
  });

  it('fails with exit code 8 where the store refuses, and shows no secret', async () => {
    const { warehouse, store, run, outcomes } = await setUp();
    store.refuse = () => 403;
    const { code, stdout, stderr } = await run('push', store.url, '--json', '--warehouse', warehouse);
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'bucket', exit_code: 8 } });
    expect(stderr).toContain('failed to read current.json: Refused (Refused, 403).');
    expect(stdout + stderr).not.toContain(store.environment['AWS_SECRET_ACCESS_KEY']);
    expect(await outcomes(warehouse)).toEqual([{ kind: 'push', outcome: 'failed', exit_code: 8, bucket: store.url }]);
  });
});

describe('rekap pull', () => {
  it('says what it pulled, and that it is here already', async () => {
    const { warehouse, mirror, store, run, outcomes, ids } = await setUpPublished();
    const newest = ids[2];
    await run('push', store.url, '--warehouse', warehouse);
    const pull = (...words: string[]) => run('pull', store.url, '--warehouse', mirror, ...words);
    expect(await pull()).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(
        new RegExp(`^Pulled snapshot ${newest} into ${mirror}: \\d+ files, [\\d.]+ [kM]B\\n$`),
      ),
    });
    expect(await pull()).toEqual({ code: 0, stderr: '', stdout: `${mirror} already contains snapshot ${newest}.\n` });
    expect(await outcomes(mirror)).toEqual(
      ['pulled', 'unchanged'].map((outcome) => ({ kind: 'pull', outcome, exit_code: 0, bucket: store.url })),
    );
  });

  it('gives the same as JSON, and keeps the previous snapshot', async () => {
    const { warehouse, mirror, store, run, ids } = await setUpPublished();
    const removed: unknown[] = [];
    for (const id of ids) {
      await run('push', store.url, '--warehouse', warehouse, '--snapshot', id);
      const { stdout } = await run('pull', store.url, '--json', '--keep', '1', '--warehouse', mirror);
      const { removed: gone, files, ...pulled } = withoutBytes(stdout) as { removed: string[]; files: number };
      expect(pulled).toEqual({ outcome: 'pulled', snapshot: id, bucket: store.url, warehouse: mirror, held: null });
      expect(files).toBeGreaterThan(4);
      removed.push(gone);
    }
    expect(removed).toEqual([[], [], [ids[0]]]);
  });

  it('takes another source where that is accepted', async () => {
    const { warehouse, store, run, ids } = await setUpPublished();
    const mirror = await smallWarehouse(['20261119T030000Z-000001'], { source: 'elsewhere' });
    await run('push', store.url, '--warehouse', warehouse);
    expect((await run('pull', store.url, '--warehouse', mirror)).code).toBe(2);
    expect((await run('pull', store.url, '--warehouse', mirror, '--accept-source')).code).toBe(0);
    expect(await readCurrentId(mirror)).toBe(ids[2]);
  });

  it('refuses a conflict with exit code 8, and leaves the warehouse as it was', async () => {
    const { warehouse, store, run } = await setUp();
    const ahead = await smallWarehouse([first, fourth]);
    await run('push', store.url, '--warehouse', warehouse);
    const { code, stderr } = await run('pull', store.url, '--warehouse', ahead);
    expect(code).toBe(8);
    expect(stderr).toContain(`contains snapshot ${fourth}, which is newer than ${third}`);
    expect(await readCurrentId(ahead)).toBe(fourth);
  });
});

it.each([
  ['push', 's3://figures/../other'],
  ['pull', 's3://figures/a/../../other'],
  ['push', 'figures'],
  ['pull', 'https://figures/dpr'],
])('rekap %s %s is refused before a request to the store, without the address', async (command, url) => {
  const { warehouse, store, run } = await setUp();
  const { code, stderr } = await run(command, url, '--warehouse', warehouse);
  expect(code).toBe(2);
  expect(stderr).toContain('The address of the bucket is not valid.');
  expect(stderr).not.toContain('figures/');
  expect(store.requests).toEqual([]);
});
