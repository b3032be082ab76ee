/** What rekap moves: the pipelines, the views and checks over their tables, and the data that comes with the project. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { voters } from './voters.ts';
import { votingRightsUsers } from './voting-rights-users.ts';
import { defineProject } from '../src/define-pipeline.ts';
import type { AnyPipeline, Project, SqlFile } from '../src/pipeline.ts';

/** Every pipeline, in the order in which they are shown. */
export const pipelines: readonly AnyPipeline[] = [voters, votingRightsUsers];

/** Views by their file in models/, each after those it reads. */
export const modelNames = [
  'turnout',
  'turnout_by_dapil',
  'turnout_by_province',
  'turnout_national',
  'data_quality',
  'dim_dapil',
  'dim_regency',
  'fact_people',
] as const;

/** How the views of the star refer to each other. */
const relations: Project['relations'] = {
  dim_dapil: { primaryKey: ['dapil_key'] },
  dim_regency: {
    primaryKey: ['regency_key'],
    foreignKeys: [{ fields: ['dapil_key'], reference: { resource: 'dim_dapil', fields: ['dapil_key'] } }],
  },
  fact_people: {
    primaryKey: ['dataset', 'regency_key', 'list', 'sex'],
    foreignKeys: [{ fields: ['regency_key'], reference: { resource: 'dim_regency', fields: ['regency_key'] } }],
  },
};

/** Checks across tables by their file in checks/. */
export const checkNames = [
  'users_above_voters_dpt',
  'users_above_voters_dptb',
  'users_above_voters_dpk',
  'users_above_voters_all',
  'regency_in_one_dataset',
  'regency_in_two_districts',
  'regency_names',
  'district_names',
] as const;

/** The package's folder, from the sources and from the build alike: the package finds itself by its name. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));

/**
 * Reads the SQL files and the reference, and puts together what a sync needs to know.
 *
 * @throws `pipeline-definition` where pipelines, views and checks contradict each other.
 */
export function loadProject(): Project {
  const districts = readReference();
  const seats = districts.map(({ dapil_id, seats: number }) => `(${dapil_id}, ${number})`).join(', ');
  const project: Project = defineProject({
    pipelines,
    models: modelNames.map((name) => readSql('models', name, { $seats: seats })),
    checks: checkNames.map((name) => {
      const { columns, ...check } = readSql('checks', name);
      return { ...check, columns: {}, message: { en: columns['en']!, id: columns['id']! } };
    }),
    relations,
    referenceDistricts: districts.map(({ dapil_id }) => dapil_id),
    // Both datasets have a record for each regency.
    referenceRecords: districts.reduce((sum, { regencies }) => sum + regencies.length, 0),
    sampleFolder: join(packageFolder, 'data', 'sample'),
    // Loaded when it is needed: drawing takes as long to load as all the rest.
    loadReport: async () => {
      const { makeReport } = await import('./report/report.ts');
      return (facts) => makeReport(project, facts);
    },
  });
  return project;
}

/**
 * The file's first comment line is about the whole; the ones after it, `-- column: meaning.`, are about its columns;
 * of a check, they are the message in English (en) and Indonesian (id).
 *
 * @param values What stands in the place of words such as $seats.
 */
function readSql(folder: string, name: string, values: Readonly<Record<string, string>> = {}): SqlFile {
  const lines = readFileSync(join(packageFolder, 'pipelines', folder, `${name}.sql`), 'utf8').split('\n');
  const header = lines.findIndex((line) => !line.startsWith('-- '));
  const [comment = '', ...columns] = lines.slice(0, header).map((line) => line.slice(3));
  return {
    name,
    comment,
    columns: Object.fromEntries(
      columns.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
    ),
    sql: Object.entries(values).reduce(
      (sql, [placeholder, value]) => sql.replaceAll(placeholder, value),
      lines.slice(header).join('\n').trim(),
    ),
  };
}

/** The districts of 2024 by law. */
function readReference(): { dapil_id: number; seats: number; regencies: string[] }[] {
  return JSON.parse(readFileSync(join(packageFolder, 'data', 'reference', 'dapil-2024.json'), 'utf8')) as ReturnType<
    typeof readReference
  >;
}
