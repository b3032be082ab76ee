/** Returns the reasons why a snapshot must not be published. */

import type { RekapError } from '../errors.ts';
import { countOf, formatNumber } from '../runtime/text.ts';
import { type AnyPipeline, summedColumns } from '../project/declaration.ts';
import type { SqlFile } from '../project/sql-file.ts';
import { comparePartitions } from '../project/partition-list.ts';
import { NullReason, repeatedKey } from '../project/reserved.ts';
import { type Grade, grades, type PartitionRows } from '../stages.ts';
import type { BrokenCheck, LoadReport } from '../load/load-report.ts';
import type { Manifest, ManifestDataset } from '../warehouse/snapshot-format.ts';
import type { SyncOptions } from './run.ts';

/** Maximum share by which a dataset may lose rows, and the sum of a watched column may change, without confirmation. */
const maxShrinkage = 0.05;
/** Larger than for datasets, because most partitions have few rows. */
const maxPartitionShrinkage = 0.5;
const maxMovement = 0.1;
/** Other sums may also change by this share of the total, because a few records change a small sum a lot. */
const smallMovement = 0.01;
/** Maximum share of records with the key of another one in the first snapshot of a dataset. */
const maxRepeated = 0.1;
/** Maximum share of records in quarantine in the first snapshot of a dataset: a kind or a format may be declared wrong. */
const maxQuarantined = 0.5;
/** Maximum sums or partitions to name per dataset. More of them have the same cause. */
const maxNamed = 5;

export interface GateInput extends Pick<SyncOptions, 'requireProof' | 'strict' | 'refuse' | 'acceptChanges'> {
  readonly pipelines: readonly AnyPipeline[];
  readonly checks: readonly SqlFile[];
  readonly manifest: Manifest;
  readonly previous: Manifest | null;
  readonly requested: readonly string[];
  readonly reports: ReadonlyMap<string, Pick<LoadReport, 'shrunken' | 'quarantine'>>;
  readonly brokenChecks: readonly BrokenCheck[];
  /** By table, the error of the source if it refused every request. */
  readonly refused: Readonly<Record<string, RekapError | null>>;
}

/** `refusals` can't be overridden, `strict` come from --strict or --refuse, and --accept-changes accepts `changes`. */
export interface GateFindings {
  readonly refusals: readonly string[];
  readonly strict: readonly string[];
  readonly changes: readonly string[];
}

export function checkGate(input: GateInput): GateFindings {
  const refusals: string[] = [];
  const strict: string[] = [];
  const changes: string[] = [];
  for (const pipeline of input.pipelines) {
    const { table } = pipeline;
    const dataset = input.manifest.datasets[table];
    if (dataset === undefined) continue;
    const errors = input.brokenChecks.filter((check) => check.dataset === table && check.severity === 'error');
    refusals.push(...ledgerProblems(table, dataset));
    if (input.requested.includes(table) && dataset.rows === 0)
      refusals.push(`${table} is empty: ${whyEmpty(input.refused[table] ?? null)}${quarantineReason(input, [table])}`);
    else if (
      input.requested.includes(table) &&
      summedColumns(pipeline).length > 0 &&
      summedColumns(pipeline).every((name) => dataset.nulls[name] === dataset.rows)
    )
      refusals.push(
        `${table} does not contain figures: all counts of its ${countOf(dataset.rows, 'row')} are missing or malformed${exampleOf(errors, summedColumns(pipeline))}`,
      );
    if (input.requireProof !== null && input.requested.includes(table))
      refusals.push(...weakProofs(table, dataset, input.requireProof));
    if (input.strict) strict.push(...strictProblems(table, dataset, errors));
    const before = input.previous?.datasets[table];
    if (input.refuse === 'new-errors' && before !== undefined)
      strict.push(...newProblems(table, dataset, before, errors));
    if (before === undefined && !input.acceptChanges) changes.push(...unusableRecords(pipeline, dataset, input));
    if (before !== undefined && !input.acceptChanges) {
      changes.push(...partitionChanges(table, dataset, before, input.reports.get(table)?.shrunken ?? []));
      changes.push(...datasetChanges(pipeline, dataset, before, errors));
      changes.push(...refusedChecks(table, input));
    }
  }
  if (!input.acceptChanges) changes.push(...removedDatasets(input));
  if (input.previous !== null && !input.acceptChanges && hasNoRecords(input, 'published'))
    changes.push(
      hasNoRecords(input, 'fetched')
        ? 'the source does not have records of the requested partitions: a partition ID may be mistyped'
        : `all records of the requested partitions are in quarantine${quarantineReason(input, input.requested)}`,
    );
  return { refusals, strict, changes };
}

/**
 * Reports a key that does not identify a record, and a declaration that most records don't fit. Later, fewer rows than in the previous snapshot
 * show both.
 */
