/** Finds the evidence for a row: its violations, its history, and the records as received from the source. */

import { messageOf, type MessageParts } from '../load/check-messages.ts';
import { columnList, type Database, quoteIdentifier, quoteText } from '../runtime/database.ts';
import { openPublished } from '../warehouse/open-published.ts';
import { RekapError } from '../errors.ts';
import { type AnyPipeline, sumChecks } from '../project/declaration.ts';
import { joinPartition, partitionParameters } from '../project/partition-list.ts';
import { type Language, languages } from '../project/sql-file.ts';
import type { Page } from '../stages.ts';
import { createKeyReader } from '../kinds/key-reader.ts';
import { findRecords, type ReceivedRecord } from './received-records.ts';
import { changesTableName, sampleNotice, violationsLogTableName } from '../warehouse/snapshot-format.ts';
import { requireDatabase, type Snapshot } from '../warehouse/warehouse.ts';

export interface EvidenceFigure {
  readonly column: string;
  readonly field: string;
  /** As in the table, or null if it is NULL. */
  readonly value: string | null;
}

export interface EvidenceViolation extends MessageParts {
  readonly severity: string;
  readonly message: string;
  readonly messages: Readonly<Record<Language, string>>;
  readonly first_snapshot: string;
  /** UTC, as `2026-11-20 03:00:02`. */
  readonly since: string;
  readonly figures: readonly EvidenceFigure[];
}

/** A changed value, or a violation that appeared or was resolved. */
export interface PastEvent {
  readonly snapshot: string;
  readonly kind: 'restated' | 'appeared' | 'resolved';
  readonly column: string;
  /** Null for a changed value. `before` and `after` are null for a violation. */
  readonly check: string | null;
  readonly before: string | null;
  readonly after: string | null;
}

export interface Evidence {
  readonly notice: string | null;
  readonly dataset: string;
  /** Values of the key, or null for a record in quarantine. */
  readonly place: Readonly<Record<string, string>> | null;
  readonly quarantined: string | null;
  readonly figures: readonly EvidenceFigure[];
  readonly violations: readonly EvidenceViolation[];
  readonly records: readonly ReceivedRecord[];
  readonly history: readonly PastEvent[];
}

export interface EvidenceRequest {
  /** The name to find, in any letter case. Null finds everything in quarantine. */
  readonly name: string | null;
  readonly datasets: readonly string[] | null;
  readonly columns: readonly string[];
}

type Texts = Readonly<Record<string, string | null>>;

/** @throws `usage` if nothing has the name, `landing` if the responses are no longer stored. */
export async function findEvidence(
  warehouse: string,
  snapshot: Snapshot,
  request: EvidenceRequest,
): Promise<Evidence[]> {
  const { project } = snapshot.manifest;
  const database = await openPublished(await requireDatabase(snapshot));
  try {
    const requested = project.pipelines.filter(({ table }) => request.datasets?.includes(table) ?? true);
    const found: Evidence[] = [];
    for (const pipeline of requested) {
      for (const row of await findRows(database, pipeline, request.name))
        found.push(await evidenceOfRow({ database, warehouse, snapshot, pipeline, row, request }));
      for (const row of await findQuarantined(database, pipeline, request.name))
        found.push(await evidenceOfQuarantine(warehouse, snapshot, pipeline, row));
    }
    if (found.length === 0 && request.name !== null) throw await unknownNameError(database, requested, request.name);
    return found;
  } finally {
    database.close();
  }
}

/** Returns the column that holds the name: the last of the key. */
function nameColumn({ key }: AnyPipeline): string {
  return key.at(-1)!;
}

async function findRows(database: Database, pipeline: AnyPipeline, name: string | null): Promise<Texts[]> {
  if (name === null) return [];
  const column = quoteIdentifier(nameColumn(pipeline));
  return database.rows(
    `SELECT COLUMNS(*)::VARCHAR FROM ${quoteIdentifier(pipeline.table)} WHERE upper(${column}::VARCHAR) = upper(${quoteText(name)}) ORDER BY ALL`,
  );
}

function findQuarantined(database: Database, pipeline: AnyPipeline, name: string | null): Promise<Texts[]> {
  const field = pipeline.columns[nameColumn(pipeline)]!.field;
  const isNamed =
    name === null
      ? 'true'
      : `upper(CASE WHEN json_valid(record) THEN record ->> ${quoteText(`$."${field}"`)} END) = upper(${quoteText(name)})`;
  return database.rows(
    `SELECT reason, record, partition_value FROM quarantine WHERE dataset = ${quoteText(pipeline.table)} AND ${isNamed} ORDER BY ALL`,
  );
}

