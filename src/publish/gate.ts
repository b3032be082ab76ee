/** The gate before the switch: the reasons why a snapshot must not be published; pure, so that every case is a test. */

import { countOf, formatNumber } from '../runtime/text.ts';
import { countColumns, type AnyPipeline } from '../pipeline.ts';
import type { DistrictRows } from '../stages.ts';
import type { Manifest, ManifestDataset } from '../warehouse/snapshot-format.ts';

/** A dataset may shrink by so much of its rows, and the national sum of a count move by so much, before somebody has to look. */
const mostShrinkage = 0.05;
/** A district may shrink by so much: most have few rows, of which one more or less is a large part. */
const mostDistrictShrinkage = 0.5;
const mostMovement = 0.1;
/** Another sum than the total's may move by so much of the total, whatever its own size: a few records move a small list far. */
const smallMovement = 0.01;
/** Sums, or districts, named of one dataset; a source that moves more of them has one fault, not many. */
const mostNamed = 5;

export interface GateQuestion {
  readonly pipelines: readonly AnyPipeline[];
  readonly manifest: Manifest;
  readonly previous: Manifest | null;
  /** Tables that this run asked the source for. */
  readonly asked: readonly string[];
  /** Districts that have fewer rows than in the snapshot before, by table. */
  readonly shrunken: ReadonlyMap<string, readonly DistrictRows[]>;
  /** Violations of severity error, by table and check. */
  readonly errors: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Those of them that the snapshot before did not have. */
  readonly newErrors: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly strict: boolean;
  readonly refuse: 'new-errors' | null;
  readonly acceptChanges: boolean;
}

/** What the gate found: reasons that nothing overrides, those that only --strict or --refuse has, and those that a person can accept. */
export interface GateFindings {
  readonly refusals: readonly string[];
  readonly strict: readonly string[];
  readonly changes: readonly string[];
}

export function checkGate(question: GateQuestion): GateFindings {
  const refusals: string[] = [];
  const strict: string[] = [];
  const changes: string[] = [];
  for (const pipeline of question.pipelines) {
    const { table } = pipeline;
    const dataset = question.manifest.datasets[table];
    if (dataset === undefined) continue;
    refusals.push(...ledgerComplaints(table, dataset));
    if (question.asked.includes(table) && dataset.rows === 0)
      refusals.push(`${table} is empty: the source did not return usable records`);
    else if (
      question.asked.includes(table) &&
      countColumns(pipeline).every((name) => dataset.nulls[name] === dataset.rows)
    )
      refusals.push(
        `${table} does not contain figures: all counts of its ${countOf(dataset.rows, 'row')} are missing or malformed`,
      );
    if (question.strict) strict.push(...strictComplaints(table, dataset, question.errors.get(table) ?? new Map()));
    const before = question.previous?.datasets[table];
    if (question.refuse === 'new-errors' && before !== undefined)
      strict.push(...newComplaints(table, dataset, before, question.newErrors.get(table) ?? new Map()));
    if (before !== undefined && !question.acceptChanges) {
      changes.push(...districtsSince(table, dataset, before, question.shrunken.get(table) ?? []));
      changes.push(...changesSince(pipeline, dataset, before));
    }
  }
  if (!question.acceptChanges) changes.push(...datasetsGone(question));
  if (question.previous !== null && !question.acceptChanges && broughtNothing(question, 'published'))
    changes.push(
      broughtNothing(question, 'fetched')
        ? 'the source does not have records of the requested districts: a district ID may be mistyped'
        : 'all records of the requested districts are in quarantine',
    );
  return { refusals, strict, changes };
}

/** Datasets of the previous snapshot that the project no longer declares: nothing else would say that their tables are gone. */
function datasetsGone({ manifest, previous }: GateQuestion): string[] {
  const gone = Object.entries(previous?.datasets ?? {}).filter(([table]) => manifest.datasets[table] === undefined);
  return gone.map(
    ([table, { rows }]) =>
      `${table}: the project no longer contains this dataset, which has ${countOf(rows, 'row')} in the previous snapshot (dataset-gone)`,
  );
}

/** A whole snapshot can stand though its run brought nothing, for what was not asked for is carried over. */
function broughtNothing({ asked, manifest }: GateQuestion, what: 'fetched' | 'published'): boolean {
  return asked.every((table) => manifest.datasets[table]?.ledger[what] === 0);
}

/** Every record fetched is published, quarantined or counted as a duplicate. */
export function* ledgerComplaints(table: string, { ledger, rows, carried_over }: ManifestDataset): Generator<string> {
  const { fetched, published, quarantined, duplicates } = ledger;
  if (fetched !== published + quarantined + duplicates) {
    yield `${table}: the ledger does not balance: ${formatNumber(fetched)} fetched, but ${formatNumber(published)} published + ${formatNumber(quarantined)} quarantined + ${formatNumber(duplicates)} duplicates`;
  }
  if (rows !== published + carried_over)
    yield `${table}: the ledger does not balance: ${formatNumber(rows)} rows, but ${formatNumber(published)} published + ${formatNumber(carried_over)} carried over`;
}

