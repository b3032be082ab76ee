/** Builds a new DuckDB file from batches and carried-over rows, runs the checks across tables, and writes the Parquet files. */

import { join, resolve } from 'node:path';
import { RekapError } from '../errors.ts';
import { consistencyColumn } from '../project/reserved.ts';
import {
  columnList,
  type Database,
  openDatabase,
  quoteIdentifier,
  quoteText,
  maxMemory,
  spillFolder,
} from '../runtime/database.ts';
import { changesSql, columnNames, type WindowBound } from './changes.ts';
import { readDictionary, type Relation } from '../warehouse/read-dictionary.ts';
import { type BrokenCheck, type LoadReport, readBrokenChecks, reportDataset } from './load-report.ts';
import { attachPrevious, type CarryOver, keptCondition, measurePrevious } from './previous-tables.ts';
import { areWindowsKnown } from './compare-windows.ts';
import { inLanes, openLanes } from '../runtime/lanes.ts';
import { makeCheckedSchema } from './check-sql.ts';
import { firstMemory, loadSettings, memoryFor, manyRows, rowsOfLanes, settingsOfManyRows } from './load-memory.ts';
import { type LogEntry, snapshotsLogSql } from './snapshots-log.ts';
import { stagedName, Staging } from './staging.ts';
import {
  allTables,
  changesTable,
  datasetTable,
  quarantineTable,
  snapshotsLogTable,
  type TableDefinition,
  placeColumns,
  violationsLogTable,
  violationsTable,
} from './tables.ts';
import {
  agedViolationsSql,
  countAges,
  type NewSnapshot,
  type ViolationAges,
  violationsLogSql,
} from './violation-history.ts';
import { requireDeclaredOrigin, violationSelects } from './violation-selects.ts';
import { parquetPath, snapshotsLogTableName } from '../warehouse/snapshot-format.ts';
import { seal } from '../warehouse/open-published.ts';
import { allModels } from './schema.ts';
import { writeParquet } from './write-parquet.ts';
import type { SourceFile } from '../project/declaration-error.ts';
import type { AnyPipeline, Project } from '../project/declaration.ts';
import type { Batch } from '../stages.ts';

export interface LoadOptions {
  readonly folder: string;
  readonly databaseFile: string;
  readonly project: Project;
  readonly files?: ReadonlyMap<string, SourceFile> | undefined;
  /** Memory limit of DuckDB in bytes; undefined for the default. Beyond it, DuckDB spills to disk. */
  readonly memory?: number | undefined;
  /** The DuckDB file of the previous snapshot, which `finish` may attach. Null for a first snapshot. */
  readonly previous: string | null;
  readonly signal: AbortSignal;
}

export interface Loaded {
  /** By table. */
  readonly reports: ReadonlyMap<string, LoadReport>;
  readonly brokenChecks: readonly BrokenCheck[];
  /** By severity. */
  readonly violationAges: Readonly<Record<string, ViolationAges>>;
  /** Rows of each Parquet file, by its path relative to the folder. */
  readonly parquet: ReadonlyMap<string, number>;
  readonly dictionary: readonly Relation[];
}

/** Quarantined records are long, and DuckDB builds a Parquet row group in memory. */
const rowsOfLongRecords = 2048;

function originOf({ snapshot, source, publishedAt }: LogEntry): Record<string, string> {
  return {
    'rekap.snapshot': snapshot,
    'rekap.source': source,
    'rekap.read_at': publishedAt.toISOString(),
    'rekap.sample': String(source === 'sample'),
  };
}

export class Load {
  private readonly options: LoadOptions;
  private readonly database: Database;
  private readonly staging: Staging;
  /** Connections for statements that don't depend on each other. */
  private lanes: readonly Database[];

  private constructor(options: LoadOptions, database: Database, staging: Staging) {
    this.options = options;
    this.database = database;
    this.staging = staging;
    this.lanes = [database];
  }

  static async begin(options: LoadOptions): Promise<Load> {
    const { folder, project, files, previous, signal } = options;
    const database = await openDatabase(join(folder, options.databaseFile), { settings: loadSettings, signal });
    try {
      const written = [...allTables(project.pipelines), ...allModels(project)].map(({ name }) => parquetPath(name));
      // A declaration may come from someone else. Its queries can reach nothing except the new snapshot's own files.
      await seal(database, {
        memory: firstMemory,
        files: [
          ...written.map((path) => join(folder, path)),
          ...(previous === null ? [] : [previous, `${previous}.wal`]),
        ].map((path) => resolve(path)),
        spill: spillFolder(folder),
        settings: ['memory_limit', 'threads', ...Object.keys(settingsOfManyRows)],
      });
      await makeCheckedSchema(database, project, { files, runsChecks: false });
      return new Load(options, database, await Staging.create(database, project.pipelines));
    } catch (error) {
      database.close();
      throw error;
    }
  }

