/** Builds a snapshot from answers, whether they come from the source or from a landing: every stage up to the switch. */

import { definitionFingerprint, describeSnapshot, schemaFingerprint } from './describe-snapshot.ts';
import { gateRefusal, RekapError } from '../errors.ts';
import { fetchAndLoad, type OpenSource } from './fetch-and-load.ts';
import { findDamage } from './find-previous.ts';
import type { CarryOver } from '../load/carry-over.ts';
import type { LoadReport } from '../load/load-report.ts';
import { checkGate } from '../publish/gate.ts';
import { verifyBuilt, verifySnapshot } from '../publish/verify-snapshot.ts';
import type { BrokenCheck } from '../load/broken-checks.ts';
import { formatNumber } from '../numbers.ts';
import type { Run } from './run.ts';
import type { Manifest } from '../warehouse/snapshot-format.ts';
import { recoveryHint } from '../warehouse/recovery-hint.ts';

/** A snapshot in the run's folder, proved, past the gate, and verified; only its manifest is not written yet. */
export interface BuiltSnapshot {
  readonly manifest: Manifest;
  readonly brokenChecks: readonly BrokenCheck[];
}

export async function buildSnapshot(run: Run, openSource: OpenSource): Promise<BuiltSnapshot> {
  const carryOver = await planCarryOver(run);
  const { verdicts, totals, reports, brokenChecks, parquetRows } = await fetchAndLoad(run, carryOver, openSource).catch(
    async (error: unknown) => {
      throw await blamePrevious(run, error);
    },
  );
  warnOfQuarantine(run, reports);
  run.enter('hash files');
  const manifest = await describeSnapshot(run, { verdicts, totals, reports, parquetRows, carryOver });
  run.enter('pass the gate');
  passGate(run, manifest, reports);
  run.enter('verify');
  await requireVerified(run, manifest);
  run.signal.throwIfAborted();
  return { manifest, brokenChecks };
}

/** A database that is damaged though its hash is the manifest's shows only when it is read: the history goes on from the snapshot before. */
async function blamePrevious({ previous, project, options, signal }: Run, error: unknown): Promise<unknown> {
  if (previous === null || error instanceof RekapError || signal.aborted) return error;
  const problems = await verifySnapshot(previous.folder, previous.manifest, project.pipelines);
  if (problems.length === 0) return error;
  return new RekapError(
    'warehouse',
    `The history cannot go on from snapshot ${previous.id}, for it is damaged: ${problems.join('; ')}.`,
    await recoveryHint(options.warehouse, previous.id, previous.manifest.run),
    { cause: error },
  );
}

/** What this run does not ask for is taken over from the snapshot before. */
async function planCarryOver({ asked, options, previous, project, around }: Run): Promise<CarryOver | null> {
  const isPartial = options.districts !== null || asked.length < project.pipelines.length;
  if (!isPartial) return null;
  if (previous === null) {
    around.report({
      kind: 'warning',
      message: 'There is no snapshot before this one: it will hold only what was asked for.',
    });
    return null;
  }
  if (previous.manifest.source !== options.source) {
    throw new RekapError(
      'source-mismatch',
      `Snapshot ${previous.id} holds figures of ${previous.manifest.source}: what is carried over from it would stand beside those of ${options.source}.`,
      'Run one sync of the new source without --dapil and --dataset.',
    );
  }
  const problems = await findDamage(previous, project.pipelines);
  if (problems.length > 0) {
    throw new RekapError(
      'warehouse',
      `Nothing can be carried over from snapshot ${previous.id}, for it is damaged: ${problems.join('; ')}.`,
      `Run one sync without --dapil and --dataset. ${await recoveryHint(options.warehouse, previous.id, previous.manifest.run)}`,
    );
  }
  const replaced = new Map<string, readonly number[] | null>();
  for (const pipeline of project.pipelines) {
    const before = previous.manifest.datasets[pipeline.table];
    if (before !== undefined && before.schema_fingerprint !== schemaFingerprint(pipeline)) {
      throw new RekapError(
        'usage',
        `The table ${pipeline.table} has other columns than in the snapshot before, so nothing can be carried over.`,
        'Run one sync without --dapil and --dataset.',
      );
    }
    replaced.set(pipeline.table, before === undefined ? null : asked.includes(pipeline) ? options.districts : []);
  }
  if (previous.manifest.definition !== definitionFingerprint(project)) {
    around.report({
      kind: 'warning',
      message: `Snapshot ${previous.id} was made with other definitions of tables and checks, as by another release: the rows carried over from it keep what the row checks of then said. A sync without --dapil and --dataset checks all anew.`,
    });
  }
  return { replaced };
}

/** No check speaks of a record that is in no table, so each run does. */
function warnOfQuarantine({ around }: Run, reports: ReadonlyMap<string, LoadReport>): void {
  for (const [table, { quarantine }] of reports) {
    if (quarantine.length === 0) continue;
    const total = quarantine.reduce((sum, { count }) => sum + count, 0);
    const reasons = quarantine.slice(0, 5).map(({ reason, count }) => `${reason} (${formatNumber(count)})`);
    const more = quarantine.length > reasons.length ? ' and other reasons' : '';
    around.report({
      kind: 'warning',
      message: `${table}: ${formatNumber(total)} of its records ${total === 1 ? 'is' : 'are'} in quarantine and not in the table: ${reasons.join(', ')}${more}.`,
    });
  }
}

function passGate(
  { kind, id, project, asked, options, previous, landing }: Run,
  manifest: Manifest,
  reports: ReadonlyMap<string, LoadReport>,
): void {
  const { refusals, strict, changes } = checkGate({
    pipelines: project.pipelines,
    manifest,
    previous: previous?.manifest ?? null,
    asked: asked.map(({ table }) => table),
    shrunken: new Map([...reports].map(([table, { shrunken }]) => [table, shrunken])),
    errors: new Map(
      [...reports].map(([table, { violations }]) => [
        table,
        new Map(
          violations.filter(({ severity }) => severity === 'error').map(({ check, count }) => [check, count] as const),
        ),
      ]),
    ),
    strict: options.strict,
    acceptChanges: options.acceptChanges,
  });
  const reasons = [...refusals, ...strict, ...changes];
  if (reasons.length === 0) return;
  // Of a dry run nothing is ever published.
  const canReplay = kind === 'sync' && !options.dryRun && options.keepLanding !== 0;
  const again = canReplay
    ? `"rekap replay ${id} --accept-changes" publishes just these figures`
    : `run the ${kind} again with --accept-changes`;
  const isKept = kind === 'replay' || options.keepLanding !== 0;
  const look = isKept ? `${landing} holds what the source answered.` : 'Look at what the source answers.';
  const wayOn =
    refusals.length > 0
      ? look
      : strict.length > 0
        ? `Without --strict the ${kind} publishes the figures, and names what is doubtful in the tables violations and quarantine.`
        : `If the source really changed so, ${again}.`;
  throw gateRefusal(reasons, `Nothing was published. ${wayOn}`);
}

/** What was transformed = what DuckDB holds = what Parquet holds. */
async function requireVerified({ folder, project }: Run, manifest: Manifest): Promise<void> {
  const problems = await verifyBuilt(folder, manifest, project.pipelines);
  if (problems.length === 0) return;
  throw new RekapError(
    'verification',
    `What was written is not what was fetched: ${problems.join('; ')}.`,
    'Nothing was published. Please report this.',
  );
}
