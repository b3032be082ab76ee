/** The worst examples of each broken check are named by the declared key of the pipeline. */

import { describe, expect, it } from 'vitest';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { load, project, voter } from './support.ts';

/** A pipeline whose key is `ward` and these columns. */
function people(places: readonly string[]): AnyPipeline {
  const column = (field: string, kind: 'count' | 'integer' | 'text') => ({ field, kind, comment: `${field}.` });
  return {
    table: 'people',
    title: 'People',
    comment: 'People by ward.',
    path: '/people',
    paging: { by: 'offset', limit: 'limit', offset: 'offset' },
    format: 'json',
    records: '/data',
    columns: {
      ward: column('IdDapil', 'integer'),
      ...Object.fromEntries(places.map((name) => [name, column(name, 'text')])),
      men: column('Men', 'count'),
      women: column('Women', 'count'),
      all_people: column('All', 'count'),
    },
    key: ['ward', ...places],
    partition: { parameter: 'id', column: 'ward' },
    watch: ['all_people'],
    checks: [{ kind: 'sum', name: 'sexes_sum', severity: 'error', parts: ['men', 'women'], whole: 'all_people' }],
  };
}

async function examplesOf(pipeline: AnyPipeline, records: readonly object[]) {
  const { brokenChecks } = await load(
    { people: [records] },
    { project: { ...project, pipelines: [pipeline], models: [], checks: [] } },
  );
  return brokenChecks.flatMap(({ examples }) => examples);
}

describe('the examples of a broken check', () => {
  it('name the place by the key columns after the partition, the narrowest first', async () => {
    const record = { IdDapil: '7', town: 'T', street: 'S', Men: '1', Women: '1', All: '3' };
    expect(await examplesOf(people(['town', 'street']), [record])).toEqual([
      { partition: '7', place: 'S, T', message: 'all_people (All) is 3, but men + women = 2', new: false },
    ]);
  });

  it('have no place if the key is the partition alone', async () => {
    const found = await examplesOf(people([]), [{ IdDapil: '7', Men: '1', Women: '1', All: '3' }]);
    expect(found).toMatchObject([{ partition: '7', place: '' }]);
  });

  it('are the three with the largest differences, the largest first', async () => {
    const wrong = [5, 900, 20, 300].map((all) =>
      voter({ regency: `R${all}`, dpt_male: '0', dpt_female: '0', dpt_total: String(all) }),
    );
    const { brokenChecks } = await load({ voters: [wrong] });
    const found = brokenChecks.find(({ check }) => check === 'dpt_sexes_sum');
    expect(found).toMatchObject({ dataset: 'voters', severity: 'error', count: 4 });
    expect(found?.examples.map(({ place }) => place.split(',')[0])).toEqual(['R900', 'R300', 'R20']);
  });

  it('are of different places first', async () => {
    const checks = [
      { kind: 'sum', name: 'sexes_sum', severity: 'error', parts: ['men', 'women'], whole: 'all_people' },
      { kind: 'sum', name: 'sexes_sum', severity: 'error', parts: ['women'], whole: 'men' },
    ] as const;
    const records = [
      { IdDapil: '7', town: 'A', Men: '50', Women: '0', All: '900' },
      { IdDapil: '7', town: 'B', Men: '1', Women: '1', All: '3' },
    ];
    const found = await examplesOf({ ...people(['town']), checks }, records);
    expect(found.map(({ place, message }) => [place, message.split(' ')[0]])).toEqual([
      ['A', 'all_people'],
      ['B', 'all_people'],
      ['A', 'men'],
    ]);
  });
});

describe('a check across tables is refused before anything is published if a row shows', () => {
  it.each([
    ['another severity', "CASE WHEN all_people > 1 THEN 'Error' END", "'people'", 'the severity Error'],
    ['no severity', "CASE WHEN all_people > 9 THEN 'error' END", "'people'", 'the severity NULL'],
    ['another dataset', "'error'", "lower('PERSONS')", 'the dataset persons'],
  ])('%s', async (_what, severity, dataset, found) => {
    const sql = `SELECT ${dataset} AS dataset, ward, ${severity} AS severity, 'men' AS column_name, 'odd' AS message FROM people`;
    const checks = [{ name: 'odd', sql, comment: '', columns: {} }];
    const loading = load(
      { people: [[{ IdDapil: '7', Men: '1', Women: '1', All: '2' }]] },
      { project: { ...project, pipelines: [people([])], models: [], checks } },
    );
    await expect(loading).rejects.toMatchObject({
      code: 'pipeline-definition',
      message: expect.stringMatching(`The check odd returns a row with .*${found}`),
    });
  });
});
