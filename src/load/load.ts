/** Builds a new DuckDB file from batches and from what is carried over, runs the checks across tables, and writes the Parquet files. */

import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openDatabase, type Database } from '../database.ts';
import { quoteIdentifier, quoteText } from '../sql-text.ts';
import { VerificationError } from '../errors.ts';
import type { AnyPipeline, Batch, Project } from '../pipeline.ts';
import { changesTableName, parquetPath } from '../warehouse.ts';
import { changesSql } from './changes.ts';
import { carriedCondition, isCarried, type CarryOver } from './carry-over.ts';
import { reportDataset, type LoadReport } from './load-report.ts';
import { Staging } from './staging.ts';
import {
  changesTable,
  columnList,
  createTableSql,
  datasetTable,
  placeColumns,
  quarantineTable,
  snapshotsLogTable,
  violationsTable,
  type TableDefinition,
} from './tables.ts';

export interface LoadOptions {
  /** Folder of the snapshot that is being built; the DuckDB file and the Parquet files are made in it. */
  readonly folder: string;
  readonly databaseFile: string;
  readonly project: Project;
}

/** The row of snapshots_log that the new snapshot adds. */
export interface LogEntry {
  readonly snapshot: string;
  readonly publishedAt: Date;
  readonly source: string;
}

/** Tables that are exported to Parquet besides the datasets. */
const exportedTables = [changesTableName, quarantineTable.name, 'violations'];

/** Keeps a load within a fraction of what the whole run may use; DuckDB spills beyond it into its temporary folder. */
const loadSettings = { memory_limit: '160MB', threads: '2', preserve_insertion_order: 'true' };

export class Load {
  private readonly options: LoadOptions;
  private readonly database: Database;
  private readonly staging: Staging;

  private constructor(options: LoadOptions, database: Database, staging: Staging) {
    this.options = options;
    this.database = database;
    this.staging = staging;
  }

  static async begin(options: LoadOptions): Promise<Load> {
    const file = join(options.folder, options.databaseFile);
    const database = await openDatabase(file, {
      settings: { ...loadSettings, temp_directory: join(options.folder, 'spill') },
    });
    try {
      return new Load(options, database, await Staging.create(database, options.project.pipelines));
    } catch (error) {
      database.close();
      throw error;
    }
  }

  append(pipeline: AnyPipeline, batch: Batch): void {
    this.staging.append(pipeline, batch);
  }

  /**
   * Makes the tables, runs the checks, creates the views, writes Parquet, and closes the file.
   *
   * @param previousDatabase The DuckDB file of the snapshot before, whose log of snapshots goes on in this one.
   * @returns A report for each table of a dataset.
   */
  async finish(
    carryOver: CarryOver | null,
    log: LogEntry,
    previousDatabase: string | null,
  ): Promise<Map<string, LoadReport>> {
    const { pipelines } = this.options.project;
    this.staging.close();
    const attached = carryOver?.database ?? previousDatabase;
    if (attached !== null) await this.database.run(`ATTACH ${quoteText(attached)} AS previous (READ_ONLY)`);
    // One transaction: each statement by itself would wait for the disk.
    await this.database.run('BEGIN');
    for (const pipeline of pipelines) await this.makeDataset(pipeline, carryOver);
    await this.makeViolations(carryOver);
    await this.makeTable(quarantineTable, `SELECT * FROM temp.staging_quarantine${this.carriedQuarantine(carryOver)}`);
    for (const pipeline of pipelines) await this.markInconsistent(pipeline);
    await this.makeViews();
    await this.makeSnapshotsLog(log, attached !== null);
    await this.makeChanges(log, attached !== null);
    const reports = new Map<string, LoadReport>();
    for (const pipeline of pipelines)
      reports.set(pipeline.table, await reportDataset(this.database, pipeline, carryOver, log.snapshot));
    await this.database.run('COMMIT');
    await this.staging.drop(pipelines);
    if (attached !== null) await this.database.run('DETACH previous');
    await this.database.run('CHECKPOINT');
    await this.writeParquet();
    this.database.close();
    return reports;
  }

