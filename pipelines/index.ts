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
  'regency_figures',
  'turnout',
  'turnout_sums',
  'turnout_by_dapil',
  'turnout_by_province',
  'turnout_national',
  'turnout_by_list',
  'data_quality',
  'dim_dapil',
  'dim_province',
  'dim_regency',
  'fact_people',
] as const;

/** How the views of the star refer to each other. */
const relations: Project['relations'] = {
  dim_dapil: { primaryKey: ['dapil_key'] },
  dim_province: { primaryKey: ['province_key'] },
  dim_regency: { primaryKey: ['regency_key'] },
  fact_people: {
    primaryKey: ['regency_key', 'list', 'sex'],
    foreignKeys: ['regency', 'dapil', 'province'].map((dimension) => ({
      fields: [`${dimension}_key`],
      reference: { resource: `dim_${dimension}`, fields: [`${dimension}_key`] },
    })),
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
  'district_in_other_province',
  'turnout_exactly_100',
  'turnout_above_100',
  'identical_sexes',
  'repeated_total',
] as const;

/** The package's folder, from the sources and from the build alike: the package finds itself by its name. */
const packageFolder = dirname(createRequire(import.meta.url).resolve('rekap/package.json'));

/**
 * Reads the SQL files and the reference, and puts together what a sync needs to know.
 *
 * @throws `pipeline-definition` where pipelines, views and checks contradict each other.
 */
export function loadProject(): Project {
  const districts = readDistricts();
  const values = {
    $seats: districts.map(({ dapil_id, seats }) => `(${dapil_id}, ${seats})`).join(', '),
    ...officialCodes(),
  };
  const project: Project = defineProject({
    pipelines,
    models: modelNames.map((name) => readSql('models', name, values)),
    checks: checkNames.map((name) => {
      const { columns, ...check } = readSql('checks', name, values);
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
 * @param values Replacements for placeholders such as $seats.
 */
function readSql(folder: string, name: string, values: Readonly<Record<string, string>>): SqlFile {
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
function readDistricts(): { dapil_id: number; seats: number; regencies: string[] }[] {
  return readReference('dapil-2024.json') as ReturnType<typeof readDistricts>;
}

/** Rows for VALUES: each official name of a province and of a regency, without spaces and punctuation, with its code. */
function officialCodes(): { $province_codes: string; $regency_codes: string } {
  interface Coded {
    readonly kemendagri_code: string;
    readonly names: readonly string[];
  }
  const provinces = readReference('kemendagri-codes.json') as readonly (Coded & { regencies: readonly Coded[] })[];
  const rows = ({ kemendagri_code: code, names }: Coded, ...before: string[]) =>
    names.map((name) => `('${[...before, code, name.replaceAll(/[^A-Z0-9]/g, '')].join("', '")}')`);
  return {
    $province_codes: provinces.flatMap((province) => rows(province)).join(', '),
    $regency_codes: provinces
      .flatMap(({ kemendagri_code: code, regencies }) => regencies.flatMap((regency) => rows(regency, code)))
      .join(', '),
  };
}

function readReference(file: string): unknown {
  return JSON.parse(readFileSync(join(packageFolder, 'data', 'reference', file), 'utf8'));
}
