/** A project is checked when it is loaded: every contradiction is named, and the bundled project has none. */

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
import { findShapeProblems, pipelineShape, projectShape, storedProjectShape } from '../../src/project/shapes.ts';
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

/** What is wrong with the shape of a value; what contradicts itself shows only where nothing is. */
function refusalOf(shape: Parameters<typeof findShapeProblems>[0], value: unknown): string | null {
  const [problem] = findShapeProblems(shape, value);
  return problem === undefined ? null : `${problem.where.join('.')} ${problem.what}`;
}

function complaintsOf(project: Project): string[] {
  return [...findProblems(project)].map(({ of, what }) => `${of}: ${what}`);
}

/** Everything that is wrong with the voters' pipeline where it is changed. */
function complaintsOfPipeline(change: object): string[] {
  const pipeline = { ...sound, ...change };
  const refusal = refusalOf(pipelineShape, pipeline);
  if (refusal !== null) return [refusal];
  return complaintsOf({ ...whole, pipelines: [pipeline, ...whole.pipelines.slice(1)] });
}

describe('a pipeline', () => {
  it('that is sound is taken', () => {
    expect(complaintsOfPipeline({})).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    ['a table that is no name', { table: 'Voters; DROP' }, /table name "Voters; DROP"/],
    ['a table of a name in capitals', { table: 'Voters' }, /table name "Voters" is not lower-case snake_case/],
    ['a table that would be missing from every manifest', { table: 'constructor' }, /table name "constructor"/],
    ['a column that would be missing there', plus('prototype', {}), /column name "prototype"/],
    ["a table of one of rekap's own names", { table: 'changes' }, /table name "changes" is reserved/],
    ["a table of the name of rekap's own view", { table: 'reconciliation' }, /table name "reconciliation" is reserved/],
    ['an empty title', { title: '' }, /^title is empty/],
    ['an empty comment', { comment: ' ' }, /^comment is empty/],
    ['a path with a host', { path: 'https://host/api' }, /^path is not a plain path such as \/api\/name/],
    ['a path with a query', { path: '/api/x?y=1' }, /^path is not a plain path/],
    ['a path that is the base URL', { path: '/' }, /^path is not a plain path/],
    ['a path of another host', { path: '//host/api' }, /^path is not a plain path/],
    ['a path without a slash', { path: 'api' }, /^path is not a plain path/],
    ['a path that leads upward', { path: '/api/../x' }, /^path is not a plain path/],
    ['a filter without a name', { partition: { ...partition, parameter: '' } }, /^partition.parameter is not the name/],
    [
      'a filter that is more than a name',
      { partition: { ...partition, parameter: 'a&b' } },
      /^partition.parameter is not the name of a query parameter/,
    ],
    [
      'a filter that pages',
      { partition: { ...partition, parameter: 'offset' } },
      /partition parameter "offset" is also a parameter of its paging/,
    ],
    [
      'a fixed parameter that filters',
      { parameters: { id_dapil: '1' } },
      /parameter "id_dapil" is also a parameter of its/,
    ],
    ['a fixed parameter that pages', { parameters: { limit: '1' } }, /parameter "limit" is also a parameter of its/],
    ['no columns', { columns: {} }, /no columns/],
    ['a column that is no name', plus('a"b', {}), /column name "a"b" is not lower-case/],
    ['a column without a field', plus('extra', { field: '' }), /^columns.extra.field is empty/],
    ['a field read twice', plus('extra', { field: 'IdDapil' }), /"dapil_id" and "extra" both read the field "IdDapil"/],
    ['a column that every table has', plus('is_consistent', {}), /column name "is_consistent" is reserved/],
    ['a kind that there is not', plus('extra', { kind: 'number' }), /^columns.extra.kind is "number", not \(+"text"/],
    ['a column without a comment', plus('extra', { comment: '' }), /^columns.extra.comment is empty/],
    ['a property that there is not', plus('extra', { nullabel: true }), /has the unknown property "nullabel"/],
    [
      'more digits after the point than in all',
      plus('extra', { kind: 'decimal', precision: 2, scale: 3 }),
      /"extra" has a scale \(3\) that is larger than its precision \(2\)/,
    ],
    ['bounds the wrong way round', plus('extra', { kind: 'integer', min: 2, max: 1 }), /a min that is larger/],
    ['an empty key', { key: [] }, /key is empty/],
    ['a key that says a column twice', { key: [...sound.key, 'regency'] }, /key contains the column "regency" twice/],
    [
      "a key of a name that is violations' own",
      { ...plus('message', {}), key: [...sound.key, 'message'] },
      /key contains the column "message", which is reserved/,
    ],
    ['a key that is not declared', { key: ['dapil_id', 'village'] }, /"village", which is not declared/],
    ['a count in the key', { key: ['dapil_id', 'dpt_male'] }, /contains the column "dpt_male" of kind count/],
    [
      'a column in the key that may be empty',
      { ...plus('ward', { nullable: true }), key: [...sound.key, 'ward'] },
      /contains the nullable column "ward"/,
    ],
    ['a partition outside the key', { key: ['regency'] }, /partition column "dapil_id" is not part of the key/],
    [
      'a partition that is neither a text nor a number',
      { ...plus('day', { kind: 'date' }), key: [...sound.key, 'day'], partition: { ...partition, column: 'day' } },
      /partition column "day" is not a text or an integer/,
    ],
    [
      'partitions from nowhere',
      { partition: { ...partition, values: { from: 'pipeline', column: 'places.id' } } },
      /partitions come from "places.id", which is not a column of the project/,
    ],
    [
      'partitions from itself',
      { partition: { ...partition, values: { from: 'pipeline', column: 'voters.dapil_id' } } },
      /partitions depend on its own partitions \(voters from voters\)/,
    ],
    ['a watched column that is no number', { watch: ['regency'] }, /watch names "regency", which is not a count/],
    ['a watched column that is not declared', { watch: ['village'] }, /watch names "village"/],
    ['two checks of one name', { checks: [check, check] }, /two checks have the name "dpt_sexes_sum"/],
    [
      'a check of no name',
      { checks: [{ ...check, name: 'Sum of men' }] },
      /check's name "Sum of men" is not lower-case/,
    ],
    ["a check of one of rekap's own names", { checks: [{ ...check, name: 'missing' }] }, /name "missing" is reserved/],
    [
      'a severity that there is not',
      { checks: [{ ...check, severity: 'fatal' }] },
      /^checks.0.severity is "fatal", not \("error" \| "warning"\)/,
    ],
    ['a sum of one part', { checks: [{ ...check, parts: ['dpt_male'] }] }, /fewer than two/],
    ['a sum of the same part twice', { checks: [{ ...check, parts: ['dpt_male', 'dpt_male'] }] }, /"dpt_male" twice/],
    [
      'a sum that is its own part',
      { checks: [{ ...check, parts: ['dpt_male', check.whole] }] },
      /"dpt_total" as both the total and a part/,
    ],
    [
      'a sum of a column that is no number',
      { checks: [{ ...check, whole: 'regency' }] },
      /"regency", which is not a count, an integer or a decimal/,
    ],
    [
      'a range without bounds',
      { checks: [{ kind: 'range', name: 'bounds', severity: 'error', column: 'dpt_male' }] },
      /neither a min nor a max/,
    ],
    [
      'a range of a text',
      { checks: [{ kind: 'range', name: 'bounds', severity: 'error', column: 'regency', min: 1 }] },
      /"regency", which is not a number, a date or a timestamp/,
    ],
    [
      'a pattern of a number',
      { checks: [{ kind: 'pattern', name: 'form', severity: 'error', column: 'dpt_male', pattern: 'x' }] },
      /"dpt_male", which is not a text/,
    ],
    [
      'a reference to nothing',
      { checks: [{ kind: 'reference', name: 'known', severity: 'error', column: 'dapil_id', target: 'places.id' }] },
      /refers to "places.id", which is not a column of the project/,
    ],
    [
      'a reference to another kind',
      {
        checks: [{ kind: 'reference', name: 'known', severity: 'error', column: 'dapil_id', target: 'voters.regency' }],
      },
      /compares a column of kind integer with one of kind text/,
    ],
  ])('is refused with %s', (_name, change, message) => {
    expect(complaintsOfPipeline(change)).toContainEqual(expect.stringMatching(message));
  });

  it('is complained of in every point at once, each near a name that stands in its file', () => {
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

  it('that is sound is taken', () => {
    expect(complaintsOf(whole)).toEqual([]);
    expect(refusalOf(storedProjectShape, whole)).toBeNull();
  });

  it('may have keys of other columns in each pipeline', () => {
    expect(complaintsOf({ ...whole, pipelines: [first, { ...second, key: second.key.slice(0, -1) }] })).toEqual([]);
  });

  it.each<[string, Partial<Project>, RegExp]>([
    ['nothing that moves', { pipelines: [] }, /no pipelines/],
    [
      'one table made twice',
      { pipelines: [first, { ...second, table: 'voters' }] },
      /two pipelines create the table "voters"/,
    ],
    [
      'one endpoint read twice',
      { pipelines: [first, { ...second, path: first.path }] },
      /another pipeline already reads the endpoint "\/api\/datapemilihdpr"/,
    ],
    [
      'keys of another kind',
      { pipelines: [first, { ...second, columns: { ...second.columns, regency: { ...column, kind: 'integer' } } }] },
      /key column "regency" is of kind integer, but that of "voters" is of kind text/,
    ],
    ['a view of the name of a table', { models: [{ ...file, name: 'voters' }] }, /a table also has the name "voters"/],
    ['two views of one name', { models: [file, file] }, /two views have the name "turnout"/],
    [
      'a view that is no name',
      { models: [{ ...file, name: 'a b' }] },
      /view's name "a b" is not lower-case snake_case/,
    ],
    [
      "a view of one of rekap's own names",
      { models: [{ ...file, name: 'violations' }] },
      /a table also has the name "violations"/,
    ],
    [
      "a view of the name of rekap's own view",
      { models: [{ ...file, name: 'reconciliation' }] },
      /also has the name "reconciliation"/,
    ],
    ['two checks across tables of one name', { checks: [file, file] }, /two checks across tables have the name/],
    [
      'a check across tables that is no name',
      { checks: [{ ...file, name: 'A' }] },
      /check's name "A" is not lower-case/,
    ],
    ["a check across tables of rekap's own", { checks: [{ ...file, name: 'null' }] }, /name "null" is reserved/],
    [
      'a check across tables of the name of a row check',
      { checks: [{ ...file, name: check.name }] },
      /a row check also has the name "dpt_sexes_sum"/,
    ],
  ])('is refused with %s', (_name, change, message) => {
    expect(complaintsOf({ ...whole, ...change })).toContainEqual(expect.stringMatching(message));
  });

  it.each<[string, object, RegExp]>([
    ['no name', { name: undefined }, /^name is missing/],
    ['a name in capitals', { name: 'DPR' }, /^name is not made of lower-case letters/],
    ['a blank title', { title: ' ' }, /^title is empty/],
    ['no paging', { paging: undefined }, /^paging is missing/],
    ['a paging that there is not', { paging: { by: 'magic' } }, /^paging(.by)? is "magic"/],
    ['a pointer that is none', { records: 'data' }, /^records is not a JSON pointer/],
    ['a secret in the project', { auth: { header: 'x-api-key', value: 's' } }, /^auth is not one of/],
    ['a property that there is not', { pipelines: [] }, /unknown property "pipelines"/],
  ])('has no shape with %s', (_name, change, message) => {
    const declared = { name: 'some', title: 'Some', paging: { by: 'none' } };
    expect(refusalOf(projectShape, declared)).toBeNull();
    expect(refusalOf(projectShape, { ...declared, ...change })).toMatch(message);
  });
});

describe('the names that no declaration may take', () => {
  const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => name);

  it('are those of every table beside the pipelines', () => {
    expect(ownTables).toEqual(new Set(names(allTables([]))));
  });

  it('are those of every column beside what the pipelines declare', () => {
    const ofRows = [violationsTable([]), violationsLogTable([]), changesTable([])].flatMap(({ columns }) =>
      names(columns),
    );
    expect(ownRowColumns).toEqual(new Set(ofRows));
    expect(names(datasetTable(sound).columns)).toEqual([...Object.keys(sound.columns), consistencyColumn]);
  });

  it('are those of every check that a value or a record breaks by itself', () => {
    const given = [...Object.values(NullReason).map(nullReasonName), 'conflicting_records'];
    expect(ownChecks).toEqual(new Set(given));
  });
});

describe('the pipelines', () => {
  it('read eighteen fields each, of which twelve are counts', () => {
    for (const { columns } of pipelines) {
      expect(Object.keys(columns)).toHaveLength(18);
      expect(Object.values(columns).filter(({ kind }) => kind === 'count')).toHaveLength(12);
    }
  });

  it('make tables of the same columns', () => {
    const [first, ...others] = pipelines.map(({ columns, key }) => ({ names: Object.keys(columns), key }));
    for (const other of others) expect(other).toEqual(first);
  });

  it('check every count of theirs', () => {
    for (const pipeline of pipelines) {
      const checked = new Set(sumChecks(pipeline).flatMap(({ parts, whole: sum }) => [...parts, sum]));
      const counts = Object.entries(pipeline.columns).filter(([, { kind }]) => kind === 'count');
      expect([...checked].toSorted()).toEqual(counts.map(([name]) => name).toSorted());
    }
  });

  it('come with the 84 partitions of 2024 and the number of their 514 regencies', () => {
    for (const { partition: declared, expectedRecords } of pipelines) {
      const { values } = declared!;
      expect(new Set(values?.from === 'list' ? values.values : []).size).toBe(84);
      expect(expectedRecords).toBe(514);
    }
  });
});

it('says which of its columns are counts, in their order', () => {
  expect(summedColumns(voters)).toContain('dpt_male');
  expect(summedColumns(voters)).toHaveLength(12);
  for (const name of ['dapil_id', 'regency', 'election_year']) expect(summedColumns(voters)).not.toContain(name);
});