function* unusableRecords(
  { table, key }: AnyPipeline,
  { ledger }: ManifestDataset,
  input: GateInput,
): Generator<string> {
  const found = input.reports.get(table)?.quarantine ?? [];
  const repeated = found.find(({ reason }) => reason === repeatedKey)?.count ?? 0;
  const all = found.reduce((sum, { count }) => sum + count, 0);
  if (repeated > ledger.fetched * maxRepeated)
    yield `${table}: ${countOf(repeated, 'record')} of ${formatNumber(ledger.fetched)} have the key of another record (${key.join(', ')}), but other values`;
  else if (all > ledger.fetched * maxQuarantined)
    yield `${table}: most of ${countOf(ledger.fetched, 'record')} can't be used${quarantineReason(input, [table])}`;
}

/** Returns the number of records in quarantine and the most frequent reason, as the end of a sentence. */
function quarantineReason({ reports }: GateInput, tables: readonly string[]): string {
  const found = tables.flatMap((table) => reports.get(table)?.quarantine ?? []);
  const all = found.reduce((sum, { count }) => sum + count, 0);
  const [first] = found;
  if (first === undefined) return '';
  return ` (${countOf(all, 'record')} in quarantine, ${formatNumber(first.count)} because ${first.reason})`;
}

/** Returns the message of a violation as the end of a sentence. `columns` limits it to violations about these columns. */
function exampleOf(checks: readonly BrokenCheck[], columns?: readonly string[]): string {
  const found = checks
    .flatMap(({ examples }) => examples)
    .find(({ message }) => columns?.some((column) => message.startsWith(`${column} (`)) ?? true);
  if (found === undefined) return '';
  const place = [found.partition, found.place].filter((part) => part !== null && part !== '').join(', ');
  return `; for example, ${place === '' ? '' : `${place}: `}${found.message}`;
}

function whyEmpty(refused: RekapError | null): string {
  return refused === null
    ? 'the source did not return usable records'
    : `${refused.message.replace(/\.$/, '')}. ${refused.next}`;
}

function* weakProofs(table: string, { partitions }: ManifestDataset, required: Grade): Generator<string> {
  const isWeak = (grade: Grade | null): grade is Grade =>
    grade !== null && grades.indexOf(grade) > grades.indexOf(required);
  const found = [...new Set(partitions.flatMap(({ grade }) => (isWeak(grade) ? [grade] : [])))];
  for (const grade of found) {
    const count = partitions.filter((verdict) => verdict.grade === grade).length;
    yield `${table}: the proof of ${countOf(count, 'list')} is only "${grade}", weaker than "${required}" (--require-proof)`;
  }
}

/** Reports datasets that the project no longer declares. Otherwise nobody notices that their tables disappeared. */
function removedDatasets({ manifest, previous }: GateInput): string[] {
  const gone = Object.entries(previous?.datasets ?? {}).filter(([table]) => manifest.datasets[table] === undefined);
  return gone.map(
    ([table, { rows }]) =>
      `${table}: the project no longer contains this dataset, which has ${countOf(rows, 'row')} in the previous snapshot (dataset-gone)`,
  );
}

/** Checks only this run, because a complete snapshot may consist of carried-over records. */
function hasNoRecords({ requested, manifest }: GateInput, what: 'fetched' | 'published'): boolean {
  return requested.every((table) => manifest.datasets[table]?.ledger[what] === 0);
}

/** Checks that every fetched record is published, quarantined or a duplicate. */
export function* ledgerProblems(table: string, { ledger, rows, carried_over }: ManifestDataset): Generator<string> {
  const { fetched, published, quarantined, duplicates } = ledger;
  if (fetched !== published + quarantined + duplicates) {
    yield `${table}: the ledger does not balance: ${formatNumber(fetched)} fetched, but ${formatNumber(published)} published + ${formatNumber(quarantined)} quarantined + ${formatNumber(duplicates)} duplicates`;
  }
  if (rows !== published + carried_over)
    yield `${table}: the ledger does not balance: ${formatNumber(rows)} rows, but ${formatNumber(published)} published + ${formatNumber(carried_over)} carried over`;
}

function* strictProblems(table: string, dataset: ManifestDataset, errors: readonly BrokenCheck[]): Generator<string> {
  const all = errors.reduce((sum, { count }) => sum + count, 0);
  const byCheck = errors.map(({ check, count }) => `${check} ${formatNumber(count)}`).join(', ');
  if (all > 0)
    yield `${table}: ${countOf(all, 'violation')} of severity error (--strict); by check: ${byCheck}${exampleOf(errors)}`;
  if (dataset.quarantined > 0) yield `${table}: ${countOf(dataset.quarantined, 'record')} in quarantine (--strict)`;
}

function* newProblems(
  table: string,
  dataset: ManifestDataset,
  before: ManifestDataset,
  errors: readonly BrokenCheck[],
): Generator<string> {
  const added = errors.filter((check) => check.new > 0);
  const all = added.reduce((sum, check) => sum + check.new, 0);
  const byCheck = added.map((check) => `${check.check} ${formatNumber(check.new)}`).join(', ');
  if (all > 0)
    yield `${table}: ${countOf(all, 'new violation')} of severity error (--refuse new-errors); by check: ${byCheck}${exampleOf(added)}`;
  const quarantined = dataset.quarantined - before.quarantined;
  if (quarantined > 0)
    yield `${table}: ${countOf(quarantined, 'record')} more in quarantine than in the previous snapshot (--refuse new-errors)`;
}

