/** Takes Arrow batches into temporary tables: numbers as they are, texts as codes into one table of texts. */

import type { DuckDBAppender, DuckDBType } from '@duckdb/node-api';
import type { RecordBatch } from 'apache-arrow';
import { consistencyColumn } from '../define-pipeline.ts';
import { type Database, duckdb, quoteIdentifier } from '../duckdb/database.ts';
import { type ChunkColumn, chunkRows, fillChunk } from '../duckdb/fill-chunk.ts';
import { weighNotes } from './table-memory.ts';
import { placeColumns, quarantineTable, type TableDefinition, violationsTable } from './tables.ts';
import { TextStage } from './text-stage.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Batch, Quarantined, Violation } from '../stages.ts';

/** Up to so many rows the appenders hand over to the tables when they are full, or at the end: seldom is quicker than often. */
const smallLoad = 262_144;
/** In a larger load they do so whenever so many more have come, for what they hold counts against no limit on memory. */
const rowsHeld = 65_536;

/** The temporary tables of one load. */
export class Staging {
  /** Rows of all tables that were appended. */
  appended = 0;
  /** Bytes of memory that the violations and the quarantined records need to be sorted. */
  weightOfNotes = 0;
  private flushAt = smallLoad;
  private readonly database: Database;
  private readonly violations: DuckDBAppender;
  private readonly quarantine: DuckDBAppender;
  private readonly texts: ReadonlyMap<string, TextStage>;
  private readonly rows: ReadonlyMap<string, DuckDBAppender>;
  private readonly violationColumns: readonly string[];

  private constructor(
    database: Database,
    pipelines: readonly AnyPipeline[],
    appenders: ReadonlyMap<string, DuckDBAppender>,
    texts: ReadonlyMap<string, TextStage>,
  ) {
    this.database = database;
    this.rows = appenders;
    this.violations = appenders.get('violations')!;
    this.quarantine = appenders.get('quarantine')!;
    this.texts = texts;
    this.violationColumns = placeColumns(pipelines).map(({ name }) => name);
  }

  static async create(database: Database, pipelines: readonly AnyPipeline[]): Promise<Staging> {
    const appenders = new Map<string, DuckDBAppender>();
    const texts = new Map<string, TextStage>();
    for (const table of [violationsTable(pipelines), quarantineTable]) {
      await database.run(createStagingSql(table));
      appenders.set(table.name, await database.connection.createAppender(`staging_${table.name}`, 'main', 'temp'));
    }
    for (const pipeline of pipelines) {
      const columns = Object.keys(pipeline.columns).map((name) => `${quoteIdentifier(name)} INTEGER`);
      await database.run(
        `CREATE TEMP TABLE ${quoteIdentifier(`staging_${pipeline.table}`)} (${columns.join(', ')}, ${consistencyColumn} BOOLEAN)`,
      );
      appenders.set(
        pipeline.table,
        await database.connection.createAppender(`staging_${pipeline.table}`, 'main', 'temp'),
      );
      for (const name of textStageNames(pipeline)) texts.set(name, await TextStage.create(database, name));
    }
    return new Staging(database, pipelines, appenders, texts);
  }

  /** Appends a batch. Blocks while DuckDB copies, some milliseconds per ten thousand rows. */
  append(pipeline: AnyPipeline, batch: Batch): void {
    this.appended += batch.rows.numRows + batch.violations.length + batch.quarantined.length;
    this.weightOfNotes += weighNotes(batch);
    if (batch.rows.numRows > 0) this.appendRows(pipeline, batch.rows);
    for (const violation of batch.violations) appendRow(this.violations, this.violationValues(violation));
    for (const record of batch.quarantined) appendRow(this.quarantine, quarantineValues(record));
    if (this.appended < this.flushAt) return;
    this.flushAt = this.appended + rowsHeld;
    for (const appender of this.appenders()) appender.flushSync();
  }

  /** Flushes and closes the appenders; the temporary tables are complete afterwards. */
  close(): void {
    for (const appender of this.appenders()) appender.closeSync();
  }

