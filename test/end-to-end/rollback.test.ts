/** Going back to an earlier snapshot: never to a damaged one, and no advice leads to one. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rollBack, verifyPublished } from '../../src/snapshots/manage-snapshots.ts';
import { readCurrentId } from '../../src/warehouse/warehouse.ts';
import { alterFile } from '../support/alter-file.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';

/** A warehouse with three snapshots. */
const prepared = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }), smallNation({ 1101: 22 }));

async function threeSnapshots() {
  const { warehouse, known } = await prepared();
  const [oldest, older, newest] = known;
  const file = (id: string, path: string): string => join(warehouse, 'snapshots', id, path);
  return { warehouse, oldest, older, newest, file };
}

/** Changes one bit: the size tells nothing. */
async function spoil(path: string): Promise<void> {
  await alterFile(path, (bytes) => {
    bytes[bytes.length >> 1]! ^= 1;
    return bytes;
  });
}

describe('a rollback', () => {
  const damages: [string, string, (path: string) => Promise<void>][] = [
    ['a byte that is another', 'rekap.duckdb', spoil],
    ['a file that is gone', 'parquet/voters/voters.parquet', rm],
    ['a manifest that is another', 'manifest.json', spoil],
  ];

  it.each(damages)('is refused to a snapshot with %s, which it names', async (_, path, damage) => {
    const { warehouse, oldest, older, newest, file } = await threeSnapshots();
    await damage(file(older, path));
    const attempt = rollBack(warehouse, older);
    await expect(attempt).rejects.toThrow(expect.objectContaining({ code: 'verification' }));
    await expect(attempt).rejects.toMatchObject({
      message: expect.stringContaining(path),
      next: expect.stringContaining('rekap snapshots rollback'),
    });
    expect(await readCurrentId(warehouse)).toBe(newest);
    await rollBack(warehouse, oldest);
    expect(await readCurrentId(warehouse)).toBe(oldest);
  });

  it('is refused to a snapshot whose answers are others, and does not advise to replay them', async () => {
    const { warehouse, older, file } = await threeSnapshots();
    await spoil(join(warehouse, 'landing', older, 'bodies.gz'));
    await rm(file(older, 'rekap.duckdb'));
    await expect(rollBack(warehouse, older)).rejects.toMatchObject({
      message: expect.stringContaining('rekap.duckdb'),
      next: expect.not.stringContaining('replay'),
    });
  });

  it('goes to a snapshot that is whole though its answers are others, and says so', async () => {
    const { warehouse, older } = await threeSnapshots();
    await spoil(join(warehouse, 'landing', older, 'bodies.gz'));
    const { code, stderr } = await runHere(['snapshots', 'rollback', older, '--warehouse', warehouse]);
    expect(code).toBe(0);
    expect(stderr).toContain(`landing/${older}: bodies.gz`);
    expect(stderr).toContain('a replay cannot reproduce them');
    expect(await readCurrentId(warehouse)).toBe(older);
  });

  it('to an id that is none names the list', async () => {
    const { warehouse } = await threeSnapshots();
    const attempt = rollBack(warehouse, '20200101T000000Z-000000');
    await expect(attempt).rejects.toThrow(expect.objectContaining({ code: 'snapshot-not-found' }));
    await expect(attempt).rejects.toMatchObject({ next: expect.stringContaining('"rekap snapshots"') });
  });
});

describe('the advice on a damaged snapshot', () => {
  it('is a replay where its answers are kept, and another sync where they are not', async () => {
    const { warehouse, older, newest, file } = await threeSnapshots();
    for (const id of [older, newest]) await spoil(file(id, 'rekap.duckdb'));
    await rm(join(warehouse, 'landing', newest), { recursive: true });
    const words = ['snapshots', 'rollback', older, '--warehouse', warehouse];
    expect(await runHere(words)).toMatchObject({ code: 1, stdout: '' });
    const adviceOn = async (id: string) => (await verifyPublished(warehouse, id)).next;
    expect(await adviceOn(older)).toContain('"rekap snapshots rollback ID"');
    expect(await adviceOn(newest)).not.toContain('replay');
  });
});