  append(pipeline: AnyPipeline, batch: Batch): void {
    this.staging.append(pipeline, batch);
  }

  /**
   * Fills the tables, runs the checks, writes Parquet, and closes the file.
   * @param previous The DuckDB file named in the options, or null to start a new history.
   * @param bounds By table, if its windows may have missed changes.
   */
  async finish(
    carryOver: CarryOver,
    log: LogEntry,
    previous: string | null,
    bounds: ReadonlyMap<string, WindowBound> = new Map(),
  ): Promise<Loaded> {
    const { pipelines } = this.options.project;
    const { memory } = this.options;
    await this.set({ memory_limit: `${memory ?? maxMemory}B` });
    this.staging.close();
    if (previous !== null) await attachPrevious(this.database, previous);
    const before = previous === null ? { rows: 0, longest: 0 } : await measurePrevious(this.database);
    const rows = this.staging.appended + before.rows;
    const longest = Math.max(this.staging.longest, before.longest);
    await this.set({ memory_limit: `${memory ?? memoryFor(rows, longest)}B` });
    if (rows > manyRows) await this.set(settingsOfManyRows);
    if (rows > rowsOfLanes) await this.set({ threads: '2' });
    else this.lanes = await openLanes(this.database, 2);
    // Few transactions, because each commit waits for the disk.
    await this.database.run('BEGIN');
    for (const pipeline of pipelines) await this.fillDataset(pipeline, carryOver);
    // DuckDB doesn't know the size of an uncommitted table, and plans the checks across tables badly.
    await this.database.run('COMMIT');
    // The keys of a window are needed until the end.
    const isWindow = ({ table }: AnyPipeline): boolean => 'otherKeys' in (carryOver.get(table) ?? {});
    await this.staging.drop(pipelines.filter((pipeline) => !isWindow(pipeline)).map(({ table }) => table));
    await this.fillViolations(carryOver, { ...log, hasPrevious: previous !== null });
    await this.fillQuarantine(carryOver);
    for (const pipeline of pipelines) await this.markInconsistent(pipeline);
    await this.fillTable(snapshotsLogTable(pipelines), snapshotsLogSql(pipelines, log, previous !== null));
    if (previous !== null)
      await this.fillTable(changesTable(pipelines), await changesSql(this.database, pipelines, log.snapshot, bounds));
    const reports = new Map<string, LoadReport>();
    const scope = { carryOver, snapshot: log.snapshot, hasPrevious: previous !== null };
    for (const pipeline of pipelines) reports.set(pipeline.table, await reportDataset(this.database, pipeline, scope));
    const brokenChecks = await readBrokenChecks(this.database, pipelines, scope);
    const violationAges = await countAges(this.database, scope);
    await this.database.run('COMMIT');
    const windows = pipelines.filter(isWindow).map(({ table }) => table);
    await this.staging.drop([violationsTable(pipelines).name, quarantineTable.name, ...windows]);
    if (previous !== null) await this.database.run('DETACH previous');
    await this.database.run('CHECKPOINT');
    const dictionary = await readDictionary(this.database);
    const parquet = await writeParquet(
      this.lanes,
      dictionary.filter(({ name }) => name !== snapshotsLogTableName),
      {
        folder: this.options.folder,
        origin: originOf(log),
        models: this.options.project.models,
        smallGroups: { [quarantineTable.name]: rowsOfLongRecords },
      },
    );
    this.database.close();
    return { reports, brokenChecks, violationAges, parquet, dictionary };
  }

  /**
   * Returns whether the staged rows of windows are all in the previous snapshot, with their violations and quarantined records.
   *
   * @param previous The DuckDB file named in the options.
   */
  async equalsPrevious(tables: readonly string[], previous: string): Promise<boolean> {
    this.staging.close();
    await attachPrevious(this.database, previous);
    const areKnown = await areWindowsKnown(this.database, this.options.project.pipelines, tables);
    await this.database.run('DETACH previous');
    return areKnown;
  }

  abandon(): void {
    this.database.close();
  }

