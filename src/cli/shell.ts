/** rekap shell: runs queries interactively, with history and completion. */

import { resolve } from 'node:path';
import { dotCommands, isQuit, modes, runDotCommand, type Session } from './dot-commands.ts';
import { declareCommand } from './options/option.ts';
import { snapshotOption, readWarehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';
import type { Relation } from '../warehouse/read-dictionary.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

const keywords =
  'SELECT FROM WHERE GROUP ORDER BY LIMIT JOIN USING WITH PIVOT DESCRIBE SUMMARIZE SHOW TABLES sum count'.split(' ');

export const shellCommand = declareCommand({
  options: {
    ...readWarehouseOption,
    ...snapshotOption,
    duckdb: {
      type: 'boolean',
      describe: 'open the snapshot in the DuckDB shell; requires the program duckdb',
    },
  },
  examples: [
    ['rekap shell', 'run queries interactively'],
    ['rekap shell --duckdb', 'use the DuckDB shell instead'],
  ],
  async run({ warehouse, snapshot: id, duckdb }) {
    const { chooseSnapshot, requireDatabase } = await import('../warehouse/warehouse.ts');
    const snapshot = await chooseSnapshot(warehouse, id);
    const database = await requireDatabase(snapshot);
    if (duckdb) return startDuckdb(snapshot, database);
    const { readPublishedDictionary } = await import('../warehouse/read-dictionary.ts');
    const relations = await readPublishedDictionary(database);
    await runShell(snapshot, database, {
      warehouse,
      relations,
      examples: snapshot.manifest.project.examples,
      mode: 'table',
      once: null,
    });
  },
});

async function startDuckdb(snapshot: Snapshot, database: string): Promise<number> {
  const { spawn } = await import('node:child_process');
  const child = spawn('duckdb', ['-cmd', await attachScript(snapshot, database)], { stdio: 'inherit' });
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', (error) =>
      fail(
        new RekapError(
          'usage',
          'The program duckdb is not installed.',
          'Install it, or run "rekap shell" without --duckdb.',
          { cause: error },
        ),
      ),
    );
    child.once('exit', done);
  });
  return code ?? 1;
}

async function attachScript({ id, manifest }: Snapshot, database: string): Promise<string> {
  const [{ quoteText }, { sampleNotice }] = await Promise.all([
    import('../runtime/database.ts'),
    import('../warehouse/snapshot-format.ts'),
  ]);
  const notice = sampleNotice(manifest);
  return [
    `-- rekap snapshot ${id} from ${JSON.stringify(manifest.source)}, read-only. It stays the same when newer snapshots are published.`,
    ...(notice === null ? [] : [`-- ${notice}`]),
    `ATTACH ${quoteText(resolve(database))} AS rekap (READ_ONLY);`,
    'USE rekap;',
    'SHOW TABLES;',
    '',
  ].join('\n');
}

async function runShell(snapshot: Snapshot, database: string, session: Session): Promise<void> {
  const [{ createInterface }, { printError, writeOut }] = await Promise.all([
    import('node:readline'),
    import('./print/terminal.ts'),
  ]);
  const isInteractive = process.stdin.isTTY;
  const history = isInteractive ? await openHistory() : null;
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: isInteractive,
    prompt: 'rekap> ',
    history: history?.lines ?? [],
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(line, session.relations),
  });
  if (isInteractive) await writeOut(`Snapshot ${snapshot.id}. End a query with ";". For help, enter .help.\n`);
  let statement = '';
  terminal.on('SIGINT', () => {
    statement = '';
    process.stdout.write('\n');
    showPrompt();
  });
  terminal.on('history', (lines) => history?.keep(lines));
  const showPrompt = (): void => {
    if (!isInteractive) return;
    terminal.setPrompt(statement === '' ? 'rekap> ' : '   ... ');
    terminal.prompt();
  };
  const execute = async (text: string): Promise<void> => {
    try {
      await (text.startsWith('.') ? runDotCommand(text, session) : runStatement(snapshot, database, text, session));
    } catch (error) {
      // A script ends with its first error.
      if (!isInteractive) throw error;
      printError(error);
    }
  };
  showPrompt();
  for await (const line of terminal) {
    if (statement === '' && isQuit(line)) break;
    statement += `${line}\n`;
    const isComplete = /^\s*\./.test(statement) || /;\s*$/.test(statement);
    if (statement.trim() === '') statement = '';
    else if (isComplete) {
      const text = statement.trim();
      statement = '';
      await execute(text);
    }
    showPrompt();
  }
  if (statement.trim() !== '') await execute(statement.trim());
  terminal.close();
}

async function runStatement(snapshot: Snapshot, database: string, sql: string, session: Session): Promise<void> {
  const [{ printResult, saveResult, formatOfFile }, { sampleNotice }] = await Promise.all([
    import('./query-output.ts'),
    import('../warehouse/snapshot-format.ts'),
  ]);
  const query = { database, sql, notice: sampleNotice(snapshot.manifest) };
  const out = session.once;
  session.once = null;
  if (out !== null) return saveResult({ ...query, out, format: formatOfFile(out) });
  await printResult({
    ...query,
    ...modes[session.mode],
    expand: { columns: '.mode line', rows: '.mode csv' },
    isPaged: false,
  });
}

function complete(line: string, relations: readonly Relation[]): [string[], string] {
  const typed = /[\w.]*$/.exec(line)![0];
  const names = [
    ...Object.keys(dotCommands),
    ...relations.map(({ name }) => name),
    ...new Set(relations.flatMap(({ columns }) => columns.map(({ name }) => name))),
    ...keywords,
  ];
  const fitting = names.filter((name) => typed !== '' && name.toLowerCase().startsWith(typed.toLowerCase()));
  return [fitting, typed];
}

/** Reads the history file. Problems with the file are ignored. */
async function openHistory(): Promise<{ lines: string[]; keep(lines: readonly string[]): void }> {
  const [{ mkdir, readFile }, { writeFileSync }, { homedir }, { dirname, join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:fs'),
    import('node:os'),
    import('node:path'),
  ]);
  const state = process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state');
  const file = join(state, 'rekap', 'history');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return {
    lines,
    keep(kept) {
      try {
        writeFileSync(file, `${kept.join('\n')}\n`, { mode: 0o600 });
      } catch {
        // A shell without history still works.
      }
    },
  };
}
