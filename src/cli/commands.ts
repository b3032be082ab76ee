/** Lists all commands, the main job first. Each loads its file when needed, so that the overview is fast. */

import type { Command, CommandEntry } from './options/option.ts';

const snapshots = () => import('./snapshots.ts');
const lake = () => import('./lake.ts');
const spark = () => import('./spark.ts');

/** Loads each command, by name. */
const loads = {
  sync: async () => (await import('./sync.ts')).command,
  replay: async () => (await import('./replay.ts')).command,
  query: async () => (await import('./query.ts')).command,
  report: async () => (await import('./report.ts')).command,
  export: async () => (await import('./export.ts')).command,
  diff: async () => (await import('./diff.ts')).command,
  evidence: async () => (await import('./evidence.ts')).command,
  snapshots: async () => (await snapshots()).snapshotsCommand,
  'snapshots verify': async () => (await snapshots()).verifyCommand,
  'snapshots rollback': async () => (await snapshots()).rollbackCommand,
  runs: async () => (await import('./runs.ts')).command,
  status: async () => (await import('./status.ts')).command,
  schedule: async () => (await import('./schedule.ts')).command,
  init: async () => (await import('./init.ts')).command,
  doctor: async () => (await import('./doctor.ts')).command,
  new: async () => (await import('./new.ts')).command,
  probe: async () => (await import('./probe.ts')).command,
  check: async () => (await import('./check.ts')).command,
  test: async () => (await import('./test.ts')).command,
  push: async () => (await import('./push.ts')).command,
  pull: async () => (await import('./pull.ts')).command,
  'lake publish': async () => (await lake()).publishLakeCommand,
  'lake land': async () => (await spark()).landCommand,
  'lake release': async () => (await spark()).releaseCommand,
  'lake script': async () => (await spark()).scriptCommand,
  'lake status': async () => (await lake()).lakeStatusCommand,
  'lake expire': async () => (await lake()).lakeExpireCommand,
  serve: async () => (await import('./serve.ts')).command,
} as const satisfies Readonly<Record<string, () => Promise<Command>>>;

type Name = keyof typeof loads;
type Usage = Name | `${Name} <${string}>` | `${Name} [${string}]`;

/** Descriptions of the commands by usage, in groups. */
const groups = {
  Get: {
    sync: 'Fetch all datasets, check the data, and publish a snapshot',
    'replay [run]': 'Build a snapshot again from the stored responses, and compare; publish what the gate refused',
  },
  Read: {
    'query [sql]': 'Run one SQL query on the published tables',
    report: 'Write the report of a snapshot as an HTML page',
    'export [table]': 'Export all tables and views, or one, as an Excel workbook, CSV files or Parquet files',
    'diff [a] [b]': 'Show which figures the source changed between two snapshots',
    'evidence [name]': 'Show where the figures of a row come from, including the responses of the source',
  },
  Prove: {
    'snapshots [id]': 'List all snapshots, or show the contents of one and how its completeness was proved',
    'snapshots verify [id]':
      'Verify a snapshot: hashes, rows, sums, ledger, DuckDB against Parquet, and stored responses',
    'snapshots rollback <id>': 'Make an earlier snapshot current and pin it; damaged snapshots are refused',
    'runs [id]': 'List all runs and their outcomes, or show the steps, requests and warnings of one',
    status: 'Report whether the data is fresh: exit code 0 fresh, 6 stale, 7 last run failed',
  },
  'Run every night': {
    schedule: 'Sync on a cron schedule, in the foreground, until you stop it',
    'init [scheduler]': 'Create a config file, and files for systemd, cron, Kubernetes, GitHub Actions or Compose',
    doctor: 'Check that a sync can run here, and explain how to fix problems',
  },
  'Your own source': {
    'new <folder>': 'Create a project with one dataset and its sample',
    'probe <url>': 'Draft a pipeline for a list from at most 20 requests, with the reason for each guess',
    check: 'Validate the declarations and the SQL of a project, without network access',
    test: 'Sync the sample of a project through every fault, and show what was exact and what was refused',
  },
  Share: {
    'push <bucket>': 'Copy a snapshot to S3 or another object store, and make it current there',
    'pull <bucket>': 'Copy the current snapshot from an object store to a warehouse, and verify it',
    'lake publish': 'Publish a snapshot to Apache Iceberg tables, all of them in one commit',
    'lake land [run]': 'Copy the accepted records of a run to the catalog, as received, for another engine',
    'lake release <run>': 'Check the tables that Spark built from a run, and make them current in one commit',
    'lake script [run]': 'Print the transformation of a run as a script for Spark',
    'lake status': 'Show which snapshot the tables of the catalog contain, its tags, and what grows there',
    'lake expire': 'Remove the tags of the oldest snapshots from the catalog',
    serve: 'Serve the API locally, as a mirror or for testing',
  },
} as const satisfies Readonly<Record<string, Readonly<Partial<Record<Usage, string>>>>>;

export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(([group, described]) =>
  Object.entries(described).map(([usage, describe]) => {
    const name = usage.replace(/ [<[].*$/, '') as Name;
    return { group, name, usage, describe, load: loads[name] };
  }),
);
