/** rekap query: one SQL statement on a snapshot. */

import { declareCommand, type Options, type Values } from './options/option.ts';
import { resultOptions, snapshotOption, readWarehouseOption, week } from './options/shared.ts';
import { readParameters, readSql } from './read-sql.ts';
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

async function runQueryCommand(args: Values<typeof options>, [word]: readonly string[]): Promise<void> {
  const sql = await readSql({ word, file: args.file });
  const parameters = readParameters(args.param);
  const { warehouse, out, 'max-duration': seconds } = args;
  const format =
    args.format ?? (args.json ? 'json' : out === undefined ? 'table' : formatOfFile(out, ', or add --format'));
  if (out === undefined && (format === 'parquet' || format === 'arrow'))
    throw new RekapError('usage', `--format ${format} requires an output file.`, 'Add --out FILE.');
  const [
    { asideName, requireOutside },
    { chooseSnapshot, requireDatabase },
    { sampleNotice },
    { boundQuery },
    { mostMemory },
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
  const leftovers = out === undefined ? [] : [await asideName(out)];
  const interruption = out === undefined ? null : listenForSignals({ next: `${out} was not written.` });
  const watch = boundQuery({ seconds, memory: mostMemory, leftovers });
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
