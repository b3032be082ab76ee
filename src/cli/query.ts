/** rekap query: runs one SQL statement on a snapshot. */

import { usageError } from './options/usage-error.ts';
import { fstatSync } from 'node:fs';
import { declareCommand, type Options, type Values } from './options/option.ts';
import { allOptions, pick, readWarehouse } from './options/all-options.ts';
import { boundQuery } from './bound-query.ts';
import { writeOut } from './print/terminal.ts';
import { describeAccess } from './query-guide.ts';
import { formatOfFile, printResult, saveResult } from './query-output.ts';
import { listenForSignals } from './signals.ts';
import { maxMemory } from '../runtime/database.ts';
import { requireOutside, temporaryName } from '../snapshots/query/write-aside.ts';
import { describeManifest, sampleNotice } from '../warehouse/snapshot-format.ts';
import { chooseSnapshot, requireDatabase } from '../warehouse/warehouse.ts';

const options = {
  ...readWarehouse,
  ...pick('snapshot', 'param'),
  json: { ...allOptions.json, describe: 'same as --format json' },
  format: {
    ...allOptions.format,
    choices: ['table', 'markdown', 'csv', 'json', 'parquet', 'xlsx'],
    defaultDescription: 'from the extension of --out, otherwise table',
  },
  out: { ...allOptions.out, describe: 'output file, such as rows.csv; required for parquet and xlsx' },
  'max-duration': {
    type: 'number',
    range: allOptions['max-duration'].range,
    describe: 'maximum seconds for the query',
    defaultDescription: 'no limit',
  },
} as const satisfies Options;

export const command = declareCommand({
  positionals: {
    sql: 'one read-only statement; - for standard input; without one, a list of the tables and views, and how to open the file elsewhere',
  },
  options,
  exclusive: ['format', 'json'],
  examples: [
    ['rekap query', 'list all tables and views, and the commands that open the file in DuckDB and Python'],
    ['rekap query "FROM changes WHERE kind = \'changed\'"', 'values that the source changed'],
    ['rekap query "FROM violations" --format csv | head', 'failed checks'],
    ['rekap query "FROM violations" --out violations.xlsx', 'a file for a spreadsheet'],
    ['rekap query "$(cat rows.sql)" --param code=11', 'a query from a file, with a value for $code'],
  ],
  run: runQueryCommand,
});

async function runQueryCommand(args: Values<typeof options>, [argument]: readonly string[]): Promise<void> {
  const sql = await readSql(argument);
  const parameters = readParameters(args.param);
  const { warehouse, out, 'max-duration': seconds } = args;
  const format = args.format ?? (args.json ? 'json' : out === undefined ? 'table' : formatOfFile(out));
  if ((format === 'parquet' || format === 'xlsx') && out === undefined)
    throw usageError(`--format ${format} requires an output file.`, 'Add --out FILE.');
  const snapshot = await chooseSnapshot(warehouse, args.snapshot);
  const database = await requireDatabase(snapshot);
  if (sql === null) return writeOut(await describeAccess(snapshot, database));
  if (out !== undefined) await requireOutside(out, warehouse);
  const leftovers = out === undefined ? [] : [await temporaryName(out)];
  const interruption = out === undefined ? null : listenForSignals({ next: `${out} was not written.` });
  const watch = boundQuery({ seconds, memory: maxMemory, leftovers });
  const signal = AbortSignal.any([watch.signal, ...(interruption === null ? [] : [interruption.signal])]);
  const query = { database, sql, notice: sampleNotice(snapshot.manifest) };
  try {
    const about = describeManifest(snapshot.manifest);
    if (out !== undefined) await saveResult({ ...query, out, format, about }, { signal, parameters });
    else if (format !== 'parquet' && format !== 'xlsx') await printResult({ ...query, format }, { signal, parameters });
  } finally {
    interruption?.stop();
    await watch.stop();
  }
}

const maxSqlLength = 10_000_000;

/** Returns null if there is neither an argument nor a pipe or a file on standard input. */
async function readSql(argument: string | undefined): Promise<string | null> {
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === undefined && fstatSync(0).isCharacterDevice()) return null;
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const piece of process.stdin) {
    text += piece;
    if (text.length > maxSqlLength)
      throw usageError('The standard input is too long for a query.', 'Pipe in a single statement.');
  }
  return text;
}

/** Reads parameters such as code=11. @throws `usage` if a name is missing. */
function readParameters(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at > 0) return [text.slice(0, at).replace(/^\$/, ''), text.slice(at + 1)];
      throw usageError(
        `--param ${JSON.stringify(text)} does not have the form NAME=VALUE.`,
        'Write --param code=11, and use $code in the query.',
      );
    }),
  );
}
