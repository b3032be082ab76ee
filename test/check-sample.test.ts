/** `rekap check` compares the fields of a declaration with the sample. */

import { expect, it } from 'vitest';
import { checkSample } from '../src/diagnose/check-sample.ts';
import { loadProject } from '../src/project/load-project.ts';
import { peopleJson, projectJson, writeProject } from './support/written-project.ts';

const check = async (column: object, records: unknown) => {
  const people = { ...peopleJson, columns: { ...peopleJson.columns, fee: { kind: 'text', ...column } } };
  const files = { 'rekap.project.json': projectJson, 'pipelines/people.json': people, 'sample/people.json': records };
  return checkSample(await loadProject(await writeProject(files)));
};
const records = [
  { Place: 'A', Total: '1', fee: '2', owner: { ids: ['x'] } },
  { Place: 'B', Total: '2' },
];

it.each(['fee', '/owner/ids/0'])('accepts the field %s, which a record of the sample has', async (field) => {
  expect(await check({ field }, records)).toEqual([]);
});

it.each([
  ['fees', 'did you mean "fee"'],
  ['/owner/ids/1', 'the column "fee"'],
])('refuses the field %s, which no record has, with file and line', async (field, words) => {
  await expect(check({ field }, records)).rejects.toMatchObject({
    code: 'pipeline-definition',
    reasons: [
      expect.stringMatching(new RegExp(String.raw`^pipelines/people\.json:\d+: .*none of 2 records.*${words}`)),
    ],
  });
});

it('warns of the field of a nullable column that no record has', async () => {
  expect(await check({ field: 'fees', nullable: true }, records)).toEqual([expect.stringContaining('"fees"')]);
});

it('checks nothing without records, and refuses a sample that is not JSON', async () => {
  expect(await check({ field: 'fees' }, [])).toEqual([]);
  await expect(check({ field: 'fee' }, '[{"Place":')).rejects.toMatchObject({ code: 'pipeline-definition' });
});
