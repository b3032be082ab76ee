/** A pipeline's declaration is checked when it is loaded: every contradiction is named, and the two that there are hold. */

import { describe, expect, it } from 'vitest';
import { loadProject, pipelines } from '../pipelines/index.ts';
import { voters } from '../pipelines/voters.ts';
import {
  consistencyColumn,
  definePipeline,
  defineProject,
  ownChecks,
  ownRowColumns,
  ownTables,
} from '../src/define-pipeline.ts';
import { allTables, changesTable, datasetTable, violationsLogTable, violationsTable } from '../src/load/tables.ts';
import { type AnyPipeline, countColumns, type Project } from '../src/pipeline.ts';
import { NoCount } from '../src/records/fields.ts';
import { noValueCheck } from '../src/transform/record-key.ts';

const sound = voters as AnyPipeline;
const check = sound.checks[0]!;
const column = { field: 'X', kind: 'text', comment: 'A column.' } as const;
const plus = (name: string, definition: object) => ({
  columns: { ...sound.columns, [name]: { ...column, ...definition } },
});

describe('definePipeline', () => {
  it('gives back what is sound', () => {
    expect(definePipeline(sound)).toBe(sound);
  });

  it.each<[string, Partial<AnyPipeline>, RegExp]>([
    ['a table that is no name', { table: 'Voters; DROP' }, /table name "Voters; DROP"/],
    ['a table of a name in capitals', { table: 'Voters' }, /table name "Voters" is not lower-case snake_case/],
    ['a table that would be missing from every manifest', { table: 'constructor' }, /table name "constructor"/],
    ['a column that would be missing there', plus('prototype', {}), /column name "prototype"/],
    ["a table of one of rekap's own names", { table: 'changes' }, /table name "changes" is reserved/],
    ['an empty title', { title: '' }, /title is empty/],
    ['an empty comment', { comment: ' ' }, /its comment is empty/],
    ['an endpoint that is no path', { endpoint: 'https://host/api' }, /endpoint/],
    ['an endpoint with a query', { endpoint: '/api/x?y=1' }, /endpoint/],
    ['an endpoint that is the base URL', { endpoint: '/' }, /endpoint "\/" is not a plain path/],
    ['an endpoint of another host', { endpoint: '//host/api' }, /endpoint "\/\/host\/api"/],
    ['an endpoint without a slash', { endpoint: 'api' }, /endpoint "api"/],
    ['a filter without a name', { districtParameter: '' }, /districtParameter "" is not a valid name/],
    ['a filter that is more than a name', { districtParameter: 'a&b' }, /districtParameter "a&b" is not a valid name/],
    ['a filter that pages', { districtParameter: 'offset' }, /districtParameter "offset" is reserved/],
    ['no columns', { columns: {} }, /no columns/],
    ['a column that is no name', plus('a"b', {}), /column name/],
    ['a column without a field', plus('extra', { field: '' }), /field of the column "extra" is empty/],
    ['a field read twice', plus('extra', { field: 'IdDapil' }), /"dapil_id" and "extra" both read the field "IdDapil"/],
    ['a column that every table has', plus('is_consistent', {}), /column name "is_consistent" is reserved/],
    [
      'a kind that there is not',
      plus('extra', { kind: 'number' }),
      /"extra" has the kind "number", which is not one of/,
    ],
    ['a column without a comment', plus('extra', { comment: '' }), /comment of the column "extra" is empty/],
    ['an empty key', { key: [] }, /key is empty/],
    ['a key that says a column twice', { key: [...sound.key, 'regency'] }, /key contains the column "regency" twice/],
    [
      "a key of a name that is violations' own",
      { ...plus('message', {}), key: [...sound.key, 'message'] },
      /key contains the column "message", which is reserved/,
    ],
    ['a key that is not declared', { key: ['dapil_id', 'village'] }, /"village"/],
    ['a count in the key', { key: ['dapil_id', 'dpt_male'] }, /contains the count column "dpt_male"/],
    ['a district outside the key', { key: ['regency'] }, /district column "dapil_id" is not part of the key/],
    ['a district that is no number', { district: 'regency' }, /"regency" is not an integer/],
    ['a total that is no count', { total: 'regency' }, /total "regency"/],
    ['two checks of one name', { checks: [check, check] }, /two checks/],
    [
      'a check of no name',
      { checks: [{ ...check, name: 'Sum of men' }] },
      /check's name "Sum of men" is not lower-case/,
    ],
    ["a check of one of rekap's own names", { checks: [{ ...check, name: 'missing' }] }, /name "missing" is reserved/],
    [
      'a severity that there is not',
      { checks: [{ ...check, severity: 'fatal' as 'error' }] },
      /severity "fatal", which is not one of "error", "warning"/,
    ],
    ['a sum of one part', { checks: [{ ...check, parts: ['dpt_male'] }] }, /fewer than two/],
    ['a sum of the same part twice', { checks: [{ ...check, parts: ['dpt_male', 'dpt_male'] }] }, /"dpt_male" twice/],
    [
      'a sum that is its own part',
      { checks: [{ ...check, parts: ['dpt_male', check.whole] }] },
      /"dpt_total" as whole and as part/,
    ],
    [
      'a check of a column that is no count',
      { checks: [{ ...check, whole: 'regency' }] },
      /"regency", which is not a count column/,
    ],
  ])('refuses %s', (_name, change, message) => {
    const define = () => definePipeline({ ...sound, ...change });
    expect(define).toThrow(expect.objectContaining({ code: 'pipeline-definition' }));
    expect(define).toThrow(message);
  });
});

