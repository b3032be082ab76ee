/** The commands there are; the file of each is loaded only when it is needed, so that the overview costs next to nothing. */

import type { Command, CommandEntry, Options } from './options/option.ts';

const snapshots = () => import('./snapshots.ts');

export const commands: readonly CommandEntry[] = [
  declare(
    'sync',
    'Fetch every district of both datasets, check them, and publish a new snapshot',
    async () => (await import('./sync.ts')).syncCommand,
  ),
  declare(
    'replay [run]',
    'Build a snapshot again from what the source answered, without the network',
    async () => (await import('./replay.ts')).replayCommand,
  ),
  declare(
    'query [sql]',
    'Ask the published tables one SQL question',
    async () => (await import('./query.ts')).queryCommand,
  ),
  declare(
    'shell',
    'Ask one question after another, with history and completion',
    async () => (await import('./shell.ts')).shellCommand,
  ),
  declare(
    'export',
    'Write every table and view as an Excel workbook, CSV or Parquet files',
    async () => (await import('./export.ts')).exportCommand,
  ),
  declare(
    'connect',
    'Print a script that opens the current snapshot in the DuckDB shell',
    async () => (await import('./connect.ts')).connectCommand,
  ),
  declare(
    'dictionary [table]',
    'Explain every table and column',
    async () => (await import('./dictionary.ts')).dictionaryCommand,
  ),
  declare(
    'report',
    'Write or open the report of a snapshot: one HTML page for people',
    async () => (await import('./report.ts')).reportCommand,
  ),
  declare(
    'evidence [regency]',
    'Show what stands behind the figures of one regency, down to the answers of the source',
    async () => (await import('./evidence.ts')).evidenceCommand,
  ),
  declare(
    'diff [a] [b]',
    'Show which figures the source restated between two snapshots',
    async () => (await import('./diff.ts')).diffCommand,
  ),
  declare(
    'status',
    'Say whether the data are fresh: exit code 0 fresh, 6 stale, 7 last run failed',
    async () => (await import('./status.ts')).statusCommand,
  ),
  declare(
    'schedule',
    'Sync at the times of a cron line, in the foreground, until it is told to stop',
    async () => (await import('./schedule.ts')).scheduleCommand,
  ),
  declare(
    'init',
    'Write a config file, and the files for systemd, cron, Kubernetes, GitHub Actions or Compose',
    async () => (await import('./init.ts')).initCommand,
  ),
  declare(
    'doctor',
    'Look whether a sync could run here, and say what to do',
    async () => (await import('./doctor.ts')).doctorCommand,
  ),
  declare(
    'config [command]',
    'Show every setting of a command, its value and where it comes from',
    async () => (await import('./config.ts')).configCommand,
  ),
  declare(
    'runs show <id>',
    'Show the steps, times, requests and warnings of one run',
    async () => (await import('./runs.ts')).showRunCommand,
  ),
  declare('runs', 'List the runs and what became of them', async () => (await import('./runs.ts')).listRunsCommand),
  declare('snapshots list', 'List the snapshots, newest last', async () => (await snapshots()).listCommand),
  declare(
    'snapshots show [id]',
    'Show what a snapshot holds and how it was proved',
    async () => (await snapshots()).showCommand,
  ),
  declare(
    'snapshots verify [id]',
    'Check a snapshot from the outside: hashes, rows, sums, ledger, DuckDB against Parquet, and its answers',
    async () => (await snapshots()).verifyCommand,
  ),
  declare(
    'snapshots rollback <id>',
    'Make an earlier snapshot the current one and pin it; a damaged one is refused',
    async () => (await snapshots()).rollbackCommand,
  ),
  declare(
    'snapshots unpin',
    'Let the next sync replace the snapshot that a rollback has pinned',
    async () => (await snapshots()).unpinCommand,
  ),
  declare(
    'snapshots prune',
    'Remove the oldest snapshots and their answers; the current and the pinned one always stay',
    async () => (await snapshots()).pruneCommand,
  ),
  declare(
    'push <bucket>',
    'Copy a snapshot to S3 or another object store, and make it current there',
    async () => (await import('./push.ts')).pushCommand,
  ),
  declare(
    'pull <bucket>',
    'Copy the current snapshot of an object store into a warehouse, proved by its hashes',
    async () => (await import('./pull.ts')).pullCommand,
  ),
  declare(
    'serve',
    'Run the service: both read endpoints, as their documentation has them',
    async () => (await import('./serve.ts')).serveCommand,
  ),
  declare('completion [shell]', 'Print a script that completes commands and options in bash or zsh', async () =>
    (await import('./completion.ts')).declareCompletion(commands),
  ),
];

function declare(usage: string, describe: string, load: () => Promise<Command>): CommandEntry {
  return { name: usage.replace(/ [<[].*$/, ''), usage, describe, load };
}

/** First words that hold commands of their own. By itself, such a word is its command "list". */
export const groups: Readonly<Record<string, string>> = {
  snapshots: 'List, show, verify, roll back, unpin and prune published snapshots',
};

/** Every option of every command. */
export async function allOptions(): Promise<Options> {
  const loaded = await Promise.all(commands.map(({ load }) => load()));
  return Object.assign({}, ...loaded.map(({ options }) => options)) as Options;
}
