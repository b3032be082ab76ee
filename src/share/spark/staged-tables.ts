/** Names the tables and the branch to which an engine writes what it has transformed. */

import { datasetTable, quarantineTable, type TableDefinition, violationsTable } from '../../load/tables.ts';
import type { Project } from '../../project/declaration.ts';
import type { LakeTable } from '../lake/table-schema.ts';

const count = (name: string, comment: string) => ({ name, type: 'BIGINT', comment, isRequired: true });

/** Accounts for the records of each dataset: fetched = published + quarantined + duplicates. */
export const ledgerTable: TableDefinition = {
  name: 'ledger',
  comment: 'Records of a run that another engine transformed, by dataset: published, in quarantine, or duplicates.',
  columns: [
    { name: 'run_id', type: 'VARCHAR', comment: 'ID of the run.', isRequired: true },
    { name: 'dataset', type: 'VARCHAR', comment: 'The dataset.', isRequired: true },
    count('fetched', 'Records of the run.'),
    count('published', 'Records published as rows.'),
    count('quarantined', 'Records in quarantine.'),
    count('duplicates', 'Records that are equal to an earlier one.'),
  ],
  sortedBy: ['dataset'],
};

/** Returns the branch of a run. SQL names can't have a hyphen without quotes. */
export function branchOf(run: string): string {
  return `run_${run.replaceAll('-', '_')}`;
}

export function stagedTables({ pipelines }: Project): TableDefinition[] {
  return [...pipelines.map(datasetTable), violationsTable(pipelines), quarantineTable, ledgerTable];
}

/** Returns the tables as the catalog creates them. They have no Parquet file. */
export function asLakeTables(project: Project): LakeTable[] {
  const keys = new Map(project.pipelines.map(({ table, key }) => [table, key]));
  return stagedTables(project).map(({ name, comment, columns }) => ({
    name,
    meaning: comment,
    file: '',
    columns: columns.map((column) => ({ name: column.name, type: column.type, meaning: column.comment })),
    key: keys.get(name) ?? [],
  }));
}