  /** Ends the statement that is running, if any; it fails. */
  interrupt(): void {
    this.database.connection.interrupt();
  }

  /** Closes the file of a load that is given up. */
  abandon(): void {
    this.database.close();
  }

  private async makeTable(table: TableDefinition, select: string): Promise<void> {
    await this.database.run(createTableSql(table));
    await this.database.run(
      `INSERT INTO ${quoteIdentifier(table.name)} SELECT * FROM (${select}) ORDER BY ${columnList(table.sortedBy)}`,
    );
  }

  private async makeDataset(pipeline: AnyPipeline, carryOver: CarryOver | null): Promise<void> {
    const table = datasetTable(pipeline);
    let carried = '';
    if (isCarried(carryOver, pipeline)) {
      const condition = carriedCondition(carryOver, pipeline, quoteIdentifier(pipeline.district));
      // Whether a carried row is consistent is decided anew: what broke a check across tables may have been mended in the other table.
      carried = ` UNION ALL SELECT ${columnList(Object.keys(pipeline.columns))}, true FROM previous.${quoteIdentifier(pipeline.table)} WHERE ${condition}`;
    }
    await this.makeTable(table, Staging.selectSql(pipeline) + carried);
    // The transformation lets no key pass twice; that the table agrees is checked on its own, for "nothing doubled" is a promise.
    const key = columnList(pipeline.key);
    const doubles = await this.database.rows(
      `SELECT ${key} FROM ${quoteIdentifier(pipeline.table)} GROUP BY ${key} HAVING count(*) > 1 LIMIT 1`,
    );
    if (doubles.length > 0)
      throw new VerificationError(
        `The table ${pipeline.table} holds a key twice: ${JSON.stringify(doubles[0])}.`,
        'Nothing was published.',
      );
  }

  /** Row checks come from the transformation, or are carried over with their rows; checks across tables run over the new tables. */
  private async makeViolations(carryOver: CarryOver | null): Promise<void> {
    const { pipelines, checks } = this.options.project;
    const table = violationsTable(pipelines);
    const place = placeColumns(pipelines).map(({ name }) => name);
    const selects = ['SELECT * FROM temp.staging_violations'];
    for (const check of checks) {
      const given = new Set(['dataset', ...place, 'severity', 'column_name', 'expected', 'actual', 'message']);
      const types = new Map(table.columns.map(({ name, type }) => [name, type]));
      const columns = table.columns.map(({ name }) =>
        name === 'check_name'
          ? quoteText(check.name)
          : given.has(name)
            ? `${quoteIdentifier(name)}::${types.get(name)!}`
            : 'NULL',
      );
      selects.push(`SELECT ${columns.join(', ')} FROM (${check.sql})`);
    }
    if (carryOver !== null) {
      const acrossTables = checks.map(({ name }) => quoteText(name)).join(', ');
      for (const pipeline of pipelines) {
        const condition = carriedCondition(carryOver, pipeline, quoteIdentifier(pipeline.district));
        selects.push(
          `SELECT ${columnList(table.columns.map(({ name }) => name))} FROM previous.violations WHERE dataset = ${quoteText(pipeline.table)} AND ${condition} AND check_name NOT IN (${acrossTables || "''"})`,
        );
      }
    }
    await this.makeTable(table, selects.join(' UNION ALL '));
  }

  /** A quarantined record belongs to the district whose request brought it; one that the sweep brought is carried over always. */
  private carriedQuarantine(carryOver: CarryOver | null): string {
    if (carryOver === null) return '';
    return this.options.project.pipelines
      .map((pipeline) => {
        const district = `coalesce(TRY_CAST(regexp_extract(request, ${quoteText(`${pipeline.districtParameter}=(\\d+)`)}, 1) AS INTEGER), -1)`;
        return ` UNION ALL SELECT * FROM previous.quarantine WHERE dataset = ${quoteText(pipeline.table)} AND ${carriedCondition(carryOver, pipeline, district)}`;
      })
      .join('');
  }

