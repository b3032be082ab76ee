/** A project is found from any folder in it and loaded from its files; whatever is wrong with it is named by file and line. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject, loadProject } from '../../src/project/load-project.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Files, peopleJson, projectJson, writeProject } from '../support/written-project.ts';

const projectTs = `import { defineProject } from 'rekap';

export default defineProject({
  name: 'small',
  title: 'A small project',
  paging: { by: 'none' },
});
`;
const peopleTs = `import { count, definePipeline, text } from 'rekap';
import { key } from './shared.ts';

export default definePipeline({
  table: 'people',
  title: 'People',
  comment: 'People by place.',
  path: '/people',
  columns: { place: text('Place', 'Name of the place.'), total: count('Total', 'People.') },
  key,
});
`;
const sharedTs = "export const key = ['place'] as const;\n";

const load = async (files: Files) => loadProject(await writeProject(files));

describe('a project is found', () => {
  it('in the folder itself and from every folder in it', async () => {
    const folder = await writeProject({ 'rekap.project.json': projectJson, 'pipelines/people.json': peopleJson });
    await mkdir(join(folder, 'a', 'b'), { recursive: true });
    for (const from of ['.', 'pipelines', 'a/b']) expect(findProject(null, join(folder, from))).toBe(folder);
  });

  it('as the nearest one', async () => {
    const outer = await writeProject({ 'rekap.project.json': projectJson, 'inner/rekap.project.ts': projectTs });
    await mkdir(join(outer, 'inner', 'deep'));
    expect(findProject(null, join(outer, 'inner', 'deep'))).toBe(join(outer, 'inner'));
    expect(findProject(null, outer)).toBe(outer);
  });

  it('where it is named, whatever is nearer', async () => {
    const named = await writeProject({ 'rekap.project.js': '' });
    const nearer = await writeProject({ 'rekap.project.json': projectJson });
    expect(findProject(named, nearer)).toBe(named);
  });

  it('nowhere but in the package where no folder has one', async () => {
    expect(findProject(null, await temporaryFolder())).toBeNull();
    expect(findProject(null, join(import.meta.dirname, '..', '..', 'pipelines', 'models'))).toBeNull();
  });

  it('not where the named folder has none', async () => {
    const folder = await writeProject({ 'people.json': peopleJson });
    expect(() => findProject(folder, '/')).toThrow(expect.objectContaining({ code: 'configuration' }));
  });
});

describe('a project', () => {
  it.each<[string, Files]>([
    ['JSON', { 'rekap.project.json': projectJson, 'pipelines/people.json': peopleJson }],
    ['TypeScript', { 'rekap.project.ts': projectTs, 'pipelines/people.ts': peopleTs, 'pipelines/shared.ts': sharedTs }],
    ['JSON, flat', { 'rekap.project.json': projectJson, 'people.json': peopleJson }],
    ['TypeScript, flat', { 'rekap.project.ts': projectTs, 'people.ts': peopleTs, 'shared.ts': sharedTs }],
    ['both', { 'rekap.project.json': projectJson, 'people.ts': peopleTs, 'shared.ts': sharedTs }],
  ])('is loaded from %s', async (_what, files) => {
    const { pipelines, name, title, description, auth, partitionOption, baseUrl } = await load(files);
    expect({ name, title, description, auth, partitionOption, baseUrl }).toEqual({
      name: 'small',
      title: 'A small project',
      description: 'A small project',
      auth: null,
      partitionOption: 'partition',
      baseUrl: null,
    });
    expect(pipelines).toMatchObject([{ table: 'people', key: ['place'], columns: peopleJson.columns, checks: [] }]);
    // What the pipeline leaves out, the project says, or is the rule.
    expect(pipelines).toMatchObject([{ paging: { by: 'none' }, format: 'json', records: '' }]);
  });

  it('says for its pipelines what they do not say for themselves', async () => {
    const paging = { by: 'offset', limit: 'limit', offset: 'offset' };
    const { pipelines } = await load({
      'rekap.project.json': { ...projectJson, paging, format: 'ndjson', records: '/data', reportedCount: '/count' },
      'a.json': { ...peopleJson, table: 'a', path: '/a' },
      'b.json': { ...peopleJson, table: 'b', path: '/b', paging: { by: 'none' }, format: 'json', records: '/rows' },
    });
    expect(pipelines).toMatchObject([
      { table: 'a', paging, format: 'ndjson', records: '/data', reportedCount: '/count' },
      { table: 'b', paging: { by: 'none' }, format: 'json', records: '/rows', reportedCount: '/count' },
    ]);
  });

  it('takes its pipelines from `pipelines/` alone where there is such a folder', async () => {
    const other = { ...peopleJson, table: 'other', path: '/other' };
    const files = { 'rekap.project.json': projectJson, 'pipelines/people.json': peopleJson, 'other.json': other };
    expect((await load(files)).pipelines.map(({ table }) => table)).toEqual(['people']);
  });

  it('has no dataset of a module without a default export, of its report and of types', async () => {
    const { pipelines, reportModule } = await load({
      'rekap.project.json': projectJson,
      'people.ts': peopleTs,
      'shared.ts': sharedTs,
      'report.ts': 'export default () => null;\n',
      'types.d.ts': 'export default 5;\n',
      'notes.md': '# Notes\n',
    });
    expect(pipelines.map(({ table }) => table)).toEqual(['people']);
    expect(reportModule).toMatch(/report\.ts$/);
  });

  it('has no dataset of the files that tools keep beside it', async () => {
    const { pipelines } = await load({
      'rekap.project.json': projectJson,
      'people.json': peopleJson,
      'package.json': '{"type": "module"}',
      'tsconfig.json': '{"compilerOptions": {}}',
      'eslint.config.js': 'export default [];',
      'places.json': '[{"place": "A"}]',
    });
    expect(pipelines.map(({ table }) => table)).toEqual(['people']);
  });

  it('reads the partitions of a file, from its own folder', async () => {
    const partition = {
      parameter: 'place',
      column: 'place',
      values: { from: 'file', file: 'ref/places.json', field: 'code' },
    };
    const { pipelines } = await load({
      'rekap.project.json': projectJson,
      'pipelines/people.json': { ...peopleJson, partition },
      'ref/places.json': [{ code: 11, name: 'x' }, { code: 'B' }],
    });
    expect(pipelines[0]!.partition).toEqual({ ...partition, values: { from: 'list', values: ['11', 'B'] } });
  });

  it('has its views in an order in which each comes after those it reads', async () => {
    const { models } = await load({
      'rekap.project.json': projectJson,
      'people.json': peopleJson,
      'models/a.sql': '-- Reads c, and not "z": \'d\' is a text.\nSELECT * FROM c',
      'models/b.sql': '-- Reads the table.\nSELECT * FROM people',
      'models/c.sql': '-- Reads b.\n-- place: Where.\nSELECT * FROM b -- and not d',
      'models/d.sql': '-- Reads a and b.\nSELECT * FROM b, a',
    });
    expect(models.map(({ name }) => name)).toEqual(['b', 'c', 'a', 'd']);
    expect(models[1]).toEqual({
      name: 'c',
      comment: 'Reads b.',
      columns: { place: 'Where.' },
      sql: 'SELECT * FROM b -- and not d',
    });
  });

  it('puts its values into the SQL, and the messages of a check beside it', async () => {
    const { models, checks } = await load({
      'rekap.project.json': {
        ...projectJson,
        values: {
          seats: [
            [1, "O'B"],
            [2.5, 'x'],
          ],
          seats_more: [['y']],
        },
      },
      'people.json': peopleJson,
      'models/m.sql': '-- M.\nSELECT * FROM (VALUES $seats) s, (VALUES $seats_more) t',
      'checks/full.sql': '-- Full.\n-- en: {column} is {actual}\n-- id: {column} tercatat {actual}\nSELECT 1 AS x',
    });
    expect(models[0]!.sql).toBe("SELECT * FROM (VALUES (1, 'O''B'), (2.5, 'x')) s, (VALUES ('y')) t");
    expect(checks).toEqual([
      {
        name: 'full',
        comment: 'Full.',
        columns: {},
        message: { en: '{column} is {actual}', id: '{column} tercatat {actual}' },
        sql: 'SELECT 1 AS x',
      },
    ]);
  });
});

describe('what is wrong with a project is named by file and line', () => {
  const people = (change: object): Files => ({
    'rekap.project.json': projectJson,
    'pipelines/people.json': { ...peopleJson, ...change },
  });
  const columns = (change: object): Files => people({ columns: { ...peopleJson.columns, ...change } });
  const check = (given: object): Files => people({ checks: [{ name: 'odd', severity: 'error', ...given }] });
  const partition = (values: object): Files => people({ partition: { parameter: 'p', column: 'place', values } });
  const file = { from: 'file', file: 'ref/places.json', field: 'code' };

  it.each<[string, Files, string]>([
    [
      'an unknown property of the project',
      { 'rekap.project.json': { ...projectJson, pipeline: 1 }, 'people.json': peopleJson },
      'rekap.project.json:7: pipeline has the unknown property "pipeline"',
    ],
    [
      'a project without paging',
      { 'rekap.project.json': { name: 'small', title: 'Small' }, 'people.json': peopleJson },
      'rekap.project.json:1: paging is missing',
    ],
    [
      'a way of paging that there is not',
      { 'rekap.project.json': { ...projectJson, paging: { by: 'scroll' } }, 'people.json': peopleJson },
      'rekap.project.json:5: paging.by is "scroll"',
    ],
    ['a project without pipelines', { 'rekap.project.json': projectJson }, 'rekap.project.json:2: it has no pipelines'],
    [
      'an unknown property of a pipeline',
      people({ endpoint: '/x' }),
      'pipelines/people.json:25: endpoint has the unknown',
    ],
    [
      'an unknown property of a column',
      columns({ x: { kind: 'text', field: 'X', comment: 'X.', size: 5 } }),
      'pipelines/people.json:21: columns.x.size has the unknown property "size"',
    ],
    [
      'a kind that there is not',
      columns({ x: { kind: 'number', field: 'X', comment: 'X.' } }),
      'pipelines/people.json:18: columns.x.kind is "number"',
    ],
    [
      'a decimal without its digits',
      columns({ x: { kind: 'decimal', field: 'X', comment: 'X.' } }),
      'columns.x.precision is missing',
    ],
    [
      'a decimal of more digits than there are',
      columns({ x: { kind: 'decimal', field: 'X', comment: 'X.', precision: 39, scale: 2 } }),
      'pipelines/people.json:21: columns.x.precision',
    ],
    ['a pointer that is none', people({ records: 'data' }), 'records is not a JSON pointer such as /data'],
    ['a path with a query', people({ path: '/people?x=1' }), 'path is not a plain path such as /api/name'],
    [
      'a pipeline that is a list',
      { 'rekap.project.json': projectJson, 'pipelines/people.json': [] },
      'pipelines/people.json:1: table is missing',
    ],
    [
      'a key that is not declared',
      people({ key: ['plase'] }),
      'pipelines/people.json:19: its key contains the column "plase", which is not declared',
    ],
    ['a measure in the key', people({ key: ['place', 'total'] }), 'its key contains the column "total" of kind count'],
    [
      'a column twice',
      columns({ again: { kind: 'text', field: 'Total', comment: 'X.' } }),
      'pipelines/people.json:14: the columns "total" and "again" both read the field "Total"',
    ],
    [
      'a sum of an unknown column',
      check({ kind: 'sum', whole: 'total', parts: ['total', 'men'] }),
      'pipelines/people.json:32: the check "odd" names "men", which is not a count, an integer or a decimal',
    ],
    [
      'a range of a text',
      check({ kind: 'range', column: 'place', min: 1 }),
      'the check "odd" names "place", which is not a number, a date or a timestamp',
    ],
    [
      'a range without bounds',
      check({ kind: 'range', column: 'total' }),
      'the check "odd" has neither a min nor a max',
    ],
    [
      'a pattern of a number',
      check({ kind: 'pattern', column: 'total', pattern: 'x' }),
      'the check "odd" names "total", which is not a text',
    ],
    [
      'a reference to nothing',
      check({ kind: 'reference', column: 'place', target: 'people.town' }),
      'the check "odd" refers to "people.town", which is not a column of the project',
    ],
    [
      'a watched text',
      people({ watch: ['place'] }),
      'watch names "place", which is not a count, an integer or a decimal',
    ],
    [
      'a table of rekap',
      people({ table: 'violations' }),
      'pipelines/people.json:2: the table name "violations" is reserved',
    ],
    [
      'two pipelines of one table',
      { 'rekap.project.json': projectJson, 'a.json': peopleJson, 'b.json': { ...peopleJson, path: '/more' } },
      'b.json:2: two pipelines create the table "people"',
    ],
    [
      'two pipelines of one endpoint',
      { 'rekap.project.json': projectJson, 'a.json': peopleJson, 'b.json': { ...peopleJson, table: 'b' } },
      'b.json:5: another pipeline already reads the endpoint "/people"',
    ],
    [
      'a file of partitions that is no JSON',
      { ...partition(file), 'ref/places.json': '[,]' },
      'places.json cannot be read: Unexpected token',
    ],
    [
      'a file of partitions without the field',
      { ...partition(file), 'ref/places.json': [{ code: 1 }, { name: 'x' }] },
      'is not an array of objects that each have the field "code"',
    ],
    [
      'partitions of a column that there is not',
      partition({ from: 'pipeline', column: 'people.town' }),
      'its partitions come from "people.town", which is not a column',
    ],
    [
      'a file that is no JSON',
      { 'rekap.project.json': projectJson, 'people.json': '{"table": }' },
      'people.json cannot be loaded: Unexpected token',
    ],
    [
      'a module that does not compile',
      { 'rekap.project.json': projectJson, 'people.ts': 'export default {;' },
      'people.ts:1 cannot be loaded: ',
    ],
    [
      'a module that throws',
      { 'rekap.project.json': projectJson, 'people.ts': "throw new Error('no such day');" },
      'people.ts cannot be loaded: no such day',
    ],
    [
      'a view of the name of a table',
      { ...people({}), 'models/people.sql': '-- People.\nSELECT 1 AS x' },
      'models/people.sql:1: a table also has the name "people"',
    ],
  ])('%s', async (_what, files, message) => {
    await expect(load(files)).rejects.toMatchObject({
      code: 'pipeline-definition',
      message: expect.stringContaining(message),
    });
  });

  it('a file of partitions that is missing', async () => {
    const folder = await writeProject(partition(file));
    await expect(loadProject(folder)).rejects.toMatchObject({
      message: `The project cannot be used: pipelines/people.json:30: ${join(folder, 'ref', 'places.json')} cannot be read: no such file or directory (ENOENT).`,
    });
  });

  it('views that read each other', async () => {
    const files = {
      ...people({}),
      'models/a.sql': '-- A.\nSELECT * FROM b',
      'models/b.sql': '-- B.\nSELECT * FROM c',
      'models/c.sql': '-- C.\nSELECT * FROM a',
      'models/d.sql': '-- D.\nSELECT * FROM people',
    };
    await expect(load(files)).rejects.toMatchObject({
      code: 'pipeline-definition',
      message: expect.stringContaining('models/b.sql:1: the views a, b, c read each other'),
    });
  });

  it('everything at once, one line each', async () => {
    const files = { ...people({ key: ['plase'], watch: ['people'] }), 'models/Bad.sql': '-- Bad.\nSELECT 1 AS x' };
    await expect(load(files)).rejects.toMatchObject({
      message: [
        'The project cannot be used:',
        '  - pipelines/people.json:19: its key contains the column "plase", which is not declared',
        '  - pipelines/people.json:2: watch names "people", which is not a count, an integer or a decimal',
        '  - models/Bad.sql:1: the view\'s name "Bad" is not lower-case snake_case',
      ].join('\n'),
    });
  });
});