async function unknownNameError(
  database: Database,
  requested: readonly AnyPipeline[],
  name: string,
): Promise<RekapError> {
  const names = new Set<string>();
  for (const pipeline of requested) {
    const column = quoteIdentifier(nameColumn(pipeline));
    const rows = await database.rows<{ name: string }>(
      `SELECT DISTINCT ${column}::VARCHAR AS name FROM ${quoteIdentifier(pipeline.table)}
       WHERE contains(upper(${column}::VARCHAR), upper(${quoteText(name)})) OR levenshtein(upper(${column}::VARCHAR), upper(${quoteText(name)})) <= 3 ORDER BY ALL LIMIT 8`,
    );
    for (const row of rows) names.add(row.name);
  }
  const advice =
    names.size > 0
      ? `Did you mean ${[...names].slice(0, 8).join(', ')}?`
      : `To list all names, run "rekap query 'SELECT DISTINCT ${nameColumn(requested[0]!)} FROM ${requested[0]!.table}'". If it is in another column, add --statement.`;
  const what = `Unknown name ${JSON.stringify(name)}: no row and no record in quarantine has this name.`;
  return new RekapError('usage', what, advice);
}

interface EvidenceRow {
  readonly database: Database;
  readonly warehouse: string;
  readonly snapshot: Snapshot;
  readonly pipeline: AnyPipeline;
  readonly row: Texts;
  readonly request: EvidenceRequest;
}

async function evidenceOfRow(context: EvidenceRow): Promise<Evidence> {
  const { database, warehouse, snapshot, pipeline, row, request } = context;
  const { table, key } = pipeline;
  const here = [
    `dataset = ${quoteText(table)}`,
    ...key.map((name) => `${quoteIdentifier(name)}::VARCHAR = ${quoteText(row[name]!)}`),
  ].join(' AND ');
  const ofColumns = (column: string) => request.columns.length === 0 || request.columns.includes(column);
  const violations = await database.rows<Texts>(
    `SELECT COLUMNS(*)::VARCHAR FROM violations WHERE ${here} ORDER BY ALL`,
  );
  const keyOf = createKeyReader(pipeline);
  const rowKey = key.map((name) => row[name]!).join('\u0000');
  const matches = (page: Page, record: number): boolean => keyOf(page, record)?.join('\u0000') === rowKey;
  const values = partitionParameters(pipeline).map(({ column }) => row[column]!);
  const id = values.length === 0 ? null : joinPartition(values);
  return {
    notice: sampleNotice(snapshot.manifest),
    dataset: table,
    place: Object.fromEntries(key.map((column) => [column, row[column]!])),
    quarantined: null,
    figures: figuresOf(context, request.columns),
    violations: violations
      .filter((violation) => partsOf(pipeline, violation).some(ofColumns))
      .map((violation) => describeViolation(context, violation)),
    records: await findRecords(warehouse, snapshot, pipeline, id, matches),
    history: await readHistory(database, here, ofColumns),
  };
}

function describeViolation(context: EvidenceRow, violation: Texts): EvidenceViolation {
  const { snapshot, pipeline } = context;
  const parts = violation as unknown as Omit<EvidenceViolation, 'messages' | 'figures'>;
  const { project } = snapshot.manifest;
  const translated = languages.map((language) => [language, messageOf(project, parts, language)] as const);
  const messages = Object.fromEntries(translated) as Record<Language, string>;
  return { ...parts, messages, figures: figuresOf(context, partsOf(pipeline, violation)) };
}

function figuresOf({ pipeline: { columns }, row }: EvidenceRow, names: readonly string[]): EvidenceFigure[] {
  const declared = names.filter((column) => columns[column] !== undefined);
  return declared.map((column) => ({ column, field: columns[column]!.field, value: row[column] ?? null }));
}

/** Returns the columns that a violation is about, with the total of a sum last. */
function partsOf(pipeline: AnyPipeline, violation: Texts): string[] {
  const sum = sumChecks(pipeline).find(({ name }) => name === violation['check_name']);
  return [...(sum?.parts ?? []), violation['column_name']!];
}

async function evidenceOfQuarantine(
  warehouse: string,
  snapshot: Snapshot,
  pipeline: AnyPipeline,
  { reason, record, partition_value: partition = null }: Texts,
): Promise<Evidence> {
  const matches = (page: Page, index: number) =>
    page.bytes.toString('utf8', page.records.recordStart[index], page.records.recordEnd[index]) === record;
  const records = await findRecords(warehouse, snapshot, pipeline, partition, matches);
  return {
    notice: sampleNotice(snapshot.manifest),
    dataset: pipeline.table,
    place: null,
    quarantined: reason!,
    figures: [],
    violations: [],
    records,
    history: [],
  };
}

async function readHistory(
  database: Database,
  here: string,
  matchesColumn: (column: string) => boolean,
): Promise<PastEvent[]> {
  const columns = columnList(['snapshot', 'kind', 'column', 'check', 'before', 'after']);
  const rows = await database.rows<PastEvent>(
    `SELECT ${columns} FROM (
       SELECT snapshot_id AS snapshot, 'restated' AS kind, column_name AS "column", NULL AS "check", old_value AS before, new_value AS after
         FROM ${changesTableName} WHERE ${here}
       UNION ALL SELECT first_snapshot, 'appeared', column_name, check_name, NULL, NULL FROM ${violationsLogTableName} WHERE ${here}
       UNION ALL SELECT resolved_snapshot, 'resolved', column_name, check_name, NULL, NULL FROM ${violationsLogTableName}
         WHERE resolved_snapshot IS NOT NULL AND ${here}
     ) ORDER BY ALL`,
  );
  return rows.filter(({ column }) => matchesColumn(column));
}
