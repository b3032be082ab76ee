/** The request bodies that create and extend the tables of a catalog. */

import { describe, expect, it } from 'vitest';
import type { TableMetadata } from '../../src/share/lake/iceberg.ts';
import { type LakeTable, missingFields, newTable } from '../../src/share/lake/table-schema.ts';
import { snapshotOf, tagOf } from '../../src/share/lake/tags.ts';

const voters: LakeTable = {
  name: 'voters',
  meaning: 'Voters by regency.',
  file: 'voters.parquet',
  columns: [
    { name: 'dapil_id', type: 'INTEGER', meaning: 'Identifier of the district.' },
    { name: 'regency', type: 'VARCHAR', meaning: 'Name of the regency.' },
    { name: 'rate', type: 'DECIMAL(9,2)', meaning: '' },
    { name: 'read_at', type: 'TIMESTAMP', meaning: '' },
  ],
  key: ['dapil_id', 'regency'],
};

const fields = [
  { id: 1, name: 'dapil_id', required: true, type: 'int', doc: 'Identifier of the district.' },
  { id: 2, name: 'regency', required: true, type: 'string', doc: 'Name of the regency.' },
  { id: 3, name: 'rate', required: false, type: 'decimal(9, 2)' },
  { id: 4, name: 'read_at', required: false, type: 'timestamp' },
];

describe('a new table', () => {
  it('has required keys, comments, and the order of its key', () => {
    const order = (id: number) => ({
      transform: 'identity',
      'source-id': id,
      direction: 'asc',
      'null-order': 'nulls-last',
    });
    expect(newTable(voters, { 'rekap.table': 'voters' })).toEqual({
      name: 'voters',
      schema: { type: 'struct', fields },
      'write-order': { 'order-id': 1, fields: [order(1), order(2)] },
      properties: { 'format-version': '2', comment: 'Voters by regency.', 'rekap.table': 'voters' },
    });
  });

  it.each(['VARCHAR[]', 'STRUCT(a INTEGER)', 'HUGEINT', 'TIME'])('is refused if a column is a %s', (type) => {
    const table = { ...voters, columns: [{ name: 'odd', type, meaning: '' }], key: [] };
    expect(() => newTable(table, {})).toThrow(/odd of voters has the type/);
  });
});

describe('an existing table', () => {
  const metadata = (existing: readonly object[]): TableMetadata =>
    ({
      'current-schema-id': 1,
      'last-column-id': 7,
      schemas: [
        { 'schema-id': 0, fields: [] },
        { 'schema-id': 1, fields: existing },
      ],
    }) as unknown as TableMetadata;

  it('gets missing columns with new IDs, as optional ones', () => {
    expect(missingFields(voters, metadata(fields))).toEqual([]);
    const [dapil] = fields;
    expect(missingFields(voters, metadata([dapil!]))).toEqual(
      fields.slice(1).map((field, index) => ({ ...field, id: 8 + index, required: false })),
    );
  });

  it.each([
    ['has another type', { ...fields[0], type: 'long' }],
    ['no longer exists in the snapshot', { id: 5, name: 'old', required: false, type: 'int' }],
    ['is nested', { id: 5, name: 'old', required: false, type: { type: 'list', element: 'int' } }],
  ])('is refused if one of its columns %s', (_, field) => {
    expect(() => missingFields(voters, metadata([...fields.slice(1), field]))).toThrow(
      expect.objectContaining({ code: 'lake' }),
    );
  });
});

it('tags name snapshots, and other tags do not', () => {
  const id = '20261120T030002Z-1f3a9c';
  expect(tagOf(id)).toBe('snap_20261120T030002Z_1f3a9c');
  expect(snapshotOf(tagOf(id))).toBe(id);
  expect(snapshotOf('audit-2026')).toBeNull();
});
