/** rekap snapshots: list, show, roll back, prune and verify. */

import type { CommandModule, InferredOptionTypes, Options } from 'yargs';
import { VerificationError } from '../errors.ts';
import { declareOptions } from './declare-options.ts';
import { jsonOption, keepOptions, readKeepOptions, warehouseOption } from './options.ts';

const common = { ...warehouseOption, ...jsonOption } as const satisfies Record<string, Options>;
const pruneOptions = { ...common, ...keepOptions } as const satisfies Record<string, Options>;

type CommonArguments = InferredOptionTypes<typeof common>;

const idPositional = { type: 'string', describe: 'id of a snapshot [default: the current one]' } as const;

export const snapshotsCommand: CommandModule = {
  builder: (argv) =>
    argv
      .command(listCommand)
      .command(showCommand)
      .command(verifyCommand)
      .command(rollbackCommand)
      .command(pruneCommand)
      .demandCommand(1, 'Name what to do: list, show, verify, rollback or prune.'),
  handler() {},
};

const listCommand: CommandModule<object, CommonArguments> = {
  command: 'list',
  describe: 'List the snapshots, newest last',
  builder: (argv) => declareOptions(argv, common),
  async handler({ warehouse, json }) {
    const [{ listSnapshotIds }, { readCurrentId, readSnapshot }, terminal, { renderTable }] = await Promise.all([
      import('../publish/snapshot-folder.ts'),
      import('../warehouse.ts'),
      import('./terminal.ts'),
      import('./table.ts'),
    ]);
    const current = await readCurrentId(warehouse);
    const snapshots = await Promise.all((await listSnapshotIds(warehouse)).map((id) => readSnapshot(warehouse, id)));
    const summaries = snapshots.map(({ id, manifest }) => ({
      id,
      current: id === current,
      created_at: manifest.created_at,
      source: manifest.source,
      rows: Object.fromEntries(Object.entries(manifest.datasets).map(([table, { rows }]) => [table, rows])),
    }));
    if (json) return terminal.printJson(summaries);
    if (summaries.length === 0) return void process.stdout.write(`The warehouse ${warehouse} holds no snapshot yet.\n`);
    const tables = [...new Set(summaries.flatMap(({ rows }) => Object.keys(rows)))];
    const rows = summaries.map((snapshot) => [
      snapshot.current ? terminal.paint('green', '● current') : '',
      snapshot.id,
      snapshot.created_at.slice(0, 19).replace('T', ' '),
      terminal.printable(snapshot.source),
      ...tables.map((table) => terminal.formatNumber(snapshot.rows[table] ?? 0)),
    ]);
    process.stdout.write(
      `${renderTable(rows, { head: ['', 'snapshot', 'made (UTC)', 'source', ...tables], whole: [0, 1, 2], right: tables.map((_, index) => index + 4) })}\n`,
    );
  },
};

const showCommand: CommandModule<object, CommonArguments & { id: string | undefined }> = {
  command: 'show [id]',
  describe: 'Show what a snapshot holds and how it was proved',
  builder: (argv) => declareOptions(argv.positional('id', idPositional), common),
  async handler({ warehouse, json, id }) {
    const [{ readSnapshot, requireCurrent }, { renderSnapshot }, { printJson }] = await Promise.all([
      import('../warehouse.ts'),
      import('./show-snapshot.ts'),
      import('./terminal.ts'),
    ]);
    const snapshot = id === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
    if (json) printJson(snapshot.manifest);
    else process.stdout.write(renderSnapshot(snapshot));
  },
};

const verifyCommand: CommandModule<object, CommonArguments & { id: string | undefined }> = {
  command: 'verify [id]',
  describe: 'Check a snapshot from the outside: hashes, rows, sums, ledger, DuckDB against Parquet',
  builder: (argv) => declareOptions(argv.positional('id', idPositional), common),
  async handler({ warehouse, json, id }) {
    const [{ readSnapshot, requireCurrent }, { verifySnapshot }, { loadProject }, { printJson }] = await Promise.all([
      import('../warehouse.ts'),
      import('../publish/verify-snapshot.ts'),
      import('../../pipelines/index.ts'),
      import('./terminal.ts'),
    ]);
    const snapshot = id === undefined ? await requireCurrent(warehouse) : await readSnapshot(warehouse, id);
    const problems = await verifySnapshot(snapshot.folder, snapshot.manifest, loadProject().pipelines);
    if (json) printJson({ snapshot: snapshot.id, intact: problems.length === 0, problems });
    if (problems.length > 0) {
      throw new VerificationError(
        [`Snapshot ${snapshot.id} is damaged:`, ...problems.map((problem) => `  - ${problem}`)].join('\n'),
        '"rekap snapshots rollback <id>" goes back to an earlier one; a new sync makes a new one.',
      );
    }
    if (!json)
      process.stdout.write(
        `Snapshot ${snapshot.id} is whole: ${snapshot.manifest.files.length} files, their hashes, rows and sums agree with the manifest.\n`,
      );
  },
};

const rollbackCommand: CommandModule<object, CommonArguments & { id: string }> = {
  command: 'rollback <id>',
  describe: 'Make an earlier snapshot the current one',
  builder: (argv) =>
    declareOptions(
      argv.positional('id', { ...idPositional, describe: 'id of the snapshot', demandOption: true }),
      common,
    ),
  async handler({ warehouse, json, id }) {
    const { rollBack } = await import('../manage-snapshots.ts');
    await rollBack(warehouse, id);
    process.stdout.write(json ? `${JSON.stringify({ current: id })}\n` : `Snapshot ${id} is current now.\n`);
  },
};

const pruneCommand: CommandModule<object, InferredOptionTypes<typeof pruneOptions>> = {
  command: 'prune',
  describe: 'Remove the oldest snapshots and their answers; the current ones always stay',
  builder: (argv) => declareOptions(argv, pruneOptions),
  async handler({ warehouse, json, ...keeping }) {
    const { prune } = await import('../manage-snapshots.ts');
    const pruned = await prune({ warehouse, ...readKeepOptions(keeping) });
    if (json) return void process.stdout.write(`${JSON.stringify(pruned)}\n`);
    const { removed, landings } = pruned;
    const lines = [
      removed.length === 0 ? '' : `Removed ${removed.length === 1 ? 'snapshot' : 'snapshots'} ${removed.join(', ')}.\n`,
      landings.length === 0 ? '' : `Removed the answers of ${landings.join(', ')}.\n`,
    ].join('');
    process.stdout.write(lines === '' ? 'Nothing to remove.\n' : lines);
  },
};