function* strictComplaints(
  table: string,
  dataset: ManifestDataset,
  errors: ReadonlyMap<string, number>,
): Generator<string> {
  const all = sumOf(errors);
  if (all > 0)
    yield `${table}: ${countOf(all, 'violation')} of severity error (--strict); by check: ${listByCheck(errors)}`;
  // Also those that were carried over: they stand beside the same tables.
  if (dataset.quarantined > 0) yield `${table}: ${countOf(dataset.quarantined, 'record')} in quarantine (--strict)`;
}

/** At the first snapshot nothing is new: there is nothing to compare with. */
function* newComplaints(
  table: string,
  dataset: ManifestDataset,
  before: ManifestDataset,
  errors: ReadonlyMap<string, number>,
): Generator<string> {
  const all = sumOf(errors);
  if (all > 0)
    yield `${table}: ${countOf(all, 'new violation')} of severity error (--refuse new-errors); by check: ${listByCheck(errors)}`;
  const quarantined = dataset.quarantined - before.quarantined;
  if (quarantined > 0)
    yield `${table}: ${countOf(quarantined, 'record')} more in quarantine than in the previous snapshot (--refuse new-errors)`;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

function listByCheck(errors: ReadonlyMap<string, number>): string {
  return [...errors].map(([check, count]) => `${check} ${formatNumber(count)}`).join(', ');
}

/** Districts that are gone, or nearly so: of a nation's rows they may be too few to show. */
function* districtsSince(
  table: string,
  now: ManifestDataset,
  before: ManifestDataset,
  shrunken: readonly DistrictRows[],
): Generator<string> {
  const present = new Set(now.districts.filter(({ received }) => received > 0).map(({ district }) => district));
  const unread = before.districts.flatMap(({ district, received }) =>
    district !== null && received > 0 && !present.has(district) ? [district] : [],
  );
  // What is all in quarantine was received, and has no row.
  const rowless = shrunken.flatMap((district) => (district.now === 0 ? [district.district] : []));
  const gone = [...new Set([...unread, ...rowless])].toSorted((a, b) => a - b);
  if (gone.length === 1)
    yield `${table}: district ${gone[0]} has no records now, but had records in the previous snapshot`;
  if (gone.length > 1)
    yield `${table}: districts ${gone.join(', ')} have no records now, but had records in the previous snapshot`;
  const left = shrunken.filter(
    (district) => district.now < district.before * (1 - mostDistrictShrinkage) && !gone.includes(district.district),
  );
  for (const { district, before: from, now: to } of left.slice(0, mostNamed))
    yield `${table}: rows of district ${district} fell from ${formatNumber(from)} to ${formatNumber(to)} (${percent(to, from)})`;
  if (left.length > mostNamed)
    yield `${table}: rows of ${formatNumber(left.length - mostNamed)} more districts fell by more than ${mostDistrictShrinkage * 100} %`;
}

function* changesSince(pipeline: AnyPipeline, now: ManifestDataset, before: ManifestDataset): Generator<string> {
  const { table } = pipeline;
  if (now.rows < before.rows * (1 - mostShrinkage))
    yield `${table}: rows fell from ${formatNumber(before.rows)} to ${formatNumber(now.rows)} (${percent(now.rows, before.rows)})`;
  const mayGrow = heldJustSome(before, now);
  const moved = movedSums(pipeline, now.sums, before.sums).filter(({ from, to }) => to < from || !mayGrow);
  for (const { name, from, to } of moved.slice(0, mostNamed)) {
    const share = from === 0 ? '' : ` (${percent(to, from)})`;
    yield `${table}: the sum of ${name} changed from ${formatNumber(from)} to ${formatNumber(to)}${share}`;
  }
  if (moved.length > mostNamed)
    yield `${table}: ${countOthers(moved.length - mostNamed)} changed by more than ${mostMovement * 100} %`;
}

/**
 * Whether the snapshot before was made of some districts alone, as by --dapil in an empty warehouse: no list told of more, and one that has
 * records now was never asked for. That there are more of them is no movement of theirs.
 */
function heldJustSome(before: ManifestDataset, now: ManifestDataset): boolean {
  const read = new Set(before.districts.map(({ district }) => district));
  return (
    before.districts.every(({ listed }) => listed === null) &&
    now.districts.some(({ district, received }) => received > 0 && !read.has(district))
  );
}

/** The sums that moved too far, the national total's first: a list that became 0 or NULL everywhere need not show in the total. */
function movedSums(pipeline: AnyPipeline, now: ManifestDataset['sums'], before: ManifestDataset['sums']) {
  const { total } = pipeline;
  const totalBefore = Number(before[total] ?? 0);
  return [total, ...countColumns(pipeline).filter((name) => name !== total)].flatMap((name) => {
    // A column that the snapshot before did not have has nothing to be compared with.
    if (before[name] === undefined) return [];
    const from = Number(before[name]);
    const to = Number(now[name] ?? 0);
    const allowed = Math.max(from * mostMovement, name === total ? 0 : totalBefore * smallMovement);
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
