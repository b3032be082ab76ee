/** Lists all commands, the main job first. Each loads its file when needed, so that the overview is fast. */

import type { Command, CommandEntry } from './options/option.ts';

const snapshots = () => import('./snapshots.ts');
const lake = () => import('./lake.ts');
const spark = () => import('./spark.ts');

type Load = () => Promise<{ readonly command: Command }>;

/** A row: the usage, the description, and the file. */
type Row = readonly [usage: string, describe: string, load: Load];

const groups: Readonly<Record<string, readonly Row[]>> = {
  Get: [
    ['sync', 'Fetch all datasets, check the data, and publish a snapshot', () => import('./sync.ts')],
    [
      'replay [run]',
      'Build a snapshot again from the stored responses, and compare; publish what the gate refused',
      () => import('./replay.ts'),
    ],
  ],
  Read: [
    ['query [sql]', 'Run one SQL query on the published tables', () => import('./query.ts')],
    ['report', 'Write the report of a snapshot as an HTML page', () => import('./report.ts')],
    [
      'export [table]',
      'Export all tables and views, or one, as an Excel workbook, CSV files or Parquet files',
      () => import('./export.ts'),
    ],
    ['diff [a] [b]', 'Show which figures the source changed between two snapshots', () => import('./diff.ts')],
    [
      'evidence [name]',
      'Show where the figures of a row come from, including the responses of the source',
      () => import('./evidence.ts'),
    ],
  ],
  Prove: [
    [
      'snapshots [id]',
      'List all snapshots, or show the contents of one and how its completeness was proved',
      () => named(snapshots(), 'snapshotsCommand'),
    ],
    [
      'snapshots verify [id]',
      'Verify a snapshot: hashes, rows, sums, ledger, DuckDB against Parquet, and stored responses',
      () => named(snapshots(), 'verifyCommand'),
    ],
    [
      'snapshots rollback <id>',
      'Make an earlier snapshot current and pin it; damaged snapshots are refused',
      () => named(snapshots(), 'rollbackCommand'),
    ],
    [
      'runs [id]',
      'List all runs and their outcomes, or show the steps, requests and warnings of one',
      () => import('./runs.ts'),
    ],
    [
      'status',
      'Report whether the data is fresh: exit code 0 fresh, 6 stale, 7 last run failed',
      () => import('./status.ts'),
    ],
  ],
  'Run every night': [
    ['schedule', 'Sync on a cron schedule, in the foreground, until you stop it', () => import('./schedule.ts')],
    [
      'init [scheduler]',
      'Create a config file, and files for systemd, cron, Kubernetes, GitHub Actions or Compose',
      () => import('./init.ts'),
    ],
    ['doctor', 'Check that a sync can run here, and explain how to fix problems', () => import('./doctor.ts')],
  ],
  'Your own source': [
    ['new <folder>', 'Create a project with one dataset and its sample', () => import('./new.ts')],
    [
      'probe <url>',
      'Draft a pipeline for a list from at most 20 requests, with the reason for each guess',
      () => import('./probe.ts'),
    ],
    ['check', 'Validate the declarations and the SQL of a project, without network access', () => import('./check.ts')],
    [
      'test',
      'Sync the sample of a project through every fault, and show what was exact and what was refused',
      () => import('./test.ts'),
    ],
  ],
  Share: [
    [
      'push <bucket>',
      'Copy a snapshot to S3 or another object store, and make it current there',
      () => named(import('./push.ts'), 'pushCommand'),
    ],
    [
      'pull <bucket>',
      'Copy the current snapshot from an object store to a warehouse, and verify it',
      () => named(import('./pull.ts'), 'pullCommand'),
    ],
    [
      'lake publish',
      'Publish a snapshot to Apache Iceberg tables, all of them in one commit',
      () => named(lake(), 'publishLakeCommand'),
    ],
    [
      'lake land [run]',
      'Copy the accepted records of a run to the catalog, as received, for another engine',
      () => named(spark(), 'landCommand'),
    ],
    [
      'lake release <run>',
      'Check the tables that Spark built from a run, and make them current in one commit',
      () => named(spark(), 'releaseCommand'),
    ],
    [
      'lake script [run]',
      'Print the transformation of a run as a script for Spark',
      () => named(spark(), 'scriptCommand'),
    ],
    [
      'lake status',
      'Show which snapshot the tables of the catalog contain, its tags, and what grows there',
      () => named(lake(), 'lakeStatusCommand'),
    ],
    [
      'lake expire',
      'Remove the tags of the oldest snapshots from the catalog',
      () => named(lake(), 'lakeExpireCommand'),
    ],
    ['serve', 'Serve the API locally, as a mirror or for testing', () => import('./serve.ts')],
  ],
};

/** Picks a command from a file with several. */
async function named<Name extends string>(file: Promise<Readonly<Record<Name, Command>>>, name: Name) {
  return { command: (await file)[name] };
}

export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(([group, rows]) =>
  rows.map(([usage, describe, load]) => ({
    group,
    name: usage.replace(/ [<[].*$/, ''),
    usage,
    describe,
    load: async () => (await load()).command,
  })),
);
