/** Checks what an engine wrote to the branch of a run, and makes it current in one commit. */

import { gateRefusal, RekapError } from '../../errors.ts';
import type { RunFile } from '../../land/formats.ts';
import { readRunFile, readVerdicts } from '../../land/landed-run.ts';
import { type AnyPipeline, summedColumns } from '../../project/declaration.ts';
import { datasetChanges } from '../../publish/gate.ts';
import { findLanding, requireOwnFile } from '../../run/replay-plan.ts';
import type { Clock } from '../../runtime/context.ts';
import { columnList, type Database, quoteIdentifier, quoteText } from '../../runtime/database.ts';
import type { SnapshotId, TableChange, TableMetadata } from '../lake/iceberg.ts';
import { type LakePlace, lakeTableSql } from '../lake/lake-database.ts';
import { commitLake, type Complete, withLake } from '../lake/open-lake.ts';
import { addPublication, lastPublication, publicationsName } from '../lake/publications.ts';
import { tagOf, withTag } from '../lake/tags.ts';
import { requireReleases } from './land-records.ts';
import { branchOf, ledgerTable, stagedNames } from './staged-tables.ts';

export interface ReleaseOptions extends LakePlace {
  readonly warehouse: string;
  readonly run: string;
  readonly acceptChanges: boolean;
  readonly acceptSource: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Released {
  /** `unchanged` if the run was released before. */
  readonly outcome: 'released' | 'unchanged';
  readonly run: string;
  readonly catalog: string;
  readonly namespace: string;
  /** Rows by dataset. */
  readonly rows: Readonly<Record<string, number>>;
}

/**
 * Releases a branch. A run that was released before stays as it is.
 *
 * @throws `lake` if a table has no branch of the run, `verification` if the ledger or a key is wrong, `gate` if a dataset is empty or changed
 *   too much, and the errors of a commit.
 */
export async function releaseRun(options: ReleaseOptions): Promise<Released> {
  const { run, catalog: settings, acceptChanges, clock } = options;
  const { landing } = await findLanding({ warehouse: options.warehouse, run });
  const file = await readRunFile(landing);
  requireOwnFile(landing, file);
  const { verdicts } = await readVerdicts(landing);
  const { project } = file;
  const { namespace } = settings;
  const branch = branchOf(run);
  const tables = stagedNames(project);
  const complete: Complete = (changes, { catalog, metadata }) => [
    ...withTag(changes, tagOf(run)),
    ...tables.map((name) => catalog.change(name, releaseParts(metadata.get(name)!, run))),
  ];
  return withLake(options, { tables, files: [], complete }, async (lake) => {
    const { database, metadata } = lake;
    const where = { run, catalog: settings.url, namespace } as const;
    const rows: Record<string, number> = {};
    const earlier = metadata.has(publicationsName) ? await lastPublication(database, namespace) : null;
    if (earlier?.snapshot_id === run) return { outcome: 'unchanged', ...where, rows };
    const versions = new Map(tables.map((name) => [name, versionOf(name, { metadata, branch, namespace })]));
    const at = (name: string): string => `${lakeTableSql(namespace, name)} AT (VERSION => ${versions.get(name)!})`;
    await requireLedger(database, file, at, verdicts);
    const reasons: string[] = [];
    for (const pipeline of project.pipelines) {
      const now = await figuresOf(database, pipeline, at(pipeline.table));
      if (now.keys !== now.rows)
        throw broken(`${pipeline.table} has ${now.rows} rows, but only ${now.keys} different keys`);
      const isNew = metadata.get(pipeline.table)!.refs?.['main'] === undefined;
      if (now.rows === 0)
        throw gateRefusal([`${pipeline.table} has no rows`], 'Check the source, and land another run.');
      if (!isNew) {
        const before = await figuresOf(database, pipeline, lakeTableSql(namespace, pipeline.table));
        reasons.push(...datasetChanges(pipeline, now, before));
      }
      rows[pipeline.table] = now.rows;
    }
    if (reasons.length > 0 && !acceptChanges)
      throw gateRefusal(reasons, 'If the source is right, add --accept-changes.');
    await database.run('BEGIN');
    const last = await lastPublication(database, namespace);
    requireReleases(options, file.source, last);
    if (last !== null && last.snapshot_id >= run) {
      const what = `The namespace ${namespace} of ${settings.url} contains ${last.snapshot_id}, which is not older than ${run}.`;
      throw new RekapError('lake-conflict', what, 'Release the newest run.');
    }
    // There is no manifest: the tables were not built here.
    const built = { snapshot_id: run, run_id: run, source: file.source, manifest_sha256: '' };
    await addPublication(database, namespace, { sequence: (last?.sequence ?? 0) + 1, ...built }, clock.now());
    await commitLake(lake);
    return { outcome: 'released', ...where, rows };
  });
}

function versionOf(
  name: string,
  where: { readonly metadata: ReadonlyMap<string, TableMetadata>; readonly branch: string; readonly namespace: string },
): SnapshotId {
  const { metadata, branch, namespace } = where;
  const version = metadata.get(name)?.refs?.[branch]?.['snapshot-id'];
  if (version !== undefined && metadata.has(publicationsName)) return version;
  const next = 'Run "rekap lake land", then the script of "rekap lake script" in Spark, all with the same --namespace.';
  throw new RekapError('lake', `The table ${name} of the namespace ${namespace} has no branch ${branch}.`, next);
}

/** Moves `main` to the branch, tags it, and removes the branch. Refused if either has moved since the checks. */
function releaseParts({ refs = {}, 'table-uuid': uuid }: TableMetadata, run: string): Omit<TableChange, 'identifier'> {
  const branch = branchOf(run);
  const version = refs[branch]!['snapshot-id'];
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': refs['main']?.['snapshot-id'] ?? null },
      { type: 'assert-ref-snapshot-id', ref: branch, 'snapshot-id': version },
    ],
    updates: [
      { action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': version },
      { action: 'set-snapshot-ref', 'ref-name': tagOf(run), type: 'tag', 'snapshot-id': version },
      { action: 'remove-snapshot-ref', 'ref-name': branch },
    ],
  };
}

