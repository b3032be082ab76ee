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

/** A store, and commands that find it. */
async function setUp() {
  const store = await startMemoryStore();
  const run = (...words: string[]) => runHere(words, { ...store.environment, AWS_MAX_ATTEMPTS: '1' });
  const outcomes = async (folder: string) =>
    (await readRunLines(folder)).map(({ kind, outcome, exit_code, bucket }) => ({ kind, outcome, exit_code, bucket }));
  return { store, run, outcomes };
}

describe('rekap push', () => {
  it('prints what it pushed, what it removed there, and that nothing is new', async () => {
    const { store, run, outcomes } = await setUp();
    const warehouse = await smallWarehouse([first, second, third]);
    const push = (...words: string[]) => run('push', store.url, '--warehouse', warehouse, ...words);
    expect(await push('--snapshot', first)).toEqual({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(new RegExp(`^Pushed snapshot ${first} to ${store.url}: 4 files, [\\d.]+ kB\\n$`)),
    });
    const json = { outcome: 'pushed', snapshot: second, bucket: store.url, files: 4, removed: [] };
    const asJson = await push('--snapshot', second, '--json');
    expect(JSON.parse(asJson.stdout)).toEqual({ ...json, bytes: expect.any(Number) });
    expect((await push('--keep', '1')).stdout.split('\n').slice(1)).toEqual([`Removed from the bucket: ${first}`, '']);
    expect(await push()).toEqual({ code: 0, stderr: '', stdout: `${store.url} already contains snapshot ${third}.\n` });
    await addSnapshot(warehouse, fourth, { source: 'elsewhere' });
    expect((await push()).code).toBe(2);
    expect((await push('--accept-source')).code).toBe(0);
    const line = { kind: 'push', exit_code: 0, bucket: store.url };
    expect(await outcomes(warehouse)).toEqual([
      ...['pushed', 'pushed', 'pushed', 'unchanged'].map((outcome) => ({ ...line, outcome })),
      { ...line, outcome: 'failed', exit_code: 2 },
      { ...line, outcome: 'pushed' },
    ]);
  });

  it('fails with exit code 8 if the store refuses, and shows no secret', async () => {
    const { store, run, outcomes } = await setUp();
    const warehouse = await smallWarehouse([first]);
    store.refuse = () => 403;
    const { code, stdout, stderr } = await run('push', store.url, '--json', '--warehouse', warehouse);
    expect(code).toBe(8);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'bucket', exit_code: 8 } });
    expect(stderr).toContain('failed to read current.json: Refused (Refused, 403).');
    expect(stdout + stderr).not.toContain(store.environment['AWS_SECRET_ACCESS_KEY']);
    expect(await outcomes(warehouse)).toEqual([{ kind: 'push', outcome: 'failed', exit_code: 8, bucket: store.url }]);
  });
});

const published = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }), smallNation({ 1101: 22 }));

describe('rekap pull', () => {
  it('prints what it pulled, and that nothing is new', async () => {
    const { store, run, outcomes } = await setUp();
    const { warehouse, known } = await published();
    const mirror = await smallWarehouse(['20261119T030000Z-000001'], { source: 'elsewhere' });
    const pull = (...words: string[]) => run('pull', store.url, '--warehouse', mirror, ...words);
    await run('push', store.url, '--warehouse', warehouse, '--snapshot', known[1]);
    expect((await pull()).code).toBe(2);
    const json = {
      outcome: 'pulled',
      snapshot: known[1],
      bucket: store.url,
      warehouse: mirror,
      held: null,
      removed: [],
    };
    const accepted = await pull('--accept-source', '--json');
    const figures = { files: expect.any(Number), bytes: expect.any(Number) };
    expect(JSON.parse(accepted.stdout)).toEqual({ ...json, ...figures });
    await run('push', store.url, '--warehouse', warehouse);
    const line = `^Pulled snapshot ${known[2]} into ${mirror}: \\d+ files, [\\d.]+ [kM]B\\n$`;
    expect(await pull()).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(new RegExp(line)) });
    expect(await pull()).toEqual({ code: 0, stderr: '', stdout: `${mirror} already contains snapshot ${known[2]}.\n` });
    expect((await outcomes(mirror)).map(({ outcome }) => outcome)).toEqual(['failed', 'pulled', 'pulled', 'unchanged']);
  });

  it('refuses a conflict with exit code 8, and leaves the warehouse as it was', async () => {
    const { store, run } = await setUp();
    const ahead = await smallWarehouse([first, fourth]);
    await run('push', store.url, '--warehouse', await smallWarehouse([third]));
    const { code, stderr } = await run('pull', store.url, '--warehouse', ahead);
    expect(code).toBe(8);
    expect(stderr).toContain(`contains snapshot ${fourth}, which is newer than ${third}`);
    expect(await readCurrentId(ahead)).toBe(fourth);
  });
});

it.each([
  ['push', 's3://figures/../other'],
  ['pull', 'https://figures/dpr'],
])('rekap %s %s is refused before a request to the store, without the address', async (command, url) => {
  const { store, run } = await setUp();
  const { code, stderr } = await run(command, url, '--warehouse', await temporaryFolder());
  expect(code).toBe(2);
  expect(stderr).toContain('The address of the bucket is not valid.');
  expect(stderr).not.toContain('figures/');
  expect(store.requests).toEqual([]);
});
