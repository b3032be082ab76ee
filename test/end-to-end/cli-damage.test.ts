/** A warehouse in which something is damaged: what can be read is shown, what cannot is named, and so is what to do. */

import { appendFile, cp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alterFile } from '../support/alter-file.ts';
import { preparedWarehouse } from '../support/prepared-warehouse.ts';
import { runHere } from '../support/run-here.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const damagedId = '20200101T000000Z-000001';

/** A warehouse with the sample as its current snapshot, and an older one whose manifest is none. */
const withSample = preparedWarehouse((warehouse) => runHere(['sync', '--sample', '--warehouse', warehouse]));

async function damagedWarehouse() {
  const { warehouse } = await withSample();
  const id = basename(await realpath(join(warehouse, 'current')));
  const folder = join(warehouse, 'snapshots', damagedId);
  await cp(join(warehouse, 'snapshots', id), folder, { recursive: true });
  await writeFile(join(folder, 'manifest.json'), '{');
  const snapshots = (...words: string[]) => runHere(['snapshots', ...words, '--warehouse', warehouse]);
  return { warehouse, id, folder, snapshots };
}

describe('rekap snapshots', () => {
  it('of a folder that is no warehouse is the same error as ever', async () => {
    const result = await runHere(['snapshots', '--warehouse', '/nonexistent/warehouse']);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain('/nonexistent/warehouse is not a warehouse');
  });

  it('names each dataset above its rows', async () => {
    const { warehouse } = await damagedWarehouse();
    const { stdout } = await runHere(['snapshots', '--warehouse', warehouse]);
    expect(stdout.split('\n')[0]).toMatch(/^state +snapshot +created \(UTC\) +source +voters +voting_rights_users$/);
  });

  it('of a file says that it is no folder', async () => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, '');
    const { code, stderr } = await runHere(['snapshots', '--warehouse', file]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${file} is not a folder.`) });
  });

  it('of a warehouse without snapshots says that there are none', async () => {
    const warehouse = await temporaryFolder();
    await mkdir(join(warehouse, 'snapshots'));
    const { code, stdout } = await runHere(['snapshots', '--warehouse', warehouse]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `The warehouse ${warehouse} does not contain any snapshots yet.\n`,
    });
  });

  it('shows a snapshot with a damaged manifest as damaged, with the reason and what to do, besides the others', async () => {
    const { warehouse, id, folder, snapshots } = await damagedWarehouse();
    const { code, stdout, stderr } = await snapshots();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^ +${damagedId} +damaged$`, 'm'));
    expect(stdout).toMatch(new RegExp(`^● current +${id} +2.* sample +514 +514$`, 'm'));
    expect(stdout).toContain(
      `\nSnapshot ${damagedId} is damaged: ${join(folder, 'manifest.json')} is not valid JSON.\n`,
    );
    expect(stdout).toContain(`"rekap snapshots rollback ID --warehouse ${warehouse}"`);
    expect(JSON.parse((await snapshots('--json')).stdout)).toMatchObject([
      {
        id: damagedId,
        current: false,
        damaged: expect.stringContaining('is not valid JSON'),
        created_at: null,
        rows: {},
      },
      { id, current: true, damaged: null, source: 'sample', rows: { voters: 514 } },
    ]);
  });

  it.each<[string, string, (path: string) => Promise<void>, RegExp]>([
    ['a DuckDB file that is gone', 'rekap.duckdb', rm, /rekap\.duckdb: is missing\.$/],
    [
      'a DuckDB file that is cut off',
      'rekap.duckdb',
      (path) => alterFile(path, () => Buffer.of()),
      /rekap\.duckdb: 0 bytes, but \d+ in the manifest\.$/,
    ],
    [
      'a Parquet file of another size',
      'parquet/voters/voters.parquet',
      (path) => appendFile(path, 'x'),
      /voters\.parquet: \d+ bytes, but \d+ in the manifest/,
    ],
  ])('shows a snapshot with %s as damaged', async (_, path, damage, reason) => {
    const { warehouse, id, snapshots } = await damagedWarehouse();
    await damage(join(warehouse, 'snapshots', id, path));
    const listed = await snapshots();
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(new RegExp(`^● current +${id} +damaged +sample$`, 'm'));
    expect(listed.stdout).toContain(`"rekap snapshots rollback ID --warehouse ${warehouse}"`);
    expect(JSON.parse((await snapshots('--json')).stdout)).toMatchObject([
      { id: damagedId },
      {
        id,
        current: true,
        damaged: expect.stringMatching(reason),
        next: expect.stringContaining(`--warehouse ${warehouse}`),
        source: 'sample',
      },
    ]);
  });

  it('shows a damaged current, and still every snapshot', async () => {
    const { warehouse, id, snapshots } = await damagedWarehouse();
    const current = join(warehouse, 'current');
    await rm(current);
    await writeFile(current, 'x');
    const listed = await snapshots();
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(new RegExp(`^ +${id} .* 514$`, 'm'));
    expect(listed.stdout).toContain('current is damaged: ');
    expect(JSON.parse((await snapshots('--json')).stdout)).toMatchObject([
      { id: damagedId, current: false },
      { id, current: false, damaged: null },
      { id: null, current: true, damaged: expect.stringContaining('is not a symbolic link') },
    ]);
    await rm(current);
    await symlink('snapshots/20190101T000000Z-000000', current);
    expect((await snapshots()).stdout).toMatch(/^● current +20190101T000000Z-000000 +damaged$/m);
    expect((await snapshots('rollback', id)).code).toBe(0);
    expect((await snapshots()).stdout).toMatch(new RegExp(`^● current, pinned +${id} `, 'm'));
  });
});

describe('rekap snapshots verify', () => {
  it('counts a manifest that cannot be read as damage, and names the rollback first', async () => {
    const { snapshots } = await damagedWarehouse();
    const { code, stderr } = await snapshots('verify', damagedId);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /is damaged:\n {2}- .*manifest\.json is not valid JSON\.\n {2}To choose another snapshot, run "rekap snapshots/,
    );
    const asJson = await snapshots('verify', damagedId, '--json');
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toEqual({
      snapshot: damagedId,
      intact: false,
      responses: 'unknown',
      next: expect.stringMatching(/"rekap snapshots rollback ID --warehouse \S+"\./),
      problems: [expect.stringContaining('is not valid JSON')],
    });
  });
});