/** Checks that every landed record is published, in quarantine or a duplicate. */
async function requireLedger(
  database: Database,
  { run, project: { pipelines } }: Pick<RunFile, 'run' | 'project'>,
  at: (table: string) => string,
  verdicts: Awaited<ReturnType<typeof readVerdicts>>['verdicts'],
): Promise<void> {
  for (const { table } of pipelines) {
    const [found] = await database.rows<Record<LedgerFigure, bigint>>(
      `SELECT (SELECT count(*) FROM ${at(table)}) AS rows,
         (SELECT count(*) FROM ${at('quarantine')} WHERE dataset = ${quoteText(table)}) AS quarantine,
         count(*) AS ledgers, ${['fetched', 'published', 'quarantined', 'duplicates'].map((name) => `coalesce(sum(${name}), 0)::BIGINT AS ${name}`).join(', ')}
       FROM ${at(ledgerTable.name)} WHERE run_id = ${quoteText(run)} AND dataset = ${quoteText(table)}`,
    );
    const { rows, quarantine, ledgers, fetched, published, quarantined, duplicates } = found!;
    const accepted = verdicts.flatMap((verdict) => (verdict.dataset === table ? verdict.accepted : []));
    const received = BigInt(accepted.reduce((sum, [, , count]) => sum + count, 0));
    if (ledgers !== 1n) throw broken(`the ledger has ${ledgers} rows for ${table}`);
    if (fetched !== received)
      throw broken(`${table}: ${fetched} records were transformed, but ${received} were accepted`);
    if (published !== rows) throw broken(`${table} has ${rows} rows, but ${published} in the ledger`);
    if (quarantined !== quarantine)
      throw broken(`${table}: ${quarantine} records are in quarantine, but ${quarantined} in the ledger`);
    if (published + quarantined + duplicates !== fetched)
      throw broken(
        `the ledger of ${table} does not balance: ${published} + ${quarantined} + ${duplicates} is not ${fetched}`,
      );
  }
}

type LedgerFigure = 'rows' | 'quarantine' | 'ledgers' | 'fetched' | 'published' | 'quarantined' | 'duplicates';

function broken(what: string): RekapError {
  return new RekapError('verification', `The branch was not released: ${what}.`, 'Run the script again in Spark.');
}

/** Returns the figures of a dataset in one version of its table. `keys` is the number of different keys. */
async function figuresOf(database: Database, pipeline: AnyPipeline, relation: string) {
  const summed = summedColumns(pipeline);
  const sums = summed.map((column, index) => `coalesce(sum(${quoteIdentifier(column)}), 0)::VARCHAR AS s${index}`);
  const [found] = await database.rows<Record<'rows' | 'keys', bigint> & Record<string, string>>(
    `SELECT ${['count(*) AS rows', `(SELECT count(*) FROM (SELECT DISTINCT ${columnList(pipeline.key)} FROM ${relation})) AS keys`, ...sums].join(', ')}
     FROM ${relation}`,
  );
  return {
    rows: Number(found!.rows),
    keys: Number(found!.keys),
    sums: Object.fromEntries(summed.map((column, index) => [column, found![`s${index}`]!])),
    partitions: [] as [],
  };
}
