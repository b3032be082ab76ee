/** Warehouses for the service to read: snapshots of a few rows as the loader leaves them, and the link to the current one. */

import { lutimes, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openDatabase, quoteIdentifier, quoteText } from '../../src/runtime/database.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import type { RecordSource } from '../../src/serve/record-source.ts';
import { openWarehouseSource } from '../../src/serve/warehouse-source.ts';
import { pipelines } from './support.ts';
import { datasetOf, manifestOf } from '../support/manifests.ts';

type Value = string | number | null;
type TableRow = Readonly<Record<string, Value>>;

/** What a snapshot of these tests holds; tables that are not named are empty. */
export interface Content {
  readonly tables?: Readonly<Record<string, readonly TableRow[]>>;
  readonly violations?: readonly TableRow[];
  readonly quarantine?: readonly TableRow[];
  readonly without?: string;
}

export const [voters, users] = pipelines as readonly [AnyPipeline, AnyPipeline];

/** A row as the loader writes it: the partition, and the number in every other column. */
export function makeRow(pipeline: AnyPipeline, partition: number, number: number, changes: TableRow = {}): TableRow {
  const entries = Object.entries(pipeline.columns).map(([name, { kind }]): [string, Value] => {
    if (name === pipeline.partition!.column) return [name, partition];
    return [name, kind === 'text' ? `${name} ${number}` : number];
  });
  return { ...Object.fromEntries(entries), ...changes };
}

/** The columns of `violations` that say which row and what was lost. */
export function makeViolation(
  pipeline: AnyPipeline,
  row: TableRow,
  check: string,
  column: string,
  raw: string | null = null,
): TableRow {
  const key = Object.fromEntries(pipeline.key.map((name) => [name, row[name] ?? null]));
  return {
    dataset: pipeline.table,
    ...key,
    check_name: check,
    severity: 'warning',
    column_name: column,
    raw_value: raw,
  };
}

/** A snapshot that is not current yet. */
async function writeSnapshot(warehouse: string, id: string, content: Content): Promise<void> {
  const folder = join(warehouse, 'snapshots', id);
  await mkdir(folder, { recursive: true });
  const database = await openDatabase(join(folder, 'rekap.duckdb'));
  const place = 'election_year INTEGER, election_type VARCHAR, dapil_id INTEGER, province VARCHAR, regency VARCHAR';
  const tables: Record<string, string> = {
    violations: `dataset VARCHAR, ${place}, check_name VARCHAR, severity VARCHAR, column_name VARCHAR, raw_value VARCHAR, expected VARCHAR, actual VARCHAR, message VARCHAR`,
    quarantine: 'dataset VARCHAR, reason VARCHAR, record VARCHAR, request VARCHAR',
  };
  for (const { table, columns } of pipelines) {
    const list = Object.entries(columns).map(
      ([name, { kind }]) => `${name} ${kind === 'text' ? 'VARCHAR' : 'INTEGER'}`,
    );
    tables[table] = [...list, 'is_consistent BOOLEAN'].join(', ');
  }
  const rowsOf: Readonly<Record<string, readonly TableRow[]>> = {
    ...content.tables,
    violations: content.violations ?? [],
    quarantine: content.quarantine ?? [],
  };
  for (const [table, columns] of Object.entries(tables)) {
    if (table === content.without) continue;
    await database.run(`CREATE TABLE ${table} (${columns})`);
    for (const row of rowsOf[table] ?? []) {
      const values = Object.values(row).map((value) =>
        typeof value === 'string' ? quoteText(value) : String(value ?? 'NULL'),
      );
      await database.run(
        `INSERT INTO ${table} (${Object.keys(row).map(quoteIdentifier).join(', ')}) VALUES (${values.join(', ')})`,
      );
    }
  }
  database.close();
  const datasets = Object.fromEntries(pipelines.map(({ table }) => [table, datasetOf()]));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifestOf({ snapshot: id, datasets })));
}

/** Makes a snapshot current, with a link that is as old as `time` says. */
export async function pointTo(warehouse: string, id: string, time = new Date()): Promise<void> {
  await symlink(`snapshots/${id}`, join(warehouse, 'current.new'));
  await lutimes(join(warehouse, 'current.new'), time, time);
  await rename(join(warehouse, 'current.new'), join(warehouse, 'current'));
}

export async function publish(warehouse: string, id: string, content: Content, time?: Date): Promise<void> {
  await writeSnapshot(warehouse, id, content);
  await pointTo(warehouse, id, time);
}

/** The warehouse as a source, until the present test is over. */
export async function openSource(
  warehouse: string,
  following?: Parameters<typeof openWarehouseSource>[2],
): Promise<RecordSource> {
  const source = await openWarehouseSource(warehouse, pipelines, following);
  onTestFinished(() => source.close());
  return source;
}