describe('defineProject', () => {
  const whole = loadProject();
  const [first, second] = whole.pipelines as [AnyPipeline, AnyPipeline];
  const file = whole.models.find(({ name }) => name === 'turnout')!;

  it('gives back what is sound', () => {
    expect(defineProject(whole)).toBe(whole);
  });

  it.each<[string, Partial<Project>, RegExp]>([
    ['nothing that moves', { pipelines: [] }, /no pipelines/],
    [
      'one table made twice',
      { pipelines: [first, { ...second, table: 'voters' }] },
      /two pipelines create .* "voters"/,
    ],
    [
      'one endpoint read twice',
      { pipelines: [first, { ...second, endpoint: first.endpoint }] },
      /two pipelines read the endpoint "\/api\/datapemilihdpr"/,
    ],
    [
      'keys of other columns',
      { pipelines: [first, { ...second, key: second.key.slice(0, -1) }] },
      /key of "voting_rights_users" \(.*province text\) differs from the key of "voters" \(.*, regency text\)/,
    ],
    [
      'keys of another kind',
      { pipelines: [first, { ...second, columns: { ...second.columns, regency: { ...column, kind: 'integer' } } }] },
      /\(.*, regency integer\) differs from the key of/,
    ],
    [
      'a view of the name of a table',
      { models: [{ ...file, name: 'voters' }] },
      /tables and views have the name "voters"/,
    ],
    ['two views of one name', { models: [file, file] }, /tables and views have the name "turnout"/],
    [
      'a view that is no name',
      { models: [{ ...file, name: 'a b' }] },
      /view's name "a b" is not lower-case snake_case/,
    ],
    ["a view of one of rekap's own names", { models: [{ ...file, name: 'violations' }] }, /view "violations" has/],
    ['two checks across tables of one name', { checks: [file, file] }, /two checks across tables .* "turnout"/],
    [
      'a check across tables that is no name',
      { checks: [{ ...file, name: 'A' }] },
      /check's name "A" is not lower-case/,
    ],
    ["a check across tables of rekap's own", { checks: [{ ...file, name: 'null' }] }, /name "null" is reserved/],
    [
      'a check across tables of the name of a row check',
      { checks: [{ ...file, name: check.name }] },
      /a row check and a check across tables both have the name "dpt_sexes_sum"/,
    ],
  ])('refuses %s', (_name, change, message) => {
    const define = () => defineProject({ ...whole, ...change });
    expect(define).toThrow(expect.objectContaining({ code: 'pipeline-definition' }));
    expect(define).toThrow(message);
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
    const given = [...Object.values(NoCount).map(noValueCheck), 'conflicting_records'];
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
    for (const { columns, checks } of pipelines) {
      const checked = new Set(checks.flatMap(({ parts, whole }) => [...parts, whole]));
      const counts = Object.entries(columns).filter(([, { kind }]) => kind === 'count');
      expect([...checked].toSorted()).toEqual(counts.map(([name]) => name).toSorted());
    }
  });

  it('come with the 84 districts of 2024 and the number of their 514 regencies', () => {
    const { referenceDistricts, referenceRecords } = loadProject();
    expect(new Set(referenceDistricts).size).toBe(84);
    expect(referenceRecords).toBe(514);
  });
});

it('says which of its columns are counts, in their order', () => {
  expect(countColumns(voters)).toContain('dpt_male');
  expect(countColumns(voters)).toHaveLength(12);
  for (const name of ['dapil_id', 'regency', 'election_year']) expect(countColumns(voters)).not.toContain(name);
});
