/** Each exported table is one Parquet file with the rows of its DuckDB table, the same bytes for the same input, and exact texts and NULLs. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { describe, expect, it } from 'vitest';
import { quoteText } from '../../src/runtime/database.ts';
import type { AnyPipeline, Project } from '../../src/project/declaration.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { ask, exported as tables, load, project, user, voter } from './support.ts';
import { hostileTexts } from '../support/hostile-texts.ts';

const partitions = {
  voters: [
    [voter(), voter({ regency: 'B', dpt_male: 'x' }), 5],
    [voter({ dapil_id: '1102', regency: "O'B" }), voter({ dapil_id: '1102', regency: '', dpt_male: '7' })],
    [voter({ dapil_id: '1103', election_year: '2019' })],
  ],
  voting_rights_users: [[user({ dpt_male: '99999' })], [user({ dapil_id: '1102', dapil_name: 'Y' }), 'x', 'x']],
};
/** A pipeline of three columns, for many rows at little cost. */
const people: AnyPipeline = {
  table: 'people',
  title: 'People',
  comment: "People by place; it's a test.",
  path: '/people',
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  format: 'json',
  records: '/data',
  columns: {
    id: { field: 'Id', kind: 'integer', comment: 'Partition.' },
    place: { field: 'Place', kind: 'text', comment: 'Place.' },
    name: { field: 'Name', kind: 'text', comment: 'Name.' },
    total: { field: 'Total', kind: 'count', comment: 'People.' },
  },
  key: ['id', 'place'],
  partition: { parameter: 'id', column: 'id' },
  watch: ['total'],
  checks: [],
};
const small: Project = { ...project, pipelines: [people], models: [], checks: [] };

const parquetFile = (folder: string, table: string): string => join(folder, parquetPath(table));
const parquet = (folder: string, table: string): string => `read_parquet(${quoteText(parquetFile(folder, table))})`;

describe('a Parquet file', () => {
  it('holds the rows of its table, in the order of its table', async () => {
    const before = await load({ ...partitions, voters: [[voter({ dpt_male: '1' })]] });
    const { folder, rows } = await load(partitions, { previous: before.file, snapshot: '20270101T000000Z-abcdef' });
    for (const table of tables) {
      const order = project.models.some(({ name }) => name === table) ? ' ORDER BY ALL' : '';
      const inDatabase = await rows(`FROM ${table}${order}`);
      expect(inDatabase, table).not.toEqual([]);
      expect(await ask(':memory:', `SELECT * FROM ${parquet(folder, table)}`), table).toEqual(inDatabase);
    }
  });

  it('is compressed with zstd', async () => {
    const { folder } = await load(partitions);
    for (const table of tables) {
      const metadata = `SELECT DISTINCT compression FROM parquet_metadata(${quoteText(parquetFile(folder, table))})`;
      // An empty table has no group of rows.
      for (const { compression } of await ask(':memory:', metadata)) expect(compression, table).toBe('ZSTD');
    }
    expect(await ask(':memory:', `FROM parquet_metadata(${quoteText(parquetFile(folder, 'voters'))})`)).not.toEqual([]);
  });

  it('knows signed numbers, UTF-8 texts, shares, booleans and times only', async () => {
    const { folder } = await load(partitions);
    const kinds = new Set<string>();
    for (const table of tables) {
      const schema = await ask(
        ':memory:',
        `SELECT type || ' ' || coalesce(converted_type, '') AS kind FROM parquet_schema(${quoteText(parquetFile(folder, table))}) WHERE type IS NOT NULL`,
      );
      for (const { kind } of schema) kinds.add(String(kind).trim());
    }
    expect(kinds).toEqual(
      new Set(['BOOLEAN', 'BYTE_ARRAY UTF8', 'DOUBLE', 'INT32 INT_32', 'INT64 INT_64', 'INT64 TIMESTAMP_MICROS']),
    );
  });

  it('says what it is, of which snapshot, and what its columns mean', async () => {
    const { folder, dictionary } = await load(partitions);
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

  it('is the same to the byte for the same input, in whatever order the partitions come', async () => {
    const reversed = Object.fromEntries(Object.entries(partitions).map(([table, data]) => [table, data.toReversed()]));
    const loads = [await load(partitions), await load(partitions), await load(reversed)];
    for (const table of tables) {
      const [first, ...others] = await Promise.all(loads.map(({ folder }) => readFile(parquetFile(folder, table))));
      for (const other of others) expect(other.equals(first!), table).toBe(true);
    }
    const other = await load({ ...partitions, voters: [[voter({ dpt_male: '70801' })]] });
    expect(await readFile(parquetFile(other.folder, 'voters'))).not.toEqual(
      await readFile(parquetFile(loads[0]!.folder, 'voters')),
    );
  });
});

describe('texts and NULLs', () => {
  it('survive exactly: quotes, NUL, emoji, bidi marks, a megabyte', async () => {
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

  it('survive at the borders of chunks and batches, among more texts than the loader remembers', async () => {
    const total = 70_000;
    const nulls = new Set([0, 63, 64, 2047, 2048, 4095, 4096, 16_383, 16_384, 65_535, 65_536, total - 1]);
    const data = Array.from({ length: total }, (_, index) => {
      const place = String(index).padStart(6, '0');
      // The first names come again after the loader has forgotten them.
      return {
        Id: '1',
        Place: place,
        Name: nulls.has(index) ? null : `N${index % 66_000}`,
        Total: nulls.has(index) ? null : index,
      };
    });
    const { folder, rows, reports } = await load({ people: [data] }, { project: small });
    const expected = `SELECT range::INTEGER AS i, lpad(i::VARCHAR, 6, '0') AS place, CASE WHEN i NOT IN (${[...nulls].join(', ')}) THEN i END AS total, 'N' || (total % 66000) AS name FROM range(${total})`;
    for (const relation of ['people', parquet(folder, 'people')]) {
      const differing = await rows(
        `SELECT * FROM (${expected}) e FULL JOIN ${relation} p USING (place) WHERE p.name IS DISTINCT FROM e.name OR p.total IS DISTINCT FROM e.total OR p.is_consistent IS DISTINCT FROM (e.total IS NOT NULL)`,
      );
      expect(differing).toEqual([]);
      expect(await rows(`SELECT count(*) AS n FROM ${relation}`)).toEqual([{ n: BigInt(total) }]);
    }
    expect(reports.get('people')!.violations).toEqual([{ check: 'null', severity: 'error', count: 2 * nulls.size }]);
  });
});

const hostile = { regency: "KOTA \u{1F5F3} 'é'\n", dpt_male: 'x' };

it('hyparquet reads every file: the same rows, numbers as numbers, and the words about them', async () => {
  const { folder, rows } = await load({ voters: [[voter(), voter(hostile), 5]], voting_rights_users: [[user()]] });
  for (const table of tables) {
    const bytes = await readFile(join(folder, parquetPath(table)));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const read = await parquetReadObjects({ file, compressors });
    const inDatabase = await rows(`FROM ${table}`);
    const sorted = (all: readonly unknown[]): string[] =>
      all
        .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)))
        .toSorted();
    expect(sorted(read), table).toEqual(sorted(inDatabase));
    const words = parquetMetadata(file).key_value_metadata ?? [];
    expect(words.find(({ key }) => key === 'rekap.table')?.value).toBe(table);
  }
});
