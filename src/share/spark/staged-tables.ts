/** Names the tables and the branch to which an engine writes what it has transformed. */

import { makeSchema } from '../../load/schema.ts';
import { quarantineTable } from '../../load/tables.ts';
import type { Project } from '../../project/declaration.ts';
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

export function stagedNames({ pipelines }: Project): string[] {
  return [...pipelines.map(({ table }) => table), 'violations', quarantineTable.name, ledgerTable.name];
}

/**
 * Reads the columns of the tables that an engine writes from an empty database of the project. They have no Parquet file.
 *
 * @throws `usage` if two tables have the same name.
 */
export async function describeStaged(project: Project): Promise<LakeTable[]> {
  const names = stagedNames(project);
  requireDistinct(names);
  const database = await openDatabase(':memory:');
  try {
    await seal(database);
    await makeSchema(database, { ...project, models: [], checks: [] });
    const relations = await readDictionary(database);
    const keys = new Map(project.pipelines.map(({ table, key }) => [table, key]));
    return names.map((name): LakeTable => {
      if (name === ledgerTable.name) return ledgerTable;
      const { meaning, columns } = relations.find((relation) => relation.name === name)!;
      return { name, meaning, file: '', columns, key: keys.get(name) ?? [] };
    });
  } finally {
    database.close();
  }
}
