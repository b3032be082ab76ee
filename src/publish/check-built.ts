/** Describes a built snapshot in a manifest, and checks whether it may be published: first its figures, then its files. */

import { gateRefusal, RekapError } from '../errors.ts';
import type { LoadReport } from '../load/load-report.ts';
import { declaredDefinitions } from '../load/try-sql.ts';
import { countOf, formatNumber } from '../runtime/text.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';
import { type Built, definitionFingerprint, describeSnapshot } from './describe-snapshot.ts';
import { checkGate, type GateInput } from './gate.ts';
import { openForParquet, type ParquetContent, readContents } from './parquet-contents.ts';
import type { Run } from './run.ts';
import { verifyBuilt, verifySnapshot } from './verify-snapshot.ts';

/**
 * Returns the manifest of a built snapshot.
 *
 * @throws `gate` if the snapshot must not be published; `verification` if its files don't match the fetched data.
 */
export async function checkBuilt(run: Run, built: Built): Promise<Manifest> {
  warnOfQuarantine(run, built.reports);
  warnOfMissed(run, built);
  run.enter('hash files');
  const contents = await readBuilt(run.folder, [...built.parquet.keys()]);
  const manifest = await describeSnapshot(run, built, contents);
  run.enter('pass the gate');
  passGate(run, manifest, built);
  run.enter('verify');
  const problems = await verifyBuilt(run.folder, manifest, { contents, signal: run.signal });
  if (problems.length > 0)
    throw new RekapError(
      'verification',
      `The written data does not match the fetched data: ${problems.join('; ')}.`,
      'Nothing was published. This is a bug in rekap; please report it.',
    );
  run.signal.throwIfAborted();
  return manifest;
}

export async function readBuilt(folder: string, paths: readonly string[]): Promise<Map<string, ParquetContent>> {
  const database = await openForParquet();
  try {
    return await readContents(database, folder, paths);
  } finally {
    database.close();
  }
}

/** Each run warns again, because no check covers records that are in no table. */
export function warnOfQuarantine({ warn }: Run, reports: ReadonlyMap<string, Pick<LoadReport, 'quarantine'>>): void {
  for (const [table, { quarantine }] of reports) {
    if (quarantine.length === 0) continue;
    const total = quarantine.reduce((sum, { count }) => sum + count, 0);
    const reasons = quarantine.slice(0, 5).map(({ reason, count }) => `${reason} (${formatNumber(count)})`);
    const more = quarantine.length > reasons.length ? ' and other reasons' : '';
    const message = `${table}: ${countOf(total, 'record')} ${total === 1 ? 'is' : 'are'} in quarantine and not in the table: ${reasons.join(', ')}${more}.`;
    warn(message);
  }
}

/** Says what the windows before could not show, and which setting would show it earlier. */
function warnOfMissed({ warn, project }: Run, { reports, bounds }: Built): void {
  for (const { table, incremental } of project.pipelines) {
    const { missed } = bounds.has(table) ? reports.get(table)! : { missed: { added: 0, changed: 0, removed: 0 } };
    const late = missed.added + missed.changed;
    const longer = incremental?.lookback === undefined ? 'a shorter "wholeEvery"' : 'a longer "lookback"';
    if (late > 0)
      warn(
        `${table}: the whole list has ${countOf(missed.added, 'new record')} and ${countOf(missed.changed, 'changed record')} with an earlier ${incremental!.cursor} than windows show. With ${longer}, they are seen sooner.`,
      );
    if (missed.removed > 0)
      warn(
        `${table}: the whole list no longer has ${countOf(missed.removed, 'record')}. Windows show no deletions. With a shorter "wholeEvery", they are seen sooner.`,
      );
  }
}

/** @throws `gate` if the snapshot must not be published. */
export function passGate(
  { kind, id, project, requested, options, previous, landing, figures }: Run,
  manifest: Manifest,
  { reports, brokenChecks }: Pick<GateInput, 'reports' | 'brokenChecks'>,
): void {
  const { refusals, strict, changes } = checkGate({
    ...options,
    pipelines: project.pipelines,
    checks: project.checks,
    manifest,
    previous: previous?.manifest ?? null,
    requested: requested.map(({ table }) => table),
    reports,
    brokenChecks,
    refused: figures?.refusals ?? {},
  });
  const reasons = [...refusals, ...strict, ...changes];
  if (reasons.length === 0) return;
  const isKept = kind === 'replay' || options.keepLanding !== 0;
  // A dry run can't be published later.
  const canReplay = kind === 'sync' && isKept && !options.dryRun;
  const command = canReplay
    ? `run "rekap replay ${id} --accept-changes" to publish exactly these figures`
    : `run the ${kind} again with --accept-changes`;
  const hint =
    refusals.length > 0
      ? isKept
        ? `The responses of the source are in ${landing}.`
        : 'Check the responses of the source.'
      : strict.length > 0
        ? `Without ${options.strict ? '--strict' : '--refuse new-errors'}, the ${kind} publishes the figures and lists the problems in the tables violations and quarantine.`
        : `If the changes at the source are real, ${command}.`;
  throw gateRefusal(reasons, `Nothing was published. ${hint}`);
}

/** Verifies a snapshot against its own declaration: its files, tables and views. Returns all problems as sentences. Throws the errors of `verifySnapshot`. */
export async function verifyAgainst(
  { folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>,
  signal?: AbortSignal,
): Promise<string[]> {
  // Another release may create other tables from the same declaration.
  const isOurs = manifest.definition === definitionFingerprint(manifest.project);
  const declared = isOurs ? await declaredDefinitions(manifest.project, signal) : undefined;
  return verifySnapshot(folder, manifest, { declared, signal });
}
