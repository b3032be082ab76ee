/** Serves the current snapshot of a warehouse, as received or restored from its tables, and follows `current`. */

import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { isRekapError, messageOf, RekapError } from '../errors.ts';
import { kindOf } from '../kinds/kinds.ts';
import type { AnyPipeline, ColumnDefinition } from '../project/declaration.ts';
import { fieldPath, writeMember } from '../project/field-path.ts';
import {
  buildRecordSet,
  fixedSource,
  readRecord,
  type RecordSet,
  type RecordSource,
  type ServedRecord,
} from './record-source.ts';
import { readReceived } from './received-records.ts';
import { warehousePaths } from '../warehouse/snapshot-format.ts';
import { readCurrentId, requireCurrent, requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

/** Milliseconds between checks of `current`, which run in the background. */
const checkInterval = 1_000;
/** Each failure doubles the interval up to this, because a check reads much and reports its failure. */
const maxInterval = 60_000;

/**
 * Reads the current snapshot into memory. When `current` changes, loads the new one in the background and then replaces the old one.
 * Calls `onFailure` if a new snapshot can't be read, and retries at the next check.
 * @throws `snapshot-not-found` or `warehouse` without a usable current snapshot, `served-data` if it doesn't have the pipelines' tables.
 */
export async function openWarehouseSource(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
  { onFailure = () => {} }: { readonly onFailure?: (error: unknown) => void } = {},
): Promise<RecordSource> {
  let loaded = await loadCurrent(warehouse, pipelines);
  let interval = checkInterval;
  let checking: Promise<void> | undefined;
  let closed = false;

  async function check(): Promise<void> {
    try {
      if ((await readCurrentId(warehouse)) !== loaded.id) loaded = await loadCurrent(warehouse, pipelines);
      interval = checkInterval;
    } catch (error) {
      interval = Math.min(2 * interval, maxInterval);
      onFailure(error);
    }
    if (!closed) timer = scheduleCheck();
  }

  function scheduleCheck(): NodeJS.Timeout {
    return setTimeout(() => void (checking = check()), interval).unref();
  }

  let timer = scheduleCheck();
  return {
    current: (pipeline) => loaded.source.current(pipeline),
    snapshot: () => loaded.snapshot,
    async close() {
      closed = true;
      clearTimeout(timer);
      await checking;
    },
  };
}

async function loadCurrent(
  warehouse: string,
  pipelines: readonly AnyPipeline[],
): Promise<{ readonly id: string; readonly snapshot: Snapshot; readonly source: RecordSource }> {
  const snapshot = await requireCurrent(warehouse);
  const { id, manifest } = snapshot;
  // The time of the link, because after a rollback the older snapshot is newer for clients.
  const lastModified = (await lstat(warehousePaths(warehouse).current)).mtime;
  // Otherwise the time of another link would hide the next change.
  if ((await readCurrentId(warehouse)) !== id) return loadCurrent(warehouse, pipelines);
  const sets = new Map<string, RecordSet>();
  const file = await requireDatabase(snapshot);
  try {
    const received = await readReceived(warehouse, snapshot);
    const database = await openPublished(file);
    try {
      for (const pipeline of pipelines) {
        // A dataset that is newer than the snapshot has no records.
        const { table } = pipeline;
        const asReceived = received.get(table);
        const records =
          asReceived ?? (manifest.datasets[table] === undefined ? [] : await restoreRecords(database, pipeline));
        sets.set(table, { ...buildRecordSet(records, lastModified), isReceived: asReceived !== undefined });
      }
    } finally {
      database.close();
    }
  } catch (error) {
    if (isRekapError(error, 'database-held')) throw error;
    const next = `To check the snapshot for damage, run "rekap snapshots verify". A new sync creates the tables ${pipelines.map(({ table }) => table).join(' and ')} again.`;
    throw new RekapError('served-data', `${file} cannot be served: ${messageOf(error)}`, next, { cause: error });
  }
  return { id, snapshot, source: fixedSource(sets) };
}

type Row = Readonly<Record<string, string | null>>;

/**
 * Restores the records of a dataset: rows sorted by key, then quarantined records as received.
 * Values become strings under the source's field names, and NULLs become the values that `violations` recorded. Leading
 * zeros of counts, repeated records and the order of the source are lost, but a sync creates the same tables from the result.
 */
async function restoreRecords(database: Database, pipeline: AnyPipeline): Promise<ServedRecord[]> {
  const lost = await readNullSources(database, pipeline);
  const columns = Object.entries(pipeline.columns);
  const rows = await database.rows<Row>(
    `SELECT ${textsSql(pipeline, Object.keys(pipeline.columns))} FROM ${quoteIdentifier(pipeline.table)} t ORDER BY ${pipeline.key.map((column) => `t.${quoteIdentifier(column)}`).join(', ')}`,
  );
  const texts = rows.map((row) => {
    const key = keyOf(row, pipeline);
    const record = {};
    const inserted: (readonly [placeholder: string, json: string])[] = [];
    for (const [name, { field, kind }] of columns) {
      const value = row[name] ?? null;
      let restored = value ?? lost.get(`${key} ${name}`);
      if (restored === undefined) continue;
      // A malformed text is the JSON of something else. As a string, it would be valid.
      const isLostText = value === null && kind === 'text';
      if (restored !== null && restored !== '' && (isLostText || kind === 'json')) {
        const placeholder = randomUUID();
        inserted.push([`"${placeholder}"`, restored]);
        restored = placeholder;
      }
      writeMember(record, fieldPath(field), restored);
    }
    return inserted.reduce(
      (text, [placeholder, json]) => text.replace(placeholder, () => json),
      JSON.stringify(record),
    );
  });
  // Quarantined records come after the rows that they may repeat.
  const quarantined = await database.rows<{ record: string }>(
    'SELECT record FROM quarantine WHERE dataset = $1 ORDER BY rowid',
    [pipeline.table],
  );
  return [...texts, ...quarantined.map(({ record }) => record)].map((text) => readRecord(text, pipeline));
}

/** Returns the source's values for NULLs, by key and column. Fields without an entry were missing. */
async function readNullSources(database: Database, pipeline: AnyPipeline): Promise<Map<string, string | null>> {
  const rows = await database.rows<Row>(
    `SELECT ${textsSql(pipeline, pipeline.key)}, column_name AS lost_column,
            CASE check_name WHEN 'malformed' THEN raw_value WHEN 'empty' THEN '' END AS lost_value
     FROM violations t WHERE dataset = $1 AND check_name IN ('null', 'empty', 'malformed')`,
    [pipeline.table],
  );
  return new Map(rows.map((row) => [`${keyOf(row, pipeline)} ${row['lost_column']}`, row['lost_value'] ?? null]));
}

/** Returns SQL of columns as texts that a sync reads as exactly the same values. */
function textsSql({ columns }: AnyPipeline, names: readonly string[]): string {
  return names
    .map((name) => {
      const definition = columns[name]!;
      const column = quoteIdentifier(name);
      // Datasets that share the name of a key column may declare different types.
      const text = `t.${column}::${kindOf(definition).sqlType}::VARCHAR`;
      return `${writtenSql(definition, `t.${column}`, text)} AS ${column}`;
    })
    .join(', ');
}

/** Returns SQL of a value as the source writes it. Groups of digits are left out, because a sync doesn't need them. */
function writtenSql(definition: ColumnDefinition, column: string, text: string): string {
  switch (definition.kind) {
    case 'date':
      return definition.format === undefined ? text : `strftime(${column}, ${strftimeOf(definition.format)})`;
    case 'timestamp': {
      const { format, offset = '+00:00' } = definition;
      if (format === undefined) return `replace(${text}, ' ', 'T') || 'Z'`;
      if (format === 's') return `(epoch_us(${column})::DECIMAL(31,0) * 0.000001)::VARCHAR`;
      if (format === 'ms') return `(epoch_us(${column})::DECIMAL(31,0) * 0.001)::VARCHAR`;
      const minutes = Number(`${offset[0]}1`) * (60 * Number(offset.slice(1, 3)) + Number(offset.slice(4)));
      return `strftime(${column} + INTERVAL (${minutes}) MINUTE, ${strftimeOf(format)})`;
    }
    case 'decimal': {
      // DuckDB omits the zero of 0.5 in a DECIMAL(4,4).
      const plain = `regexp_replace(${text}, '^(-?)[.]', '\\10.')`;
      return definition.point === undefined ? plain : `replace(${plain}, '.', ${quoteText(definition.point)})`;
    }
    default:
      return text;
  }
}

function strftimeOf(format: string): string {
  const parts: Readonly<Record<string, string>> = { YYYY: '%Y', MM: '%m', DD: '%d', HH: '%H', mm: '%M', ss: '%S' };
  return quoteText(format.replaceAll('%', '%%').replaceAll(/YYYY|MM|DD|HH|mm|ss/g, (name) => parts[name]!));
}

function keyOf(row: Row, { key }: AnyPipeline): string {
  return JSON.stringify(key.map((name) => row[name]));
}
