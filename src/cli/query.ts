/** rekap query: one SQL statement on a snapshot. */

import { extname } from 'node:path';
import { declareCommand, type Options, type Values } from './options/option.ts';
import { resultOptions, snapshotOption, readWarehouseOption, week } from './options/shared.ts';
import { readParameters, readSql } from './read-sql.ts';
import { listenForSignals } from './signals.ts';
import { RekapError } from '../errors.ts';
import type { QueryResult } from '../query/query-result.ts';
import type { Write } from '../query/write-result.ts';
import { countOf } from '../runtime/text.ts';

const options = {
  ...readWarehouseOption,
  ...snapshotOption,
  file: { type: 'text', takes: 'FILE', short: 'f', describe: 'file that holds the query; - for standard input' },
  param: {
    type: 'texts',
    takes: 'NAME=VALUE',
    describe: 'value of a parameter, such as dapil=1101 for $dapil in the query',
  },
  ...resultOptions,
  format: {
    ...resultOptions.format,
    choices: ['table', 'markdown', 'csv', 'json', 'parquet', 'arrow'],
    describe: 'how to give the result [default: as the name of --out ends, otherwise table]',
  },
  out: { type: 'text', takes: 'FILE', describe: 'file to write, such as people.csv; needed for parquet and arrow' },
  layout: {
    type: 'text',
    takes: 'LAYOUT',
    choices: ['columns', 'blocks'],
    default: 'columns',
    describe: 'of a table: rows below each other, or a block for each row',
  },
  'max-duration': {
    type: 'number',
    takes: 'SECONDS',
    range: [1, week],
    describe: 'seconds for the query [default: no bound]',
  },
} as const satisfies Options;

/** What a file's name says of its format. */
const formatsByEnding = {
  '.md': 'markdown',
  '.csv': 'csv',
  '.json': 'json',
  '.parquet': 'parquet',
  '.arrow': 'arrow',
} as const;

/** Endings of a file that a person reads as it is. */
const textEndings = new Set(['', '.txt']);

type Format = (typeof options)['format']['choices'][number];
type TextFormat = Exclude<Format, 'table' | 'parquet' | 'arrow'>;

export const queryCommand = declareCommand({
  words: { sql: 'one statement that reads; - for standard input' },
  options,
  exclusive: ['format', 'json'],
  examples: [
    ['rekap query "SHOW TABLES"', 'what there is'],
    ['rekap query "FROM turnout_by_province WHERE sex = \'both\'"', 'turnout by province'],
    ['rekap query "FROM violations" --format csv > violations.csv', 'every doubtful figure'],
    ['rekap query "FROM fact_people" --out people.csv', 'a file for a spreadsheet'],
    ['rekap query -f turnout.sql --param dapil=1101', 'a query from a file, with a value for $dapil'],
  ],
  run: runQueryCommand,
});

async function runQueryCommand(args: Values<typeof options>, [word]: readonly string[]): Promise<void> {
  const sql = await readSql({ word, file: args.file });
  const parameters = readParameters(args.param);
  const { warehouse, out, 'max-duration': seconds } = args;
  const format = args.format ?? (args.json ? 'json' : formatByName(out));
  const isFile = format === 'parquet' || format === 'arrow';
  if (isFile && out === undefined)
    throw new RekapError('usage', `--format ${format} writes a file.`, 'Name it with --out.');
  const [
    { queryToParquet, runQuery },
    { asideName, requireOutside, writeAside },
    { writeCsv, writeJson, writeMarkdown },
    { chooseSnapshot, requireDatabase },
    { writeOut },
    { writePaged },
    { boundQuery },
    { mostMemory },
  ] = await Promise.all([
    import('../query/run-query.ts'),
    import('../query/write-aside.ts'),
    import('../query/write-result.ts'),
    import('../warehouse/warehouse.ts'),
    import('./print/terminal.ts'),
    import('./print/pager.ts'),
    import('./bound-query.ts'),
    import('../duckdb/database.ts'),
  ]);
  const snapshot = await chooseSnapshot(warehouse, args.snapshot);
  const database = await requireDatabase(snapshot);
  if (out !== undefined) await requireOutside(out, warehouse);
  const told = (rows: number): void => void process.stderr.write(`${countOf(rows, 'row')} written to ${out}\n`);
  const tables = format === 'table' ? await import('./print/result-table.ts') : null;
  const drawTable = out === undefined ? tables?.writeTable(args.layout) : tables?.writePlainTable;
  const writeRows = drawTable ?? { csv: writeCsv, markdown: writeMarkdown, json: writeJson }[format as TextFormat];
  const render = async (result: QueryResult, to: Write): Promise<number> => {
    const rows = await writeRows(result, to);
    if (drawTable !== undefined && snapshot.manifest.source === 'sample')
      await to('The figures of the sample are made up.\n');
    return rows;
  };
  const show = (draw: (to: Write) => Promise<number>): Promise<unknown> =>
    drawTable === undefined ? draw(writeOut) : writePaged(draw);
  const leftovers = out === undefined ? [] : [await asideName(out)];
  const interruption = out === undefined ? null : listenForSignals({ next: `${out} was not written.` });
  const watch = boundQuery({ seconds, memory: mostMemory, leftovers });
  const signal = AbortSignal.any([watch.signal, ...(interruption === null ? [] : [interruption.signal])]);
  try {
    if (out === undefined)
      return void (await runQuery(database, sql, (result) => show((to) => render(result, to)), { signal, parameters }));
    if (format === 'parquet') return told(await queryToParquet(database, sql, out, { signal, parameters }));
    const rows = await writeAside(out, async (aside) => {
      const { open } = await import('node:fs/promises');
      const file = await open(aside, 'wx');
      const write = (piece: string | Uint8Array): Promise<void> => {
        signal.throwIfAborted();
        // appendFile writes all that it is given; write may write a part.
        return file.appendFile(piece);
      };
      try {
        if (format !== 'arrow')
          return await runQuery(database, sql, (result) => render(result, write), { signal, parameters });
        const { writeArrow } = await import('../query/write-arrow.ts');
        return await runQuery(database, sql, (result) => writeArrow(result, write), { signal, parameters });
      } finally {
        await file.close();
      }
    });
    told(rows);
  } finally {
    interruption?.stop();
    await watch.stop();
  }
}

/** The format that the name of a file ends in; a table on the terminal, and into a file whose name says nothing else. */
function formatByName(out: string | undefined): Format {
  const ending = out === undefined ? '' : extname(out).toLowerCase();
  const known = Object.entries(formatsByEnding).find(([name]) => name === ending)?.[1];
  if (known !== undefined || textEndings.has(ending)) return known ?? 'table';
  throw new RekapError(
    'usage',
    `No format goes by the ending ${JSON.stringify(ending)} of ${out}.`,
    `Name a file that ends in ${Object.keys(formatsByEnding).join(', ')} or .txt, or say --format.`,
  );
}