  /** SELECT that gives a pipeline's staged rows with their texts, columns in the table's order. */
  static selectSql(pipeline: AnyPipeline): string {
    const columns = Object.entries(pipeline.columns);
    const texts = columns.filter(([, { kind }]) => kind === 'text').map(([name]) => name);
    const expressions = columns.map(([name, { kind }]) =>
      kind === 'text'
        ? `${quoteIdentifier(`text_${name}`)}.text AS ${quoteIdentifier(name)}`
        : `s.${quoteIdentifier(name)}`,
    );
    const joins = texts.map((name) => {
      const alias = quoteIdentifier(`text_${name}`);
      return `LEFT JOIN ${quoteIdentifier(textStageName(pipeline, name))} ${alias} ON ${alias}.code = s.${quoteIdentifier(name)}`;
    });
    return `SELECT ${expressions.join(', ')}, s.${consistencyColumn} FROM ${quoteIdentifier(`staging_${pipeline.table}`)} s ${joins.join(' ')}`;
  }

  async drop(pipelines: readonly AnyPipeline[]): Promise<void> {
    const names = ['violations', 'quarantine', ...pipelines.map(({ table }) => table)].map((name) => `staging_${name}`);
    const all = [...names, ...pipelines.flatMap(textStageNames)];
    await this.database.run(all.map((name) => `DROP TABLE temp.${quoteIdentifier(name)}`).join('; '));
  }

  private appenders(): DuckDBAppender[] {
    return [...this.rows.values(), ...[...this.texts.values()].map(({ appender }) => appender)];
  }

  private appendRows(pipeline: AnyPipeline, rows: RecordBatch): void {
    const appender = this.rows.get(pipeline.table)!;
    const types: DuckDBType[] = [];
    const columns: ChunkColumn[] = [];
    for (const [index, data] of rows.data.children.entries()) {
      // Of the columns that a batch has, only booleans come in bytes of bits.
      const isBoolean = data.values instanceof Uint8Array;
      types.push(isBoolean ? duckdb().BOOLEAN : duckdb().INTEGER);
      columns.push({
        values: isBoolean
          ? unpackBits(data.values, rows.numRows)
          : data.dictionary
            ? this.texts.get(textStageName(pipeline, rows.schema.fields[index]!.name))!.encode(data, data.dictionary)
            : (data.values as Int32Array),
        validity: data.nullCount > 0 ? data.nullBitmap : null,
      });
    }
    for (let from = 0; from < rows.numRows; from += chunkRows) {
      appender.appendDataChunk(fillChunk(types, columns, from, Math.min(chunkRows, rows.numRows - from)));
    }
  }

  private violationValues(violation: Violation): (string | number | null)[] {
    return [
      violation.dataset,
      ...this.violationColumns.map((name) => violation.place[name] ?? null),
      violation.check_name,
      violation.severity,
      violation.column_name,
      violation.raw_value,
      violation.expected,
      violation.actual,
      violation.message,
    ];
  }
}

/** Names of the temporary tables that hold the texts of a pipeline's text columns. */
function textStageNames(pipeline: AnyPipeline): string[] {
  const texts = Object.entries(pipeline.columns).filter(([, { kind }]) => kind === 'text');
  return texts.map(([column]) => textStageName(pipeline, column));
}

function textStageName({ table }: AnyPipeline, column: string): string {
  return `staging_${table}_${column}`;
}

function quarantineValues(record: Quarantined): string[] {
  return [record.dataset, record.reason, record.record, record.request];
}

function appendRow(appender: DuckDBAppender, values: readonly (string | number | null)[]): void {
  for (const value of values) {
    if (value === null) appender.appendNull();
    else if (typeof value === 'number') appender.appendInteger(value);
    else appender.appendVarchar(value);
  }
  appender.endRow();
}

function createStagingSql(table: TableDefinition): string {
  const columns = table.columns.map(({ name, type }) => `${quoteIdentifier(name)} ${type}`).join(', ');
  return `CREATE TEMP TABLE ${quoteIdentifier(`staging_${table.name}`)} (${columns})`;
}

function unpackBits(bits: Uint8Array, rows: number): Uint8Array {
  const bytes = new Uint8Array(rows);
  for (let row = 0; row < rows; row += 1) bytes[row] = (bits[row >> 3]! >> (row & 7)) & 1;
  return bytes;
}
