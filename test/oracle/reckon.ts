/** Writes a warehouse's tables out and lets reckon.py compare them with what it reckons from the landed answers. */

import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { modelNames } from '../support/bundled.ts';
import { openDatabase, quoteText } from '../../src/runtime/database.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { runHere } from '../support/run-here.ts';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
/** Why nothing can be reckoned here; null where it can. */
export const noPython = hasPython ? null : 'there is no python3 here, or one before 3.9';

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

/** What report.py says of a report: its exit code, what differs, and its last line. */
export function recompute(warehouse: string, folder: string, language: string, report: string) {
  const page = join(import.meta.dirname, 'report.py');
  const { status, stdout, stderr } = spawnSync('python3', [page, warehouse, folder, language, report], {
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  const lines = stdout.trimEnd().split('\n');
  const summary = lines.pop()!;
  return { status, differences: lines, figures: Number.parseInt(summary, 10) };
}

/** What reckon.py says of them: its exit code, what it left out, what differs, and its last line. */
export function reckon(warehouse: string, folder: string) {
  const page = join(import.meta.dirname, 'reckon.py');
  const { status, stdout, stderr } = spawnSync('python3', [page, warehouse, folder], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  const lines = stdout.trimEnd().split('\n');
  const summary = lines.pop()!;
  const leftOut = lines.filter((line) => line.startsWith('left out: '));
  return { status, leftOut, differences: lines.filter((line) => !line.startsWith('left out: ')), summary };
}
