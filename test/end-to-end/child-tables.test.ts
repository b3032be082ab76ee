/** A child table has one row for each item of the arrays in a JSON column, and what it can't read is a violation of the parent. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { loadProject } from '../../src/project/load-project.ts';
import type { ProjectDeclaration } from '../../src/project/declaration.ts';
import { answerJson, startFaultServer } from '../support/fault-server.ts';
import { readRows } from '../support/read-table.ts';
import { runSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const columns = {
  id: { kind: 'integer', field: 'id' },
  lines: { kind: 'json', field: '/body/lines', nullable: true },
} as const;
const line = {
  no: { kind: 'integer', field: 'no', min: 1 },
  name: { kind: 'text', field: '/item/na~1me', nullable: true },
  amount: { kind: 'decimal', field: 'amount', precision: 20, scale: 2 },
  day: { kind: 'date', field: 'day', nullable: true },
  tags: { kind: 'json', field: 'tags', nullable: true },
} as const;

function declare(children: NonNullable<ProjectDeclaration['pipelines']>[0]['children']): ProjectDeclaration {
  const orders = {
    table: 'orders',
    path: '/orders',
    key: ['id'],
    columns,
    ...(children !== undefined && { children }),
  };
  return { name: 'shop', paging: { by: 'none' }, pipelines: [orders] };
}

async function publish(orders: readonly unknown[], declared: ProjectDeclaration): Promise<string> {
  const server = await startFaultServer((_, response) => answerJson(response, orders));
  onTestFinished(() => server.close());
  const project = await loadProject(declared);
  const warehouse = await temporaryFolder();
  await runSync(syncOptions(warehouse, server.url), {}, { ...project, reportModule: null });
  return warehouse;
}

const order = (id: number, lines: unknown) => ({ id, body: { lines } });
const violationsOf = (warehouse: string) =>
  readRows<Record<string, unknown>>(
    warehouse,
    'SELECT id::INTEGER AS id, check_name, expected, actual FROM violations ORDER BY ALL',
  );

describe('a child table', () => {
  const declared = declare({ lines_of_orders: { from: 'lines', key: ['no'], columns: line } });

  it('has every item with the key of its parent, exactly', async () => {
    const warehouse = await publish(
      [
        order(1, [
          { no: 1, item: { 'na/me': "it's" }, amount: '12345678901234567.89', day: '2024-02-14', tags: ['a', 1] },
          { no: 2.0, amount: 0.1 },
        ]),
        order(2, []),
        order(3, null),
        order(4, [{ no: '7', amount: -3 }]),
      ],
      declared,
    );
    expect(await violationsOf(warehouse)).toEqual([]);
    const rows = await readRows(
      warehouse,
      'SELECT id::INTEGER AS id, no::INTEGER AS no, name, amount::VARCHAR AS amount, day::VARCHAR AS day, tags::VARCHAR AS tags FROM lines_of_orders ORDER BY ALL',
    );
    const none = { name: null, day: null, tags: null };
    expect(rows).toEqual([
      { id: 1, no: 1, name: "it's", amount: '12345678901234567.89', day: '2024-02-14', tags: '["a",1]' },
      { id: 1, no: 2, ...none, amount: '0.10' },
      { id: 4, no: 7, ...none, amount: '-3.00' },
    ]);
  });

  it('says which values of which items it could not read, and marks their parent', async () => {
    const warehouse = await publish(
      [
        order(1, [
          { no: 1, amount: '1.005' },
          { no: 1, amount: '1e400' },
          5,
          { no: 3, amount: 123456789012345.67, item: { 'na/me': 7 } },
        ]),
        order(2, { no: 1 }),
        order(3, [{ no: 1, amount: 1, day: '2024-02-30', name: 'x' }]),
        order(4, [{ no: 1, amount: 1 }]),
      ],
      declared,
    );
    const found = (await violationsOf(warehouse)).map(({ id, actual }) => `${String(id)} ${String(actual)}`);
    expect(found.toSorted()).toEqual([
      '1 2 items have the key 1',
      '1 item 1 has the amount 1.005',
      '1 item 2 has the amount 1e400',
      '1 item 3 has the amount null',
      '1 item 3 has the no null',
      '1 item 4 has the amount 123456789012345.67',
      '1 item 4 has the name 7',
      '2 it is OBJECT',
      '3 item 1 has the day 2024-02-30',
      'null none of 6 items of lines_of_orders has it',
    ]);
    const consistent = await readRows(warehouse, 'SELECT id::INTEGER AS id FROM orders WHERE is_consistent');
    expect(consistent).toEqual([{ id: 4 }]);
  });

  it('without a key has the place of each item', async () => {
    const named = declare({ names: { from: 'lines', columns: { name: { kind: 'text', field: 'name' } } } });
    const warehouse = await publish([order(1, [{ name: 'a' }, { name: 'a' }])], named);
    const rows = await readRows(
      warehouse,
      'SELECT id::INTEGER AS id, place::INTEGER AS place, name FROM names ORDER BY ALL',
    );
    expect(rows).toEqual([
      { id: 1, place: 1, name: 'a' },
      { id: 1, place: 2, name: 'a' },
    ]);
  });

  it.each([
    ['of a column that is not JSON', { from: 'id', key: ['no'], columns: line }, 'is not a column of kind json'],
    ['with the key of its parent', { from: 'lines', columns: { id: columns.id } }, 'has the column "id" twice'],
    ['with a key that may be missing', { from: 'lines', key: ['day'], columns: line }, 'always has a value'],
    [
      'with a format',
      { from: 'lines', columns: { day: { kind: 'date', field: 'day', format: 'DD/MM/YYYY' } } },
      'which only columns of records have',
    ],
  ] as const)('%s is refused', async (_, child, message) => {
    await expect(loadProject(declare({ items: child }))).rejects.toThrow(message);
  });

  it('cannot have the name of another table', async () => {
    await expect(loadProject(declare({ orders: { from: 'lines', columns: line } }))).rejects.toThrow(
      'a table also has',
    );
  });
});

it('a child table says that no item has a field, which may be misspelt', async () => {
  const misspelt = { ...line, name: { kind: 'text', field: 'nam', nullable: true } } as const;
  const declared = declare({ lines_of_orders: { from: 'lines', key: ['no'], columns: misspelt } });
  const warehouse = await publish([order(1, [{ no: 1, amount: 1, day: '2024-02-14', tags: [] }])], declared);
  const found = await readRows(warehouse, 'SELECT severity, expected, actual FROM violations');
  expect(found).toEqual([
    { severity: 'warning', expected: 'the field nam', actual: 'none of 1 items of lines_of_orders has it' },
  ]);
});
