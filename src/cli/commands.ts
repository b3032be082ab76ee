/** Lists all commands. Each loads its file when needed, so that the overview is fast. */

import type { Command, CommandEntry, CommandLine } from './options/option.ts';

const snapshots = () => import('./snapshots.ts');
const lake = () => import('./lake.ts');
const spark = () => import('./spark.ts');

const commands: readonly CommandEntry[] = [
  declare(
    'sync',
    'Fetch all datasets, check the data, and publish a snapshot',
    async () => (await import('./sync.ts')).syncCommand,
  ),
  declare(
    'replay [run]',
    'Build a snapshot again from the stored responses, and compare; publish what the gate refused',
    async () => (await import('./replay.ts')).replayCommand,
  ),
  declare(
    'query [sql]',
    'Run one SQL query on the published tables',
    async () => (await import('./query.ts')).queryCommand,
  ),
  declare(
    'export',
    'Export all tables and views as an Excel workbook, CSV files or Parquet files',
    async () => (await import('./export.ts')).exportCommand,
  ),
  declare(
    'report',
    'Write the report of a snapshot as an HTML page',
    async () => (await import('./report.ts')).reportCommand,
  ),
  declare(
    'evidence [name]',
    'Show where the figures of a row come from, including the responses of the source',
    async () => (await import('./evidence.ts')).evidenceCommand,
  ),
  declare(
    'diff [a] [b]',
    'Show which figures the source changed between two snapshots',
    async () => (await import('./diff.ts')).diffCommand,
  ),
  declare(
    'status',
    'Report whether the data is fresh: exit code 0 fresh, 6 stale, 7 last run failed',
    async () => (await import('./status.ts')).statusCommand,
  ),
  declare(
    'schedule',
    'Sync on a cron schedule, in the foreground, until you stop it',
    async () => (await import('./schedule.ts')).scheduleCommand,
  ),
  declare(
    'init [scheduler]',
    'Create a config file, and files for systemd, cron, Kubernetes, GitHub Actions or Compose',
    async () => (await import('./init.ts')).initCommand,
  ),
  declare(
    'new <folder>',
    'Create a project with one dataset and its sample',
    async () => (await import('./new.ts')).newCommand,
  ),
  declare(
    'probe <url>',
    'Draft a pipeline for a list from at most 20 requests, with the reason for each guess',
    async () => (await import('./probe.ts')).probeCommand,
  ),
  declare(
    'check',
    'Validate the declarations and the SQL of a project, without network access',
    async () => (await import('./check.ts')).checkCommand,
  ),
  declare(
    'test',
    'Sync the sample of a project through every fault, and show what was exact and what was refused',
    async () => (await import('./test.ts')).testCommand,
  ),
  declare(
    'doctor',
    'Check that a sync can run here, and explain how to fix problems',
    async () => (await import('./doctor.ts')).doctorCommand,
  ),
  declare(
    'runs [id]',
    'List all runs and their outcomes, or show the steps, requests and warnings of one',
    async () => (await import('./runs.ts')).runsCommand,
  ),
  declare(
    'snapshots [id]',
    'List all snapshots, or show the contents of one and how its completeness was proved',
    async () => (await snapshots()).snapshotsCommand,
  ),
  declare(
    'snapshots verify [id]',
    'Verify a snapshot: hashes, rows, sums, ledger, DuckDB against Parquet, and stored responses',
    async () => (await snapshots()).verifyCommand,
  ),
  declare(
    'snapshots rollback <id>',
    'Make an earlier snapshot current and pin it; damaged snapshots are refused',
    async () => (await snapshots()).rollbackCommand,
  ),
  declare(
    'push <bucket>',
    'Copy a snapshot to S3 or another object store, and make it current there',
    async () => (await import('./push.ts')).pushCommand,
  ),
  declare(
    'pull <bucket>',
    'Copy the current snapshot from an object store to a warehouse, and verify it',
    async () => (await import('./pull.ts')).pullCommand,
  ),
  declare(
    'lake publish',
    'Publish a snapshot to Apache Iceberg tables, all of them in one commit',
    async () => (await lake()).publishLakeCommand,
  ),
  declare(
    'lake land [run]',
    'Copy the accepted records of a run to the catalog, as received, for another engine',
    async () => (await spark()).landCommand,
  ),
  declare(
    'lake script [run]',
    'Print the transformation of a run as a script for Spark',
    async () => (await spark()).scriptCommand,
  ),
  declare(
    'lake release <run>',
    'Check the tables that Spark built from a run, and make them current in one commit',
    async () => (await spark()).releaseCommand,
  ),
  declare(
    'lake status',
    'Show which snapshot the tables of the catalog contain, its tags, and what grows there',
    async () => (await lake()).lakeStatusCommand,
  ),
  declare(
    'lake expire',
    'Remove the tags of the oldest snapshots from the catalog',
    async () => (await lake()).lakeExpireCommand,
  ),
  declare(
    'serve',
    'Serve the API locally, as a mirror or for testing',
    async () => (await import('./serve.ts')).serveCommand,
  ),
];

function declare(usage: string, describe: string, load: () => Promise<Command>): CommandEntry {
  return { name: usage.replace(/ [<[].*$/, ''), usage, describe, load };
}

export const commandLine: CommandLine = {
  commands,
  groups: {
    Get: ['sync', 'replay'],
    Read: ['query', 'report', 'export', 'diff', 'evidence'],
    Prove: ['snapshots', 'snapshots verify', 'snapshots rollback', 'runs', 'status'],
    'Run every night': ['schedule', 'init', 'doctor'],
    'Your own source': ['new', 'probe', 'check', 'test'],
    Share: ['push', 'pull', 'lake', 'serve'],
    Shell: ['completion'],
  },
  overview: {
    purpose: 'Copies paged lists from a web service to DuckDB and Parquet, and proves that they are complete.',
    examples: [
      ['rekap sync --sample', 'try rekap with sample figures'],
      ['rekap sync --base-url https://…', 'copy the figures of a service; REKAP_API_KEY holds the key'],
      ['rekap query', 'list the published tables, and the commands that open them in DuckDB'],
      ['rekap diff', 'see which figures the source changed'],
    ],
    others: {
      lake: 'Publish snapshots to an Iceberg catalog, show what is there, and let Spark build the tables',
      completion: 'Print a completion script for your shell, bash or zsh',
    },
    notes: [
      'For help on a command, add --help, such as rekap sync --help. For the version, run rekap --version.',
      'You can also set options in environment variables, such as REKAP_BASE_URL for --base-url, or in a JSON file: rekap.json in the working directory, or the file that you name with --config. The command line takes precedence over the environment, and the environment over the file.',
      'Exit codes: 0 success, 1 unexpected error, 2 usage error, 3 quality gate refused, 4 source failed, 5 warehouse or catalog busy, 6 stale data (status only), 7 last run failed (status only), 8 bucket or catalog failed, 129 terminal closed, 130 interrupted, 143 terminated.',
    ].join('\n\n'),
  },
};
