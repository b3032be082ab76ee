/** A declaration of windows or closed partitions that could hide records is refused, and the refusal names it. */

import { expect, it } from 'vitest';
import type { DeclaredPipeline } from '../../src/project/declaration.ts';
import { loadProject } from '../../src/project/load-project.ts';
import { feedPipeline } from '../support/feed.ts';

const { columns, incremental, paging } = feedPipeline;
const byId = { paging: { by: 'after', field: 'id', parameter: 'after', size: 'limit' } } as const;
const partition = {
  parameter: 'month',
  column: 'month',
  values: { from: 'list', values: ['2026-01', '2026-02'] },
  closed: { after: 'P30D', column: 'month' },
} as const;
const { values: _, ...unnamed } = partition;
const byMonth = {
  table: 'rows',
  path: '/rows',
  paging,
  partition,
  columns: { month: { kind: 'text', field: 'month' }, id: { kind: 'integer', field: 'id' } },
  key: ['month', 'id'],
} as const;
const child = {
  table: 'notes',
  path: '/rows/{row_id}/notes',
  paging,
  partition: { parameter: 'row_id', column: 'row_id', values: { from: 'pipeline', column: 'rows.id' } },
  columns: { row_id: { kind: 'integer', field: 'row_id' }, id: { kind: 'integer', field: 'id' } },
  key: ['row_id', 'id'],
} as const;

it('a sound declaration is accepted', async () => {
  await expect(loadProject({ name: 'feed', pipelines: [feedPipeline] })).resolves.toBeDefined();
  await expect(loadProject({ name: 'feed', pipelines: [byMonth] })).resolves.toBeDefined();
});

it.each<[RegExp, object, object[]?]>([
  [/cursor "value" is not a column of kind/, { incremental: { ...incremental, cursor: 'value' } }],
  [
    /cursor "updated_at" may be missing/,
    { columns: { ...columns, updated_at: { ...columns.updated_at, nullable: true } } },
  ],
  [/cursor "value" is not/, { ...byId, incremental: { cursor: 'value', wholeEvery: 'P7D' } }],
  [/need "parameter" and "lookback"/, { incremental: { cursor: 'updated_at', wholeEvery: 'P7D' } }],
  [/has no "lookback"/, { ...byId, incremental: { cursor: 'id', lookback: 'PT1H', wholeEvery: 'P7D' } }],
  [/"offset" of its windows is also a parameter/, { incremental: { ...incremental, parameter: 'offset' } }],
  [/leaves no sync for a window/, { incremental: { ...incremental, wholeEvery: 'PT1H' } }],
  [/names the partitions of notes/, {}, [child]],
  [/names the partitions of notes/, byMonth, [child]],
  [/both "incremental" and "partition"/, { ...byMonth, incremental: { cursor: 'id', wholeEvery: 'P7D' } }],
  [
    /which is not a column of the partition/,
    { ...byMonth, partition: { ...partition, closed: { after: 'P30D', column: 'id' } } },
  ],
  [/closed partitions need "values"/, { ...byMonth, partition: unnamed }],
  [/but "north" isn't/, { ...byMonth, partition: { ...partition, values: { from: 'list', values: ['north'] } } }],
])('%s', async (problem, change, others = []) => {
  const base = 'partition' in change ? {} : feedPipeline;
  const pipelines = [{ ...base, ...change }, ...others] as readonly DeclaredPipeline[];
  await expect(loadProject({ name: 'feed', pipelines })).rejects.toThrow(problem);
});