  private async markInconsistent(pipeline: AnyPipeline): Promise<void> {
    const same = pipeline.key.map((name) => `t.${quoteIdentifier(name)} = v.${quoteIdentifier(name)}`).join(' AND ');
    await this.database.run(
      `UPDATE ${quoteIdentifier(pipeline.table)} t SET is_consistent = false FROM violations v
       WHERE t.is_consistent AND v.severity = 'error' AND v.dataset = ${quoteText(pipeline.table)} AND ${same}`,
    );
  }

  /** Views and their comments; a column that a view takes over from a table or from a view before it keeps its meaning. */
  private async makeViews(): Promise<void> {
    const { pipelines, models } = this.options.project;
    const meanings = new Map(
      pipelines.flatMap((pipeline) => datasetTable(pipeline).columns.map(({ name, comment }) => [name, comment])),
    );
    for (const model of models) {
      const view = quoteIdentifier(model.name);
      await this.database.run(
        `CREATE VIEW ${view} AS ${model.sql}; COMMENT ON VIEW ${view} IS ${quoteText(model.comment)}`,
      );
      for (const [name, comment] of Object.entries(model.columns)) meanings.set(name, comment);
      const columns = await this.database.rows<{ column_name: string }>(`SELECT column_name FROM (DESCRIBE ${view})`);
      const comments = columns.map(
        ({ column_name: name }) =>
          `COMMENT ON COLUMN ${view}.${quoteIdentifier(name)} IS ${quoteText(meanings.get(name) ?? '')}`,
      );
      await this.database.run(comments.join('; '));
    }
  }

  private async makeSnapshotsLog(log: LogEntry, hasPrevious: boolean): Promise<void> {
    const entries = this.options.project.pipelines.map(
      (
        pipeline,
      ) => `SELECT ${quoteText(log.snapshot)}, ${quoteText(log.publishedAt.toISOString().slice(0, 19))}::TIMESTAMP, ${quoteText(log.source)}, ${quoteText(pipeline.table)},
        (SELECT count(*) FROM ${quoteIdentifier(pipeline.table)}),
        (SELECT coalesce(sum(${quoteIdentifier(pipeline.total)}), 0)::BIGINT FROM ${quoteIdentifier(pipeline.table)}),
        (SELECT count(*) FROM violations WHERE dataset = ${quoteText(pipeline.table)})`,
    );
    const columns = snapshotsLogTable.columns.map(({ name }) => name);
    const earlier = hasPrevious ? ` UNION ALL SELECT ${columnList(columns)} FROM previous.snapshots_log` : '';
    await this.makeTable(
      snapshotsLogTable,
      `SELECT * FROM (${entries.join(' UNION ALL ')}) AS entries(${columnList(columns)})${earlier}`,
    );
  }

  private async makeChanges({ snapshot }: LogEntry, hasPrevious: boolean): Promise<void> {
    const { pipelines } = this.options.project;
    const table = changesTable(pipelines);
    const select = hasPrevious ? await changesSql(this.database, pipelines, snapshot) : '';
    if (select === '') await this.database.run(createTableSql(table));
    else await this.makeTable(table, select);
  }

  private async writeParquet(): Promise<void> {
    const { folder, project } = this.options;
    const { pipelines } = project;
    const tables = [
      ...pipelines.map(datasetTable),
      violationsTable(pipelines),
      quarantineTable,
      changesTable(pipelines),
    ];
    for (const table of tables) {
      const file = join(folder, parquetPath(table.name));
      await mkdir(dirname(file), { recursive: true });
      const descriptions = [
        ['table', table.comment] as const,
        ...table.columns.map(({ name, comment }) => [name, comment] as const),
      ];
      const metadata = descriptions
        .map(([name, comment]) => `${quoteIdentifier(name)}: ${quoteText(comment)}`)
        .join(', ');
      await this.database.run(
        `COPY (SELECT * FROM ${quoteIdentifier(table.name)})
         TO ${quoteText(file)} (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 122880, KV_METADATA {${metadata}})`,
      );
    }
  }
}

/** Names of the tables that have a Parquet file. */
export function exportedTableNames(pipelines: readonly AnyPipeline[]): string[] {
  return [...pipelines.map(({ table }) => table), ...exportedTables];
}
