/** Every contradiction in a project is named, and the bundled project has none. */

import { describe, expect, it } from 'vitest';
import { loadProject, pipelines, voters } from '../support/bundled.ts';
import { allTables, changesTable, datasetTable, violationsLogTable, violationsTable } from '../../src/load/tables.ts';
import {
  type AnyPipeline,
  type ColumnDefinition,
  type Project,
  sumChecks,
  summedColumns,
} from '../../src/project/declaration.ts';
import { consistencyColumn, ownChecks, ownRowColumns, ownTables } from '../../src/project/reserved.ts';
import { findShapeProblems } from '../../src/project/shape-problems.ts';
import { pipelineShape, projectShape, storedProjectShape } from '../../src/project/shapes.ts';
import { storedPart } from '../../src/project/stored.ts';
import { findProblems } from '../../src/project/validate.ts';
import { nullReasonName } from '../../src/kinds/read-field.ts';
import { NullReason } from '../../src/project/reserved.ts';

const sound: AnyPipeline = voters;
const whole = storedPart(loadProject());
const check = sumChecks(sound)[0]!;
const column = { field: 'X', kind: 'text', comment: 'A column.' } as const;
const partition = sound.partition!;
const plus = (name: string, definition: object): { columns: Record<string, ColumnDefinition> } => ({
  columns: { ...sound.columns, [name]: { ...column, ...definition } },
});

function manyColumns(count: number): Record<string, ColumnDefinition> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, { ...column, field: `X${at}` }]));
}

/** Returns the first problem with the shape of a value. */
function shapeProblemOf(shape: Parameters<typeof findShapeProblems>[0], value: unknown): string | null {
  const [found] = findShapeProblems(shape, value);
  return found === undefined ? null : `${found.where.join('.')} ${found.what}`;
}

function problemsOf(project: Project): string[] {
  return [...findProblems(project)].map(({ of, what }) => `${of}: ${what}`);
}

/** Returns all problems of the voters' pipeline with a change. */
function problemsOfPipeline(change: object): string[] {
  const pipeline = { ...sound, ...change };
  const problem = shapeProblemOf(pipelineShape, pipeline);
  if (problem !== null) return [problem];
  return problemsOf({ ...whole, pipelines: [pipeline, ...whole.pipelines.slice(1)] });
}

