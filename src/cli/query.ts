/** rekap query: runs one SQL statement on a snapshot. */

import { declareCommand, type Options, type Values } from './options/option.ts';
import { readNamedFile, readWarehouseOption, resultOptions, snapshotOption, week } from './options/shared.ts';
import { formatOfFile, type PrintedFormat, printResult, saveResult } from './query-output.ts';
import { listenForSignals } from './signals.ts';
import { RekapError } from '../errors.ts';

const options = {
  ...readWarehouseOption,
  ...snapshotOption,
  file: { type: 'string', alias: 'f', describe: 'file with the query; - for standard input' },
  param: {
    type: 'array',
    nargs: 1,
    describe: 'value of a query parameter, such as code=11 for $code',
  },
  ...resultOptions,
  format: {
    ...resultOptions.format,
    choices: ['table', 'markdown', 'csv', 'json', 'parquet', 'arrow'],
    describe: 'output format',
    defaultDescription: 'from the extension of --out, otherwise table',
  },
  out: { type: 'string', describe: 'output file, such as rows.csv; required for parquet and arrow' },
  layout: {
    type: 'string',
    choices: ['columns', 'blocks'],
    default: 'columns',
    describe: 'table layout: one line per row, or one block per row',
  },
  'max-duration': {
    type: 'number',
    range: [1, week],
    describe: 'maximum seconds for the query',
    defaultDescription: 'no limit',
  },
} as const satisfies Options;

export const queryCommand = declareCommand({
  positionals: { sql: 'one read-only statement; - for standard input' },
  options,
  exclusive: ['format', 'json'],
  examples: [
    ['rekap query "SHOW TABLES"', 'list all tables and views'],
    ['rekap query "FROM changes WHERE kind = \'changed\'"', 'values that the source changed'],
    ['rekap query "FROM violations" --format csv | head', 'failed checks'],
    ['rekap query "FROM violations" --out violations.csv', 'a file for a spreadsheet'],
    ['rekap query -f rows.sql --param code=11', 'a query from a file, with a value for $code'],
  ],
  run: runQueryCommand,
});

async function runQueryCommand(args: Values<typeof options>, [argument]: readonly string[]): Promise<void> {
  const sql = await readSql(argument, args.file);
  const parameters = readParameters(args.param);
  const { warehouse, out, 'max-duration': seconds } = args;
  const format =
    args.format ?? (args.json ? 'json' : out === undefined ? 'table' : formatOfFile(out, ', or add --format'));
  if (out === undefined && (format === 'parquet' || format === 'arrow'))
    throw new RekapError('usage', `--format ${format} requires an output file.`, 'Add --out FILE.');
  const [
    { temporaryName, requireOutside },
    { chooseSnapshot, requireDatabase },
    { sampleNotice },
    { boundQuery },
    { maxMemory },
  ] = await Promise.all([
    import('../snapshots/query/write-aside.ts'),
    import('../warehouse/warehouse.ts'),
    import('../warehouse/snapshot-format.ts'),
    import('./bound-query.ts'),
    import('../runtime/database.ts'),
  ]);
  const snapshot = await chooseSnapshot(warehouse, args.snapshot);
  const database = await requireDatabase(snapshot);
  if (out !== undefined) await requireOutside(out, warehouse);
  const leftovers = out === undefined ? [] : [await temporaryName(out)];
  const interruption = out === undefined ? null : listenForSignals({ next: `${out} was not written.` });
  const watch = boundQuery({ seconds, memory: maxMemory, leftovers });
  const signal = AbortSignal.any([watch.signal, ...(interruption === null ? [] : [interruption.signal])]);
  const bounds = { signal, parameters };
  const query = { database, sql, notice: sampleNotice(snapshot.manifest) };
  try {
    if (out !== undefined) await saveResult({ ...query, out, format }, bounds);
    else await printResult({ ...query, format: format as PrintedFormat, layout: args.layout, isPaged: true }, bounds);
  } finally {
    interruption?.stop();
    await watch.stop();
  }
}

const maxSqlLength = 10_000_000;

/** @throws `usage` if the query is missing, or given twice. */
async function readSql(argument: string | undefined, file: string | undefined): Promise<string> {
  if (argument !== undefined && file !== undefined)
    throw new RekapError('usage', 'You gave two queries: an argument and --file.', 'Give only one of them.');
  if (file !== undefined && file !== '-') return readNamedFile('query', file, 'file');
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === undefined && file === undefined && process.stdin.isTTY)
    throw new RekapError(
      'usage',
      'The query is missing.',
      'Give it as an argument, such as rekap query "SHOW TABLES", as a file with -f, or on standard input.',
    );
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) {
    text += piece;
    if (text.length > maxSqlLength)
      throw new RekapError('usage', 'The standard input is too long for a query.', 'Pipe in a single statement.');
  }
  return text;
}

/** Reads parameters such as code=11. @throws `usage` if a name is missing. */
function readParameters(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at).replace(/^\$/, ''), text.slice(at + 1)];
      throw new RekapError(
        'usage',
        `--param ${JSON.stringify(text)} does not have the form NAME=VALUE.`,
        'Write --param code=11, and use $code in the query.',
      );
    }),
  );
}
