/** Exports the tables of a warehouse, and compares them with what Python recomputes from the landed responses. */

import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { modelNames } from '../support/bundled.ts';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { runHere } from '../support/run-here.ts';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
/** Why Python can't recompute anything here, or null. */
export const noPython = hasPython ? null : 'Python 3.9 or later is not installed';

const tables = ['voters', 'voting_rights_users', 'violations', 'quarantine'];
const views = ['reconciliation', ...modelNames.filter((name) => !['regency_figures', 'turnout_sums'].includes(name))];

/** The tables of the DuckDB file, as `rekap query` gives them. */
export async function exportByQuery(warehouse: string, folder: string): Promise<void> {
  await mkdir(folder);
  for (const table of [...tables, ...views]) {
    const out = ['--format', 'json', '--out', join(folder, `${table}.json`)];
    const { code, stderr } = await runHere(['query', `FROM ${table}`, '--warehouse', warehouse, ...out]);
    if (code !== 0) throw new Error(stderr);
  }
}

/** The Parquet files, as DuckDB itself writes them to JSON. */
export async function exportParquet(warehouse: string, folder: string): Promise<void> {
  await mkdir(folder);
  const database = await openDatabase(':memory:');
  for (const table of tables) {
    const [from, to] = [join(warehouse, 'current', parquetPath(table)), join(folder, `${table}.json`)].map(quoteText);
    await database.run(`COPY (FROM read_parquet(${from})) TO ${to} (FORMAT json, ARRAY true)`);
  }
  database.close();
}

/** Runs report.py: its exit code, the differences, and the number of figures in its last line. */
export function recomputeReport(warehouse: string, folder: string, language: string, report: string) {
  const page = join(import.meta.dirname, 'report.py');
  const { status, stdout, stderr } = spawnSync('python3', [page, warehouse, folder, language, report], {
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  const lines = stdout.trimEnd().split('\n');
  const summary = lines.pop()!;
  return { status, differences: lines, figures: Number.parseInt(summary, 10) };
}

/** Runs recompute.py: its exit code, what it left out, the differences, and its last line. */
export function recomputeTables(warehouse: string, folder: string) {
  const page = join(import.meta.dirname, 'recompute.py');
  const { status, stdout, stderr } = spawnSync('python3', [page, warehouse, folder], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  const lines = stdout.trimEnd().split('\n');
  const summary = lines.pop()!;
  const leftOut = lines.filter((line) => line.startsWith('left out: '));
  return { status, leftOut, differences: lines.filter((line) => !line.startsWith('left out: ')), summary };
}
