/** Takes Arrow batches into temporary tables: numbers as they are, texts as codes into one table of texts. */

import { BOOLEAN, INTEGER, VARCHAR, DuckDBDataChunk, type DuckDBAppender, type DuckDBType } from '@duckdb/node-api';
import { DataType, type Data, type RecordBatch, type Vector } from 'apache-arrow';
import { type Database } from '../database.ts';
import { quoteIdentifier } from '../sql-text.ts';
import type { AnyPipeline, Batch, Quarantined, Violation } from '../pipeline.ts';
import { chunkRows, fillChunk, type ChunkColumn } from './fill-chunk.ts';
import { placeColumns, quarantineTable, violationsTable, type TableDefinition } from './tables.ts';

/** So many texts keep one code each; then the map begins anew, and a text may get a second code, which the join does not mind. */
const rememberedTexts = 65_536;

/** The temporary tables of one load. */
export class Staging {
  private readonly database: Database;
  private readonly violations: DuckDBAppender;
  private readonly quarantine: DuckDBAppender;
  private readonly texts: DuckDBAppender;
  private readonly rows: ReadonlyMap<string, DuckDBAppender>;
  private readonly violationColumns: readonly string[];
  private codeOf = new Map<string, number>();
  private nextCode = 0;

  private constructor(
    database: Database,
    pipelines: readonly AnyPipeline[],
    appenders: ReadonlyMap<string, DuckDBAppender>,
  ) {
    this.database = database;
    this.rows = appenders;
    this.violations = appenders.get('violations')!;
    this.quarantine = appenders.get('quarantine')!;
    this.texts = appenders.get('texts')!;
    this.violationColumns = placeColumns(pipelines).map(({ name }) => name);
  }

  static async create(database: Database, pipelines: readonly AnyPipeline[]): Promise<Staging> {
    await database.run('CREATE TEMP TABLE staging_texts (code INTEGER, text VARCHAR)');
    const appenders = new Map([['texts', await database.connection.createAppender('staging_texts', 'main', 'temp')]]);
    for (const table of [violationsTable(pipelines), quarantineTable]) {
      await database.run(createStagingSql(table));
      appenders.set(table.name, await database.connection.createAppender(`staging_${table.name}`, 'main', 'temp'));
    }
    for (const pipeline of pipelines) {
      const columns = Object.keys(pipeline.columns).map((name) => `${quoteIdentifier(name)} INTEGER`);
      await database.run(
        `CREATE TEMP TABLE ${quoteIdentifier(`staging_${pipeline.table}`)} (${columns.join(', ')}, is_consistent BOOLEAN)`,
      );
      appenders.set(
        pipeline.table,
        await database.connection.createAppender(`staging_${pipeline.table}`, 'main', 'temp'),
      );
    }
    return new Staging(database, pipelines, appenders);
  }

  /** Appends a batch. Blocks while DuckDB copies, some milliseconds per ten thousand rows. */
  append(pipeline: AnyPipeline, batch: Batch): void {
    if (batch.rows.numRows > 0) this.appendRows(this.rows.get(pipeline.table)!, batch.rows);
    for (const violation of batch.violations) appendRow(this.violations, this.violationValues(violation));
    for (const record of batch.quarantined) appendRow(this.quarantine, quarantineValues(record));
  }

  /** Flushes and closes the appenders; the temporary tables are complete afterwards. */
  close(): void {
    for (const appender of this.rows.values()) appender.closeSync();
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
    const joins = texts.map(
      (name) =>
        `LEFT JOIN staging_texts ${quoteIdentifier(`text_${name}`)} ON ${quoteIdentifier(`text_${name}`)}.code = s.${quoteIdentifier(name)}`,
    );
    return `SELECT ${expressions.join(', ')}, s.is_consistent FROM ${quoteIdentifier(`staging_${pipeline.table}`)} s ${joins.join(' ')}`;
  }

  async drop(pipelines: readonly AnyPipeline[]): Promise<void> {
    const names = ['texts', 'violations', 'quarantine', ...pipelines.map(({ table }) => table)];
    await this.database.run(names.map((name) => `DROP TABLE temp.${quoteIdentifier(`staging_${name}`)}`).join('; '));
  }

  private appendRows(appender: DuckDBAppender, rows: RecordBatch): void {
    const types: DuckDBType[] = [];
    const columns: ChunkColumn[] = [];
    for (const data of rows.data.children) {
      const isBoolean = DataType.isBool(data.type);
      types.push(isBoolean ? BOOLEAN : INTEGER);
      columns.push({
        values: isBoolean
          ? unpackBits(data.values as Uint8Array, rows.numRows)
          : data.dictionary
            ? this.globalCodes(data, data.dictionary)
            : (data.values as Int32Array),
        validity: data.nullCount > 0 ? data.nullBitmap : null,
      });
    }
    for (let from = 0; from < rows.numRows; from += chunkRows) {
      appender.appendDataChunk(fillChunk(types, columns, from, Math.min(chunkRows, rows.numRows - from)));
    }
  }

  /** A dictionary column's codes, those of the batch replaced by those of the staging table. */
  private globalCodes(data: Data, dictionary: Vector): Int32Array {
    const local = data.values as Int32Array;
    const globalOf = new Int32Array(dictionary.length);
    const fresh: string[] = [];
    const firstFresh = this.nextCode;
    for (let index = 0; index < dictionary.length; index += 1) {
      const text = dictionary.get(index) as string;
      let code = this.codeOf.get(text);
      if (code === undefined) {
        code = this.nextCode;
        this.nextCode += 1;
        this.codeOf.set(text, code);
        fresh.push(text);
      }
      globalOf[index] = code;
    }
    this.appendTexts(fresh, firstFresh);
    if (this.codeOf.size > rememberedTexts) this.codeOf = new Map();
    return local.map((code) => (code < 0 ? 0 : globalOf[code]!));
  }

  private appendTexts(texts: readonly string[], firstCode: number): void {
    for (let from = 0; from < texts.length; from += chunkRows) {
      const slice = texts.slice(from, from + chunkRows);
      const chunk = DuckDBDataChunk.create([INTEGER, VARCHAR], slice.length);
      chunk.setColumns([slice.map((_, index) => firstCode + from + index), slice]);
      this.texts.appendDataChunk(chunk);
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
