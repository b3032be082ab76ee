/** Each exported table is one Parquet file with the rows of its DuckDB table, the same bytes for the same input, and exact texts and NULLs. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { describe, expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { ask, exported as tables, load, loadOnce, user, voter, wholeProject } from './support.ts';
import { hostileTexts } from '../support/hostile-texts.ts';

const partitions = {
  voters: [
    [voter(), voter({ regency: 'B', dpt_male: 'x' }), 5],
    [voter({ dapil_id: '1102', regency: "O'B \u{1F5F3}\n" }), voter({ dapil_id: '1102', regency: '', dpt_male: '7' })],
    [voter({ dapil_id: '1103', election_year: '2019' })],
  ],
  voting_rights_users: [[user({ dpt_male: '99999' })], [user({ dapil_id: '1102', dapil_name: 'Y' }), 'x', 'x']],
};
const parquetFile = (folder: string, table: string): string => join(folder, parquetPath(table));
const parquet = (folder: string, table: string): string => `read_parquet(${quoteText(parquetFile(folder, table))})`;

const loadWhole = loadOnce((folder) => load(partitions, { folder: join(folder, 'whole'), project: wholeProject }));

describe('a Parquet file', () => {
  it('has the rows of its DuckDB table in the same order, or of its view, also for hyparquet', async () => {
    const { folder, rows } = await loadWhole();
    for (const table of tables) {
      const order = wholeProject.models.some(({ name }) => name === table) ? ' ORDER BY ALL' : '';
      const inDatabase = await rows(`FROM ${table}${order}`);
      expect(await ask(':memory:', `FROM ${parquet(folder, table)}${order}`), table).toEqual(inDatabase);
      const bytes = await readFile(parquetFile(folder, table));
      const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      const numbersOf = (row: object) =>
        JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
      const read = await parquetReadObjects({ file, compressors });
      expect(read.map(numbersOf).toSorted(), table).toEqual(inDatabase.map(numbersOf).toSorted());
    }
  });

  it('is compressed with zstd and has only types that other programs know', async () => {
    const { folder } = await loadWhole();
    const kinds = new Set<string>();
    for (const table of tables) {
      const file = quoteText(parquetFile(folder, table));
      // An empty table has no row group.
      for (const { compression } of await ask(':memory:', `FROM parquet_metadata(${file})`))
        expect(compression, table).toBe('ZSTD');
      for (const { type, converted_type } of await ask(':memory:', `FROM parquet_schema(${file})`))
        if (type !== null) kinds.add([type, converted_type].join(' '));
    }
    expect(kinds).toEqual(
      new Set(['BOOLEAN ', 'BYTE_ARRAY UTF8', 'DOUBLE ', 'INT32 INT_32', 'INT64 INT_64', 'INT64 TIMESTAMP_MICROS']),
    );
  });

  it('has metadata with its snapshot, table and the meaning of its columns', async () => {
    const { folder, dictionary } = await loadWhole();
    for (const { name, meaning, columns } of dictionary.filter(({ name: table }) => tables.includes(table))) {
      const found = await ask(
        ':memory:',
        `SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata(${quoteText(parquetFile(folder, name))})`,
      );
      expect(Object.fromEntries(found.map(({ key, value }) => [key, value]))).toEqual({
        'rekap.snapshot': '20261120T030002Z-000001',
        'rekap.source': 'sample',
        'rekap.read_at': '2026-11-20T03:00:02.000Z',
        'rekap.sample': 'true',
        'rekap.table': name,
        'rekap.comment': meaning,
        ...Object.fromEntries(columns.map((column) => [`rekap.column.${column.name}`, column.meaning])),
      });
    }
  });

  it('has the same bytes for the same input in any order of partitions', async () => {
    const reversed = Object.fromEntries(Object.entries(partitions).map(([table, data]) => [table, data.toReversed()]));
    const folders = [await loadWhole(), await load(reversed, { project: wholeProject })].map(({ folder }) => folder);
    for (const table of tables) {
      const [one, other] = await Promise.all(folders.map((folder) => readFile(parquetFile(folder, table))));
      expect(other!.equals(one!), table).toBe(true);
    }
  });
});

describe('texts and NULLs', () => {
  it('survive exactly, including quotes, NUL, emoji, bidi marks and a megabyte', async () => {
    const odd = JSON.stringify({ IdDapil: '\0\'"😀' });
    const { folder, rows } = await load({
      voters: [hostileTexts.map((regency) => voter({ regency, dapil_name: regency, dpt_male: regency }))],
      voting_rights_users: [`[${odd}]`],
    });
    const found = [
      ...(await rows('SELECT * FROM voters')),
      ...(await ask(':memory:', `FROM ${parquet(folder, 'voters')}`)),
    ];
    expect(found).toHaveLength(2 * hostileTexts.length);
    expect(new Set(found.map(({ regency }) => regency))).toEqual(new Set(hostileTexts));
    for (const row of found) expect(row['dapil_name']).toBe(row['regency']);
    const raw = `SELECT raw_value, regency FROM %s WHERE column_name = 'dpt_male'`;
    for (const violations of [
      await rows(raw.replace('%s', 'violations')),
      await ask(':memory:', raw.replace('%s', parquet(folder, 'violations'))),
    ]) {
      expect(violations).toHaveLength(hostileTexts.length);
      for (const { raw_value, regency } of violations) expect(raw_value).toBe(regency);
    }
    expect(await rows('SELECT record FROM quarantine')).toEqual([{ record: odd }]);
  });
});
