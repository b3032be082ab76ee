/** The SQL of a declaration reaches nothing except its tables, even if the analysis before it missed a function. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { declaredDefinitions } from '../../src/load/try-sql.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { ask, load, makeFolder, project, voter } from './support.ts';

vi.mock('../../src/load/analyze-sql.ts', () => ({
  findImpurities: (_: unknown, queries: readonly string[]) => queries.map(() => null),
  findConstants: () => [],
}));

async function withView(sql: (secret: string) => string) {
  const secret = join(await makeFolder(), 'secret.txt');
  await writeFile(secret, 'a confidential line');
  return { ...project, checks: [], models: [{ name: 'spy', sql: sql(secret), comment: '', columns: {} }] };
}

it('a view that reads a file is refused, in the trial and in the load', async () => {
  const spying = await withView((secret) => `SELECT content FROM read_text('${secret}')`);
  await expect(load({}, { project: spying })).rejects.toThrow(/disabled by configuration/);
  await expect(declaredDefinitions(spying)).rejects.toThrow(/disabled by configuration/);
});

it('a view that asks whether it is sealed finds the same answer everywhere', async () => {
  const spying = await withView(
    (secret) =>
      `SELECT content FROM query(CASE WHEN current_setting('enable_external_access') THEN 'FROM read_text(''${secret}'')' ELSE 'SELECT ''sealed'' AS content' END)`,
  );
  const { folder } = await load({ voters: [[voter()]] }, { project: spying });
  expect(await ask(':memory:', `FROM '${join(folder, parquetPath('spy'))}'`)).toEqual([{ content: 'sealed' }]);
});

it('a setting cannot be changed, except the memory and the threads of the load', async () => {
  const reading = await withView(() => "SELECT value FROM duckdb_settings() WHERE name = 'lock_configuration'");
  const { folder } = await load({ voters: [[voter()]] }, { project: reading });
  expect(await ask(':memory:', `FROM '${join(folder, parquetPath('spy'))}'`)).toEqual([{ value: 'true' }]);
});

it('the time zone of the machine changes nothing', async () => {
  const zoned = await withView(() => "SELECT '2026-03-01 20:00:00'::TIMESTAMP::TIMESTAMPTZ::VARCHAR AS at");
  const { folder } = await load({ voters: [[voter()]] }, { project: zoned });
  expect(await ask(':memory:', `FROM '${join(folder, parquetPath('spy'))}'`)).toEqual([
    { at: '2026-03-01 20:00:00+00' },
  ]);
});
