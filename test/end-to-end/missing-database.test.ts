/** A snapshot whose DuckDB file is gone or none: whoever reads it is told what is wrong and what mends it. */

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseSnapshots, diffSnapshots } from '../../src/snapshots/diff-snapshots.ts';
import { preparedSnapshots } from '../support/prepared-snapshots.ts';
import { runHere } from '../support/run-here.ts';
import { smallNation } from '../support/served-source.ts';
import { project } from '../support/sync-settings.ts';

/** One that there is not. */
const newest = '29991231T235959Z-ffffff';

/** A warehouse with two snapshots. */
const prepared = preparedSnapshots(smallNation({ 1101: 20 }), smallNation({ 1101: 21 }));

async function twoSnapshots() {
  const { warehouse, known } = await prepared();
  const [before, after] = known;
  return { warehouse, before, after, database: join(warehouse, 'snapshots', after, 'rekap.duckdb') };
}

describe('a DuckDB file that is gone', () => {
  it.each(['csv', 'arrow', 'parquet'])('is named by a query for %s, with a replay that mends it', async (format) => {
    const { warehouse, after, database } = await twoSnapshots();
    await rm(database);
    const out = join(warehouse, 'out');
    const words = ['query', 'FROM voters', '--format', format, '--out', out, '--warehouse', warehouse];
    const { code, stderr } = await runHere(words);
    expect(code).toBe(2);
    expect(stderr).toContain(`${database} is missing.`);
    expect(stderr).toContain(`"rekap replay ${after} --warehouse ${warehouse}"`);
    const asJson = await runHere(['snapshots', 'show', newest, '--json', '--warehouse', warehouse]);
    expect(JSON.parse(asJson.stdout)).toMatchObject({
      error: { next: expect.stringContaining(`"rekap snapshots list --warehouse ${warehouse}"`) },
    });
  });

  it.each([
    ['shell', ['shell', '--duckdb']],
    ['serve', ['serve', '--port', '0']],
  ])('is named by %s too', async (_, words) => {
    const { warehouse, after, database } = await twoSnapshots();
    await rm(database);
    const result = await runHere([...words, '--warehouse', warehouse], { REKAP_API_KEYS: 'a-key-for-this' });
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`${database} is missing.`) });
    expect(result.stderr).toContain(`"rekap replay ${after} --warehouse ${warehouse}"`);
  });

  it('is named by a comparison', async () => {
    const { warehouse, database } = await twoSnapshots();
    await rm(database);
    const compared = await chooseSnapshots(warehouse, undefined, undefined);
    const failing = diffSnapshots(project.pipelines, compared, async () => null);
    await expect(failing).rejects.toThrow(expect.objectContaining({ code: 'warehouse' }));
  });
});

it('a DuckDB file that is none is named too, and by exit 2', async () => {
  const { warehouse, database } = await twoSnapshots();
  await rm(database, { force: true });
  await writeFile(database, 'nothing of the kind');
  const { code, stderr } = await runHere(['query', 'FROM voters', '--warehouse', warehouse]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${database} cannot be opened`)]);
  expect(stderr).toContain('snapshots verify');
});