describe('a pipeline', () => {
  it('is accepted if it has no contradictions', () => {
    expect(problemsOfPipeline({})).toEqual([]);
  });

  it.each<[RegExp, object]>([
    [/table name "Voters; DROP"/, { table: 'Voters; DROP' }],
    [/table name "Voters" is not lower-case snake_case/, { table: 'Voters' }],
    [/table name "constructor"/, { table: 'constructor' }],
    [/table name "changes" is reserved/, { table: 'changes' }],
    [/^title is empty/, { title: '' }],
    [/^comment is empty/, { comment: ' ' }],
    [/reportedCount is at "\/data\/0\/n", which is inside the records/, { reportedCount: '/data/0/n' }],
    [/reportedCount is at "\/count", which is inside the records at ""/, { records: '' }],
    [/reportedCount is at "\/count", but the format ndjson has nothing beside/, { format: 'ndjson' }],
    [/^paging.hasMore is not a JSON pointer/, { paging: { by: 'none', hasMore: 'more' } }],
    [/hasMore is at "", which is the whole response/, { paging: { by: 'none', hasMore: '' } }],
    [
      /the next page is at "\/data\/-1\/id", which is inside the records/,
      { paging: { by: 'next', cursor: '/data/-1/id', parameter: 'after' } },
    ],
    [/"x" reads "\/a\/-", which is not a JSON pointer/, plus('x', { field: '/a/-' })],
    [/"x" reads "\/a~2", which is not a JSON pointer/, plus('x', { field: '/a~2' })],
    [/^path is not a plain path such as \/api\/name/, { path: 'https://host/api' }],
    [/^path is not a plain path/, { path: '/api/x?y=1' }],
    [/^path is not a plain path/, { path: '/api/../x' }],
    [/^partition.parameter is neither the name/, { partition: { ...partition, parameter: '' } }],
    [
      /partition parameter "offset" is also a parameter of its paging/,
      { partition: { ...partition, parameter: 'offset' } },
    ],
    [/parameter "id_dapil" is also a parameter of its/, { parameters: { id_dapil: '1' } }],
    [/parameter "limit" is also a parameter of its/, { parameters: { limit: '1' } }],
    [/no columns/, { columns: {} }],
    [
      /it declares 1,001 columns, but a dataset has at most 1,000; declare only/,
      { columns: { ...sound.columns, ...manyColumns(1001 - Object.keys(sound.columns).length) } },
    ],
    [/column name "a"b" is not lower-case/, plus('a"b', {})],
    [/^columns.extra.field is empty/, plus('extra', { field: '' })],
    [/"dapil_id" and "extra" both read the field "IdDapil"/, plus('extra', { field: 'IdDapil' })],
    [/column name "is_consistent" is reserved/, plus('is_consistent', {})],
    [/^columns.extra.kind is "number", but must be "boolean" or/, plus('extra', { kind: 'number' })],
    [/^columns.extra.comment is empty/, plus('extra', { comment: '' })],
    [/nullabel is not a known property; did you mean "nullable"/, plus('extra', { nullabel: true })],
    [
      /"extra" has a scale \(3\) that is larger than its precision \(2\)/,
      plus('extra', { kind: 'decimal', precision: 2, scale: 3 }),
    ],
    [/a min that is larger/, plus('extra', { kind: 'integer', min: 2, max: 1 })],
    [/precision is missing/, plus('extra', { kind: 'decimal' })],
    [/precision/, plus('extra', { kind: 'decimal', precision: 39, scale: 2 })],
    [/key is empty/, { key: [] }],
    [/key contains the column "regency" twice/, { key: [...sound.key, 'regency'] }],
    [
      /key contains the column "message", which is reserved/,
      { ...plus('message', {}), key: [...sound.key, 'message'] },
    ],
    [/"village", which is not declared/, { key: ['dapil_id', 'village'] }],
    [/contains the column "dpt_male" of kind count/, { key: ['dapil_id', 'dpt_male'] }],
    [/contains the nullable column "ward"/, { ...plus('ward', { nullable: true }), key: [...sound.key, 'ward'] }],
    [/partition column "dapil_id" is not part of the key/, { key: ['regency'] }],
    [
      /partition column "day" is not a text or an integer/,
      { ...plus('day', { kind: 'date' }), key: [...sound.key, 'day'], partition: { ...partition, column: 'day' } },
    ],
    [
      /partitions come from "places.id", which is not a column of the project/,
      { partition: { ...partition, values: { from: 'pipeline', column: 'places.id' } } },
    ],
    [
      /partitions depend on its own partitions \(voters from voters\)/,
      { partition: { ...partition, values: { from: 'pipeline', column: 'voters.dapil_id' } } },
    ],
    [/watch names "regency", which is not a count/, { watch: ['regency'] }],
    [/two checks have the name "dpt_sexes_sum"/, { checks: [check, check] }],
    [/check's name "Sum of men" is not lower-case/, { checks: [{ ...check, name: 'Sum of men' }] }],
    [/name "missing" is reserved/, { checks: [{ ...check, name: 'missing' }] }],
    [/^checks.0.severity is "fatal", but must be "error" or "warning"/, { checks: [{ ...check, severity: 'fatal' }] }],
    [/fewer than two/, { checks: [{ ...check, parts: ['dpt_male'] }] }],
    [/"dpt_male" twice/, { checks: [{ ...check, parts: ['dpt_male', 'dpt_male'] }] }],
    [/"dpt_total" as both the total and a part/, { checks: [{ ...check, parts: ['dpt_male', check.whole] }] }],
    [/"regency", which is not a count, an integer or a decimal/, { checks: [{ ...check, whole: 'regency' }] }],
    [/neither a min nor a max/, { checks: [{ kind: 'range', name: 'bounds', severity: 'error', column: 'dpt_male' }] }],
    [
      /"regency", which is not a number, a date or a timestamp/,
      { checks: [{ kind: 'range', name: 'bounds', severity: 'error', column: 'regency', min: 1 }] },
    ],
    [
      /"dpt_male", which is not a text/,
      { checks: [{ kind: 'pattern', name: 'form', severity: 'error', column: 'dpt_male', pattern: 'x' }] },
    ],
    [
      /refers to "places.id", which is not a column of the project/,
      { checks: [{ kind: 'reference', name: 'known', severity: 'error', column: 'dapil_id', target: 'places.id' }] },
    ],
    [
      /compares a column of kind integer with one of kind text/,
      {
        checks: [{ kind: 'reference', name: 'known', severity: 'error', column: 'dapil_id', target: 'voters.regency' }],
      },
    ],
  ])('is refused: %s', (message, change) => {
    expect(problemsOfPipeline(change)).toContainEqual(expect.stringMatching(message));
  });

  it('is refused for all its problems at once, each with a name that its file contains', () => {
    const pipeline = { ...sound, key: ['regency', 'village'], watch: ['province'] };
    const found = [...findProblems({ ...whole, pipelines: [pipeline, ...whole.pipelines.slice(1)] })];
    expect(found.map(({ of, near }) => [of, near])).toEqual([
      ['voters', 'village'],
      ['voters', 'dapil_id'],
      ['voters', 'province'],
    ]);
  });
});

describe('a project', () => {
  const [first, second] = whole.pipelines as [AnyPipeline, AnyPipeline];
  const file = whole.models.find(({ name }) => name === 'turnout')!;

  it('is accepted if it has no contradictions', () => {
    expect(problemsOf(whole)).toEqual([]);
    expect(shapeProblemOf(storedProjectShape, whole)).toBeNull();
  });

  it('may have a different key in each pipeline', () => {
    expect(problemsOf({ ...whole, pipelines: [first, { ...second, key: second.key.slice(0, -1) }] })).toEqual([]);
  });

  it.each<[RegExp, Partial<Project>]>([
    [/no pipelines/, { pipelines: [] }],
    [/two pipelines create the table "voters"/, { pipelines: [first, { ...second, table: 'voters' }] }],
    [
      /another pipeline already reads the endpoint "\/api\/datapemilihdpr"/,
      { pipelines: [first, { ...second, path: first.path }] },
    ],
    [/a table also has the name "voters"/, { models: [{ ...file, name: 'voters' }] }],
    [/two views have the name "turnout"/, { models: [file, file] }],
    [/view's name "a b" is not lower-case snake_case/, { models: [{ ...file, name: 'a b' }] }],
    [/a table also has the name "violations"/, { models: [{ ...file, name: 'violations' }] }],
    [/also has the name "reconciliation"/, { models: [{ ...file, name: 'reconciliation' }] }],
    [/two checks across tables have the name/, { checks: [file, file] }],
    [/check's name "A" is not lower-case/, { checks: [{ ...file, name: 'A' }] }],
    [/name "null" is reserved/, { checks: [{ ...file, name: 'null' }] }],
    [/a row check also has the name "dpt_sexes_sum"/, { checks: [{ ...file, name: check.name }] }],
  ])('is refused: %s', (message, change) => {
    expect(problemsOf({ ...whole, ...change })).toContainEqual(expect.stringMatching(message));
  });

  it.each<[RegExp, object]>([
    [/^name is missing/, { name: undefined }],
    [/^name is not made of lower-case letters/, { name: 'DPR' }],
    [/^title is empty/, { title: ' ' }],
    [/^paging(.by)? is "magic"/, { paging: { by: 'magic' } }],
    [/^records is not a JSON pointer/, { records: 'data' }],
    [/^auth is not one of/, { auth: { header: 'x-api-key', value: 's' } }],
    [/^pipeline is not a known property; did you mean "pipelines"/, { pipeline: [] }],
    [/^hasMore is not a known property here; it belongs into paging/, { hasMore: '/more' }],
  ])('is refused: %s', (message, change) => {
    const declared = { name: 'some', title: 'Some', paging: { by: 'none' } };
    expect(shapeProblemOf(projectShape, declared)).toBeNull();
    expect(shapeProblemOf(projectShape, { ...declared, ...change })).toMatch(message);
  });
});

it('reserves the names of all tables, columns and checks of rekap', () => {
  const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);
  const rowColumns = [violationsTable([]), violationsLogTable([]), changesTable([])].flatMap(({ columns }) =>
    names(columns),
  );
  expect(ownTables).toEqual(new Set(names(allTables([]))));
  expect(ownRowColumns).toEqual(new Set(rowColumns));
  expect(names(datasetTable(sound).columns)).toEqual([...Object.keys(sound.columns), consistencyColumn]);
  expect(ownChecks).toEqual(new Set([...Object.values(NullReason).map(nullReasonName), 'conflicting_records']));
});

it('the bundled pipelines check each of their twelve counts, and list 84 partitions and 514 regencies', () => {
  for (const pipeline of pipelines) {
    const checked = new Set(sumChecks(pipeline).flatMap(({ parts, whole: sum }) => [...parts, sum]));
    expect(summedColumns(pipeline)).toHaveLength(12);
    expect(checked).toEqual(new Set(summedColumns(pipeline)));
    const { values } = pipeline.partition!;
    expect(new Set(values?.from === 'list' ? values.values : []).size).toBe(84);
    expect(pipeline.expectedRecords).toBe(514);
  }
});