  private async set(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(settings)) await this.database.run(`SET ${name} = ${quoteText(value)}`);
  }

  private async fillTable(table: TableDefinition, select: string): Promise<void> {
    await this.database.run(
      `INSERT INTO ${quoteIdentifier(table.name)} SELECT * FROM (${select}) ORDER BY ${columnList(table.sortedBy)}`,
    );
  }

  private async fillDataset(pipeline: AnyPipeline, carryOver: CarryOver): Promise<void> {
    const table = datasetTable(pipeline);
    let carried = '';
    const kept = carryOver.get(pipeline.table);
    if (kept !== undefined) {
      const condition = keptCondition(kept, pipeline);
      // A carried-over row starts as consistent, because a change in another table may have fixed its violation.
      carried = ` UNION ALL SELECT ${columnList(Object.keys(pipeline.columns))}, true FROM previous.${quoteIdentifier(pipeline.table)} p WHERE ${condition}`;
    }
    await this.fillTable(table, `SELECT * FROM ${stagedName(pipeline.table)}${carried}`);
    // The transformation already removes duplicate keys. "No duplicates" is a promise, so it is checked again here.
    await requireKeyOrder(this.database, pipeline.table, pipeline.key);
  }

  private async fillViolations(carryOver: CarryOver, now: NewSnapshot): Promise<void> {
    const { pipelines } = this.options.project;
    const before =
      carryOver.size === 0 ? new Set<string>() : await columnNames(this.database, 'previous', 'violations');
    const selects = violationSelects(this.options.project, carryOver, before);
    await inLanes(this.lanes, selects, (lane, select) => lane.run(`INSERT INTO ${stagedName('violations')} ${select}`));
    await requireDeclaredOrigin(this.database, pipelines);
    await this.database.run('BEGIN');
    await this.fillTable(violationsTable(pipelines), await agedViolationsSql(this.database, pipelines, now));
    await this.fillTable(violationsLogTable(pipelines), await violationsLogSql(this.database, pipelines, now));
  }

  /**
   * Carries a quarantined record over with the partition of its request. Records from the full listing are always carried over, and those of a
   * dataset with a window too, until the whole list is read: without a key, nothing shows whether a record was corrected.
   */
  private async fillQuarantine(carryOver: CarryOver): Promise<void> {
    const columns = columnList(quarantineTable.columns.map(({ name }) => name));
    const carried = this.options.project.pipelines.flatMap((pipeline) => {
      const kept = carryOver.get(pipeline.table);
      if (kept === undefined) return [];
      const condition =
        'otherKeys' in kept
          ? `NOT EXISTS (FROM ${stagedName('quarantine')} s WHERE s.dataset = p.dataset AND s.record = p.record)`
          : keptCondition(kept, pipeline, { partition: "coalesce(partition_value, '')" });
      return ` UNION ALL SELECT ${columns} FROM previous.quarantine p WHERE dataset = ${quoteText(pipeline.table)} AND ${condition}`;
    });
    await this.fillTable(quarantineTable, `SELECT * FROM ${stagedName('quarantine')}${carried.join('')}`);
  }

  private async markInconsistent(pipeline: AnyPipeline): Promise<void> {
    const same = placeColumns(this.options.project.pipelines)
      .filter(({ name }) => pipeline.key.includes(name))
      .map(({ name, type }) => `t.${quoteIdentifier(name)}::${type} = v.${quoteIdentifier(name)}`)
      .join(' AND ');
    await this.database.run(
      `UPDATE ${quoteIdentifier(pipeline.table)} t SET ${consistencyColumn} = false FROM violations v
       WHERE t.${consistencyColumn} AND v.severity = 'error' AND v.dataset = ${quoteText(pipeline.table)} AND ${same}`,
    );
  }
}

/** @throws `verification` if the rows aren't sorted by key, or a key is duplicated. */
export async function requireKeyOrder(database: Database, table: string, key: readonly string[]): Promise<void> {
  const columns = columnList(key);
  const [misplaced] = await database.rows(
    `SELECT ${columns} FROM (SELECT ${columns}, lag(row(${columns})) OVER () AS "key before" FROM ${quoteIdentifier(table)})
     WHERE row(${columns}) <= "key before" LIMIT 1`,
  );
  if (misplaced === undefined) return;
  throw new RekapError(
    'verification',
    `The table ${table} has a duplicate key, or rows that are not sorted by key, at ${JSON.stringify(misplaced)}.`,
    'Nothing was published. This is a bug in rekap; please report it.',
  );
}
