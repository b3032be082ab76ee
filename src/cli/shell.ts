/** rekap shell: questions one after another, with history and completion. */

import { connectScript } from './connect.ts';
import { declareCommand } from './options/option.ts';
import { snapshotOption, readWarehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';
import type { Relation } from '../duckdb/dictionary.ts';
import type { Snapshot } from '../warehouse/warehouse.ts';

const dotCommands: readonly (readonly [string, string])[] = [
  ['.tables', 'every table and view'],
  ['.describe NAME', 'the columns of one'],
  ['.examples', 'questions that work'],
  ['.quit', 'leave; so does Ctrl-D'],
];

const examples = [
  "FROM turnout_by_province WHERE sex = 'both';",
  'SELECT list, sum(people) AS people FROM fact_people GROUP BY ALL;',
  "SELECT regency, message FROM violations WHERE severity = 'error';",
  'FROM data_quality WHERE errors > 0;',
];

const keywords =
  'SELECT FROM WHERE GROUP ORDER BY LIMIT JOIN USING WITH PIVOT DESCRIBE SUMMARIZE SHOW TABLES sum count'.split(' ');

export const shellCommand = declareCommand({
  options: {
    ...readWarehouseOption,
    ...snapshotOption,
    duckdb: {
      type: 'boolean',
      describe: "start DuckDB's own shell on the snapshot; the program duckdb has to be there",
    },
  },
  examples: [
    ['rekap shell', 'ask one question after another'],
    ['rekap shell --duckdb', "the same in DuckDB's own shell"],
  ],
  async run({ warehouse, snapshot: id, duckdb }) {
    const { chooseSnapshot, requireDatabase } = await import('../warehouse/warehouse.ts');
    const snapshot = await chooseSnapshot(warehouse, id);
    const database = await requireDatabase(snapshot);
    if (duckdb) return startDuckdb(snapshot, database);
    const { readPublishedDictionary } = await import('../duckdb/dictionary.ts');
    await converse(snapshot, database, await readPublishedDictionary(database));
  },
});

async function startDuckdb(snapshot: Snapshot, database: string): Promise<number> {
  const { spawn } = await import('node:child_process');
  const child = spawn('duckdb', ['-cmd', await connectScript(snapshot, database)], { stdio: 'inherit' });
  const code = await new Promise<number | null>((done, fail) => {
    child.once('error', (error) =>
      fail(
        new RekapError(
          'usage',
          'The program duckdb is not on this machine.',
          'Install it, or take "rekap shell" without --duckdb.',
          { cause: error },
        ),
      ),
    );
    child.once('exit', done);
  });
  return code ?? 1;
}

/** Reads statements, each up to its semicolon, and answers them until the input ends. */
async function converse(snapshot: Snapshot, database: string, relations: readonly Relation[]): Promise<void> {
  const [{ createInterface }, { printError, writeOut }] = await Promise.all([
    import('node:readline'),
    import('./print/terminal.ts'),
  ]);
  const isPerson = process.stdin.isTTY;
  const history = isPerson ? await openHistory() : null;
  const terminal = createInterface({
    input: process.stdin,
    output: process.stdout,
    terminal: isPerson,
    prompt: 'rekap> ',
    history: history?.lines ?? [],
    historySize: 1000,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(line, relations),
  });
  if (isPerson) await writeOut(`Snapshot ${snapshot.id}. A question ends with a semicolon; .help shows more.\n`);
  let statement = '';
  terminal.on('SIGINT', () => {
    statement = '';
    process.stdout.write('\n');
    ask();
  });
  terminal.on('history', (lines) => history?.keep(lines));
  const ask = (): void => {
    if (!isPerson) return;
    terminal.setPrompt(statement === '' ? 'rekap> ' : '   ... ');
    terminal.prompt();
  };
  const answer = async (text: string): Promise<void> => {
    try {
      await (text.startsWith('.') ? obey(text, relations) : query(snapshot, database, text));
    } catch (error) {
      // What is piped in has nobody to look at it: it ends with the first that fails.
      if (!isPerson) throw error;
      printError(error);
    }
  };
  ask();
  for await (const line of terminal) {
    if (statement === '' && /^\s*\.(quit|exit)\s*$/.test(line)) break;
    statement += `${line}\n`;
    const isWhole = /^\s*\./.test(statement) || /;\s*$/.test(statement);
    if (statement.trim() === '') statement = '';
    else if (isWhole) {
      const text = statement.trim();
      statement = '';
      await answer(text);
    }
    ask();
  }
  // What is piped in may end without a semicolon.
  if (statement.trim() !== '') await answer(statement.trim());
  terminal.close();
}

async function query(snapshot: Snapshot, database: string, sql: string): Promise<void> {
  const [{ runQuery }, { writeTable }, { writeOut }] = await Promise.all([
    import('../query/run-query.ts'),
    import('./print/result-table.ts'),
    import('./print/terminal.ts'),
  ]);
  await runQuery(database, sql, (result) => writeTable('columns')(result, writeOut));
  if (snapshot.manifest.source === 'sample') await writeOut('The figures of the sample are made up.\n');
}

async function obey(text: string, relations: readonly Relation[]): Promise<void> {
  const [command, name] = text.split(/\s+/);
  const [{ inColumns, widthOf }, { writeOut }] = await Promise.all([
    import('./print/text.ts'),
    import('./print/terminal.ts'),
  ]);
  const found = relations.find((relation) => relation.name === name);
  const rows =
    command === '.tables'
      ? relations.map(({ name: each, meaning }) => [each, meaning] as const)
      : command === '.describe' && found !== undefined
        ? found.columns.map(({ name: each, type, meaning }) => [`${each} ${type}`, meaning] as const)
        : command === '.examples'
          ? null
          : dotCommands;
  await writeOut(
    rows === null ? `${examples.join('\n')}\n` : `${inColumns(rows, widthOf(process.stdout)).join('\n')}\n`,
  );
}

/** Names of tables, columns, commands and words of SQL that go on from what is typed. */
function complete(line: string, relations: readonly Relation[]): [string[], string] {
  const typed = /[\w.]*$/.exec(line)![0];
  const names = [
    ...dotCommands.map(([command]) => command.split(' ')[0]!),
    ...relations.map(({ name }) => name),
    ...new Set(relations.flatMap(({ columns }) => columns.map(({ name }) => name))),
    ...keywords,
  ];
  const fitting = names.filter((name) => typed !== '' && name.toLowerCase().startsWith(typed.toLowerCase()));
  return [fitting, typed];
}

/** The questions of earlier days. Where they cannot be kept, nothing is. */
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
        // The questions are answered all the same.
      }
    },
  };
}