/** Reports new violations of checks that refuse them. */
function* refusedChecks(table: string, { checks, brokenChecks }: GateInput): Generator<string> {
  const refusing = new Set(checks.flatMap(({ name, refuse }) => (refuse === 'new' ? [name] : [])));
  for (const found of brokenChecks)
    if (found.dataset === table && found.new > 0 && refusing.has(found.check))
      yield `${table}: ${countOf(found.new, 'new violation')} of ${found.check}${exampleOf([found])}`;
}

/** Reports partitions that lost most records, which the dataset's total may not show. */
function* partitionChanges(
  table: string,
  now: ManifestDataset,
  before: ManifestDataset,
  shrunken: readonly PartitionRows[],
): Generator<string> {
  const present = new Set(now.partitions.filter(({ received }) => received > 0).map(({ partition }) => partition));
  const unread = before.partitions.flatMap(({ partition, received }) =>
    partition !== null && received > 0 && !present.has(partition) ? [partition] : [],
  );
  const rowless = shrunken.flatMap((partition) => (partition.now === 0 ? [partition.partition] : []));
  const gone = [...new Set([...unread, ...rowless])].toSorted(comparePartitions);
  if (gone.length === 1)
    yield `${table}: partition ${gone[0]} has no records now, but had records in the previous snapshot`;
  if (gone.length > 1)
    yield `${table}: partitions ${gone.join(', ')} have no records now, but had records in the previous snapshot`;
  const left = shrunken.filter(
    (partition) =>
      partition.now < partition.before * (1 - maxPartitionShrinkage) && !gone.includes(partition.partition),
  );
  for (const { partition, before: from, now: to } of left.slice(0, maxNamed))
    yield `${table}: rows of partition ${partition} fell from ${formatNumber(from)} to ${formatNumber(to)} (${percent(to, from)})`;
  if (left.length > maxNamed)
    yield `${table}: rows of ${formatNumber(left.length - maxNamed)} more partitions fell by more than ${maxPartitionShrinkage * 100} %`;
}

type DatasetFigures = Pick<ManifestDataset, 'rows' | 'sums' | 'partitions'>;

/** Reports a dataset that shrank, or whose sums changed too much. */
export function* datasetChanges(
  pipeline: AnyPipeline,
  now: DatasetFigures,
  before: DatasetFigures,
  errors: readonly BrokenCheck[] = [],
): Generator<string> {
  const { table } = pipeline;
  const lost = errors.filter((check) => check.new > 0 && check.check in NullReason);
  if (now.rows < before.rows * (1 - maxShrinkage))
    yield `${table}: rows fell from ${formatNumber(before.rows)} to ${formatNumber(now.rows)} (${percent(now.rows, before.rows)})`;
  const mayIncrease = wasPartial(before, now);
  const moved = changedSums(pipeline, now.sums, before.sums).filter(({ from, to }) => to < from || !mayIncrease);
  for (const { name, from, to } of moved.slice(0, maxNamed)) {
    const share = from === 0 ? '' : ` (${percent(to, from)})`;
    yield `${table}: the sum of ${name} changed from ${formatNumber(from)} to ${formatNumber(to)}${share}${exampleOf(lost, [name])}`;
  }
  if (moved.length > maxNamed)
    yield `${table}: ${countOthers(moved.length - maxNamed)} changed by more than ${maxMovement * 100} %`;
}

/** True if the previous snapshot contains only selected partitions, without a full listing. New partitions don't count as movement. */
function wasPartial(before: DatasetFigures, now: DatasetFigures): boolean {
  const read = new Set(before.partitions.map(({ partition }) => partition));
  return (
    before.partitions.every(({ listed }) => listed === null) &&
    now.partitions.some(({ partition, received }) => received > 0 && !read.has(partition))
  );
}

/** Returns the sums that changed too much, watched columns first. A column that became 0 or NULL may not show in the total. */
function changedSums(pipeline: AnyPipeline, now: ManifestDataset['sums'], before: ManifestDataset['sums']) {
  const { watch } = pipeline;
  const totalBefore = Number((watch[0] === undefined ? undefined : before[watch[0]]) ?? 0);
  const others = summedColumns(pipeline).filter((name) => !watch.includes(name));
  // Without a total, other sums have no scale.
  return [...watch, ...(watch.length === 0 ? [] : others)].flatMap((name) => {
    if (before[name] === undefined) return [];
    const from = Number(before[name]);
    const to = Number(now[name] ?? 0);
    const allowed = Math.max(from * maxMovement, watch.includes(name) ? 0 : totalBefore * smallMovement);
    return allowed > 0 && Math.abs(to - from) > allowed ? [{ name, from, to }] : [];
  });
}

function countOthers(count: number): string {
  return count === 1 ? '1 other sum' : `${formatNumber(count)} other sums`;
}

function percent(now: number, before: number): string {
  const change = (now / before - 1) * 100;
  return `${change > 0 ? '+' : '−'}${Math.abs(change).toFixed(1)} %`;
}
