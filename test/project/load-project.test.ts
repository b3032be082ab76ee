/** A project is found from any folder in it and loaded from its files. Its problems are named by file and line. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProject } from '../../src/project/find-project.ts';
import type { DeclaredPipeline } from '../../src/project/declaration.ts';
import { loadProject } from '../../src/project/load-project.ts';
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
  it('in its folder and every folder below, the nearest first', async () => {
    const outer = await writeProject({ 'rekap.project.json': projectJson, 'inner/rekap.project.ts': projectTs });
    await mkdir(join(outer, 'inner', 'deep'));
    await mkdir(join(outer, 'a', 'b'), { recursive: true });
    for (const from of ['.', 'a', 'a/b']) expect(findProject(null, join(outer, from))).toBe(outer);
    for (const from of ['inner', 'inner/deep']) expect(findProject(null, join(outer, from))).toBe(join(outer, 'inner'));
  });

  it('in a named folder first, which must contain one', async () => {
    const named = await writeProject({ 'rekap.project.js': '' });
    const nearer = await writeProject({ 'rekap.project.json': projectJson });
    expect(findProject(named, nearer)).toBe(named);
    const folder = await writeProject({ 'people.json': peopleJson });
    expect(() => findProject(folder, nearer)).toThrow(expect.objectContaining({ code: 'configuration' }));
  });

  it('in the package if no folder has one', async () => {
    expect(findProject(null, await temporaryFolder())).toBeNull();
    expect(findProject(null, join(import.meta.dirname, '..', '..', 'pipelines', 'models'))).toBeNull();
  });
});

describe('a project', () => {
  it.each<[string, Files]>([
    ['JSON', { 'rekap.project.json': projectJson, 'pipelines/people.json': peopleJson }],
    ['TypeScript', { 'rekap.project.ts': projectTs, 'pipelines/people.ts': peopleTs, 'pipelines/shared.ts': sharedTs }],
    ['JSON, flat', { 'rekap.project.json': projectJson, 'people.json': peopleJson }],
    ['both', { 'rekap.project.json': projectJson, 'people.ts': peopleTs, 'shared.ts': sharedTs }],
  ])('is loaded from %s', async (_what, files) => {
    const { pipelines, name, title, description, auth, baseUrl } = await load(files);
    expect({ name, title, description, auth, baseUrl }).toEqual({
      name: 'small',
      title: 'A small project',
      description: 'A small project',
      auth: null,
      baseUrl: null,
    });
    expect(pipelines).toMatchObject([{ table: 'people', key: ['place'], columns: peopleJson.columns, checks: [] }]);
    expect(pipelines).toMatchObject([{ paging: { by: 'none' }, format: 'json', records: '' }]);
  });

  it('has defaults for its pipelines', async () => {
    const paging = { by: 'offset', limit: 'limit', offset: 'offset' };
    const { pipelines } = await load({
      'rekap.project.json': { ...projectJson, paging, format: 'ndjson', records: '/data', reportedCount: '/count' },
      'a.json': { ...peopleJson, table: 'a', path: '/a' },
      'b.json': { ...peopleJson, table: 'b', path: '/b', paging: { by: 'none' }, format: 'json', records: '/rows' },
    });
    expect(pipelines).toMatchObject([
      { table: 'a', paging, format: 'ndjson', records: '/data' },
      { table: 'b', paging: { by: 'none' }, format: 'json', records: '/rows', reportedCount: '/count' },
    ]);
    // NDJSON has no place for a count.
    expect(pipelines[0]).not.toHaveProperty('reportedCount');
  });

  it('takes its pipelines only from `pipelines/` if that folder exists', async () => {
    const other = { ...peopleJson, table: 'other', path: '/other' };
    const files = { 'rekap.project.json': projectJson, 'pipelines/people.json': peopleJson, 'other.json': other };
    expect((await load(files)).pipelines.map(({ table }) => table)).toEqual(['people']);
  });

  it('has no datasets of other files: helper modules, its report, types and the files of tools', async () => {
    const { pipelines, reportModule } = await load({
      'rekap.project.json': projectJson,
      'people.ts': peopleTs,
      'shared.ts': sharedTs,
      'report.ts': 'export const drawReport = () => null;\n',
      'types.d.ts': 'export default 5;\n',
      'notes.md': '# Notes\n',
      'package.json': '{"type": "module"}',
      'tsconfig.json': '{"compilerOptions": {}}',
      'eslint.config.js': 'export default [];',
      'places.json': '[{"place": "A"}]',
    });
    expect(pipelines.map(({ table }) => table)).toEqual(['people']);
    expect(reportModule).toMatch(/report\.ts$/);
  });

  it('can declare its pipelines itself, and then runs no file next to it', async () => {
    const { pipelines } = await load({
      'rekap.project.json': { ...projectJson, $schema: 'project.schema.json', pipelines: [peopleJson] },
      'source.js': "throw new Error('this is no pipeline');",
    });
    expect(pipelines).toMatchObject([{ table: 'people', paging: { by: 'none' } }]);
  });

  it('derives titles and comments that are not declared', async () => {
    const { title: _title, comment: _comment, ...bare } = { ...peopleJson, table: 'all_people' };
    const columns = { place: { kind: 'text', field: 'Place' } };
    const { pipelines, title } = await load({
      'rekap.project.json': { name: 'small', paging: { by: 'none' } },
      'people.json': { ...bare, columns, watch: [] },
    });
    expect(title).toBe('small');
    expect(pipelines).toMatchObject([{ title: 'All people', comment: 'All people' }]);
    expect(pipelines[0]!.columns['place']!.comment).toContain('Place');
  });

  it('reads partitions from a file in its folder', async () => {
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

  it('orders its views by what they read', async () => {
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

  it('inserts its values into SQL, and reads the messages of a check', async () => {
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

describe('a problem of a project is named by file and line', () => {
  const people = (change: object): Files => ({
    'rekap.project.json': projectJson,
    'pipelines/people.json': { ...peopleJson, ...change },
  });
  const partition = (values: object): Files => people({ partition: { parameter: 'p', column: 'place', values } });
  const file = { from: 'file', file: 'ref/places.json', field: 'code' };

  it.each<[string, Files]>([
    [
      'rekap.project.json:7: pipeline is not a known property; did you mean "pipelines"?',
      { 'rekap.project.json': { ...projectJson, pipeline: 1 }, 'people.json': peopleJson },
    ],
    ['rekap.project.json:2: it has no pipelines', { 'rekap.project.json': projectJson }],
    ['pipelines/people.json:1: table is missing', { 'rekap.project.json': projectJson, 'pipelines/people.json': [] }],
    [
      'pipelines/people.json:19: its key contains the column "plase", which is not declared',
      people({ key: ['plase'] }),
    ],
    [
      'b.json:2: two pipelines create the table "people"',
      { 'rekap.project.json': projectJson, 'a.json': peopleJson, 'b.json': { ...peopleJson, path: '/more' } },
    ],
    ['places.json cannot be read: Unexpected token', { ...partition(file), 'ref/places.json': '[,]' }],
    [
      'is not an array of objects that each have the field "code"',
      { ...partition(file), 'ref/places.json': [{ code: 1 }, { name: 'x' }] },
    ],
    [
      'people.json cannot be loaded: Unexpected token',
      { 'rekap.project.json': projectJson, 'people.json': '{"table": }' },
    ],
    ['people.ts:1 cannot be loaded: ', { 'rekap.project.json': projectJson, 'people.ts': 'export default {;' }],
    ...(
      [
        ['people.ts:9 cannot be loaded: cuont is not defined; did you mean "count"?', "cuont('Total', 'People.')"],
        ['people.ts:9 cannot be loaded: integer is not defined; import it from', "integer('Total', 'People.')"],
        ['people.ts:9 cannot be loaded: other is not defined.', 'other'],
      ] as const
    ).map(([message, code]): [string, Files] => [
      message,
      {
        'rekap.project.ts': projectTs,
        'people.ts': peopleTs.replace("count('Total', 'People.')", code),
        'shared.ts': sharedTs,
      },
    ]),
    [
      'people.ts:1 cannot be loaded: rekap has no export "cuont"; did you mean "count"?',
      {
        'rekap.project.ts': projectTs,
        'people.ts': "import { cuont } from 'rekap'; export default cuont('x');",
      },
    ],
    [
      'shared.ts:2 cannot be loaded: other is not defined.',
      { 'rekap.project.ts': projectTs, 'people.ts': peopleTs, 'shared.ts': '\nexport const key = other;' },
    ],
  ])('%s', async (message, files) => {
    await expect(load(files)).rejects.toMatchObject({
      code: 'pipeline-definition',
      message: expect.stringContaining(message),
    });
  });

  const both = (first: object, second: object): object[] => [
    { ...peopleJson, ...first },
    { ...peopleJson, table: 'rooms', path: '/rooms', ...second },
  ];
  const lineOf = (text: string, part: string): number => text.slice(0, text.lastIndexOf(part)).split('\n').length;

  it.each([
    ['a path with a query', { path: '/rooms?a=1' }, '"path"', 'path is not a plain path'],
    ['a path with a parameter', { path: '/rooms/{code}' }, '{code}', 'but no parameter has this name'],
    ['a column', { key: ['plase'] }, 'plase', 'key contains the column "plase"'],
    ['a column that both have', { watch: ['place'] }, '"place": {', 'watch names "place"'],
    ['a property', { records: 'data' }, '"records"', 'records is not a JSON pointer'],
  ])('for %s in the second pipeline of a file', async (_what, change, part, problem) => {
    const first = { records: '/a', watch: ['total'] };
    const declared = { ...projectJson, pipelines: both(first, change) };
    const text = JSON.stringify(declared, null, 2);
    const code = `import { defineProject } from 'rekap';\nexport default defineProject(${text});\n`;
    const inTs = `rekap.project.ts:${lineOf(code, part)}: `;
    const inJson = `rekap.project.json:${lineOf(text, part)}: `;
    for (const [files, place] of [
      [{ 'rekap.project.ts': code }, inTs],
      [{ 'rekap.project.json': text }, inJson],
    ] as const) {
      const error: unknown = await load(files).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reasons: [expect.stringContaining(problem)] });
      expect(error).toMatchObject({ reasons: [expect.stringContaining(place)] });
    }
  });

  it('for a missing file of partitions', async () => {
    const folder = await writeProject(partition(file));
    await expect(loadProject(folder)).rejects.toMatchObject({
      reasons: [
        `pipelines/people.json:30: ${join(folder, 'ref', 'places.json')} cannot be read: no such file or directory (ENOENT)`,
      ],
    });
  });

  it('for views that read each other', async () => {
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

  it('with all other problems, each with its line and the nearest name', async () => {
    const files = { ...people({ key: ['plase'], watch: ['people'] }), 'models/Bad.sql': '-- Bad.\nSELECT 1 AS x' };
    const problems = [
      'pipelines/people.json:19: its key contains the column "plase", which is not declared; did you mean "place"?',
      'pipelines/people.json:2: watch names "people", which is not a count, an integer or a decimal',
      'models/Bad.sql:1: the view\'s name "Bad" is not lower-case snake_case',
    ];
    await expect(load(files)).rejects.toMatchObject({
      reasons: problems,
      message: expect.stringContaining(
        [problems[0], '  19 |     "plase"', '     |      ~~~~~', '', problems[1]].join('\n'),
      ),
    });
  });

  it('in a declaration without files', async () => {
    const pipelines = [peopleJson] as unknown as readonly DeclaredPipeline[];
    await expect(loadProject({ name: 'small', pipelines })).rejects.toMatchObject({
      reasons: [expect.stringMatching(/^small: .*has no paging/)],
    });
  });
});
