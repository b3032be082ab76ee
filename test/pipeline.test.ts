/** A pipeline's declaration is checked when it is loaded: every contradiction is named, and the two that there are hold. */

import { describe, expect, it } from 'vitest';
import { loadProject, pipelines } from '../pipelines/index.ts';
import { voters } from '../pipelines/voters.ts';
import { PipelineDefinitionError } from '../src/errors.ts';
import { countColumns, definePipeline, type AnyPipeline } from '../src/pipeline.ts';

const sound = voters as AnyPipeline;

describe('definePipeline', () => {
  it('gives back what is sound', () => {
    expect(definePipeline(sound)).toBe(sound);
  });

  it.each<[string, Partial<AnyPipeline>, RegExp]>([
    ['a table that is no name', { table: 'Voters; DROP' }, /table name "Voters; DROP"/],
    ['an endpoint that is no path', { endpoint: 'https://host/api' }, /endpoint/],
    ['an endpoint with a query', { endpoint: '/api/x?y=1' }, /endpoint/],
    ['no columns', { columns: {} }, /no columns/],
    [
      'a column that is no name',
      { columns: { ...sound.columns, 'a"b': { field: 'X', kind: 'text', comment: '' } } },
      /column name/,
    ],
    [
      'a column without a field',
      { columns: { ...sound.columns, extra: { field: '', kind: 'text', comment: '' } } },
      /"extra" names no field/,
    ],
    [
      'a field read twice',
      { columns: { ...sound.columns, extra: { field: 'IdDapil', kind: 'text', comment: '' } } },
      /"dapil_id" and "extra" both read the field "IdDapil"/,
    ],
    ['an empty key', { key: [] }, /key is empty/],
    ['a key that is not declared', { key: ['dapil_id', 'village'] }, /"village"/],
    ['a count in the key', { key: ['dapil_id', 'dpt_male'] }, /names the count "dpt_male"/],
    ['a district outside the key', { key: ['regency'] }, /district column "dapil_id" is not part of the key/],
    ['a district that is no number', { district: 'regency' }, /"regency" is not an integer/],
    ['a total that is no count', { total: 'regency' }, /total "regency"/],
    ['two checks of one name', { checks: [sound.checks[0]!, sound.checks[0]!] }, /two checks/],
    ['a sum of one part', { checks: [{ ...sound.checks[0]!, parts: ['dpt_male'] }] }, /fewer than two/],
    [
      'a check of a column that is no count',
      { checks: [{ ...sound.checks[0]!, whole: 'regency' }] },
      /"regency", which is not one of its counts/,
    ],
  ])('refuses %s', (_name, change, message) => {
    const define = () => definePipeline({ ...sound, ...change });
    expect(define).toThrow(PipelineDefinitionError);
    expect(define).toThrow(message);
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

  it('come with the 84 districts of 2024', () => {
    expect(new Set(loadProject().referenceDistricts).size).toBe(84);
  });
});

it('says which of its columns are counts, in their order', () => {
  expect(countColumns(voters)).toContain('dpt_male');
  expect(countColumns(voters)).toHaveLength(12);
  for (const name of ['dapil_id', 'regency', 'election_year']) expect(countColumns(voters)).not.toContain(name);
});
