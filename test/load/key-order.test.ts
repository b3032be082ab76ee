/** A table that contains a key twice is refused, wherever the duplicates are. */

import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/runtime/database.ts';
import { requireKeyOrder } from '../../src/load/load.ts';

/** More than DuckDB holds in one group of rows. */
const rows = 130_000;

/** A table of two key columns and another, in the order of these rows. */
async function check(select: string): Promise<void> {
  const database = await openDatabase(':memory:', { settings: { threads: '2' } });
  onTestFinished(() => database.close());
  await database.run(`CREATE TABLE voters AS ${select}`);
  await requireKeyOrder(database, 'voters', ['dapil_id', 'regency']);
}

const inOrder = `SELECT (1101 + range // 1000)::INTEGER AS dapil_id, lpad(range::VARCHAR, 9, '0') AS regency, 7 AS people FROM range(${rows})`;

it.each([inOrder, `${inOrder} LIMIT 1`, `${inOrder} LIMIT 0`])(
  'accepts a table with distinct keys: %s',
  async (select) => {
    await expect(check(select)).resolves.toBeUndefined();
  },
);

it.each([1, 2048, 122_880, rows - 1])('refuses a duplicate key at row %i', async (row) => {
  const at = `range - (range >= ${row})::INTEGER`;
  await expect(
    check(
      `SELECT (1101 + (${at}) // 1000)::INTEGER AS dapil_id, lpad((${at})::VARCHAR, 9, '0') AS regency FROM range(${rows})`,
    ),
  ).rejects.toThrow(expect.objectContaining({ code: 'verification' }));
});

it('refuses a duplicate key with another key in between', async () => {
  const values = "(1101, 'A'), (1101, 'B'), (1101, 'A')";
  await expect(check(`SELECT * FROM (VALUES ${values}) AS t(dapil_id, regency)`)).rejects.toThrow(/"regency":"A"/);
});
