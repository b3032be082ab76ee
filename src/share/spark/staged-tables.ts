/** Names the tables and the branch to which an engine writes what it has transformed. */

import { RekapError } from '../../errors.ts';
import { makeSchema } from '../../load/schema.ts';
import { quarantineTable } from '../../load/tables.ts';
import type { Project, SqlFile } from '../../project/declaration.ts';
import { findPortableProblems } from '../../project/validate.ts';
import { openDatabase } from '../../runtime/database.ts';
import { seal } from '../../warehouse/open-published.ts';
import { readDictionary } from '../../warehouse/read-dictionary.ts';
import { requireDistinct } from '../lake/lake-tables.ts';
import type { LakeTable } from '../lake/table-schema.ts';

/** Accounts for the records of each dataset: fetched = published + quarantined + duplicates. */
export const ledgerTable: LakeTable = {
  name: 'ledger',
  meaning: 'Records of a run that another engine transformed, by dataset: published, in quarantine, or duplicates.',
  file: '',
  columns: [
    { name: 'run_id', type: 'VARCHAR', meaning: 'ID of the run.' },
    { name: 'dataset', type: 'VARCHAR', meaning: 'The dataset.' },
    { name: 'fetched', type: 'BIGINT', meaning: 'Records of the run.' },
    { name: 'published', type: 'BIGINT', meaning: 'Records published as rows.' },
    { name: 'quarantined', type: 'BIGINT', meaning: 'Records in quarantine.' },
    { name: 'duplicates', type: 'BIGINT', meaning: 'Records that are equal to an earlier one.' },
  ],
  key: ['dataset'],
};

/** Returns the branch of a run. SQL names can't have a hyphen without quotes. */
export function branchOf(run: string): string {
  return `run_${run.replaceAll('-', '_')}`;
}

/** Returns the models whose SQL the engine runs too. */
export function portableModels({ models }: Project): SqlFile[] {
  return models.filter(({ portable }) => portable);
}

export function stagedNames(project: Project): string[] {
  const rows = project.pipelines.map(({ table }) => table);
  return [
    ...rows,
    'violations',
    quarantineTable.name,
    ledgerTable.name,
    ...portableModels(project).map(({ name }) => name),
  ];
}

export interface Staged {
  /** The tables that the engine writes. They have no Parquet file. */
  readonly tables: readonly LakeTable[];
  /** Portable checks, with the columns that they return. */
  readonly checks: readonly { readonly check: SqlFile; readonly returned: ReadonlySet<string> }[];
}

/**
 * Reads the columns of what an engine writes from an empty database of the project.
 *
 * @throws `pipeline-definition` if Spark would read portable SQL differently, `usage` if two tables have the same name.
 */
export async function describeStaged(project: Project): Promise<Staged> {
  for (const { of, what } of findPortableProblems(project))
    throw new RekapError('pipeline-definition', `${of}: ${what}.`, 'Correct the project, and land a new run.');
  const names = stagedNames(project);
  requireDistinct(names);
  const database = await openDatabase(':memory:');
  try {
    await seal(database);
    await makeSchema(database, project);
    const relations = await readDictionary(database);
    const keys = new Map(project.pipelines.map(({ table, key }) => [table, key]));
    const tables = names.map((name): LakeTable => {
      if (name === ledgerTable.name) return ledgerTable;
      const { meaning, columns } = relations.find((relation) => relation.name === name)!;
      return { name, meaning, file: '', columns, key: keys.get(name) ?? [] };
    });
    const checks = [];
    for (const check of project.checks.filter(({ portable }) => portable)) {
      const columns = await database.rows<{ column_name: string }>(`DESCRIBE ${check.sql}`);
      checks.push({ check, returned: new Set(columns.map(({ column_name }) => column_name)) });
    }
    return { tables, checks };
  } finally {
    database.close();
  }
}
