/** rekap query: one SQL statement on the current snapshot. */

import type { CommandModule, InferredOptionTypes, Options } from 'yargs';
import { UsageError } from '../errors.ts';
import type { QueryResult } from '../query/run-query.ts';
import { declareOptions } from './declare-options.ts';
import { readFormat, resultOptions, warehouseOption } from './options.ts';

const options = {
  ...warehouseOption,
  ...resultOptions,
  format: { ...resultOptions.format, choices: ['table', 'csv', 'json', 'parquet', 'arrow'] },
  out: { type: 'string', describe: 'file to write; needed for parquet and arrow' },
} as const satisfies Record<string, Options>;

type QueryArguments = InferredOptionTypes<typeof options> & { sql: string };

/** A table is for reading; whoever needs more rows, or longer texts whole, needs a file. */
const mostTableRows = 1000;
const longestCell = 1000;

export const queryCommand: CommandModule<object, QueryArguments> = {
  builder: (argv) =>
    declareOptions(
      argv.positional('sql', { type: 'string', demandOption: true, describe: 'one statement that reads' }),
      options,
      {
        exclusive: ['format', 'json'],
        examples: [
          ['$0 query "SHOW TABLES"', 'what there is'],
          ['$0 query "FROM turnout_by_province WHERE sex = \'both\'"', 'turnout by province'],
          ['$0 query "FROM violations" --format csv > violations.csv', 'every doubtful figure'],
          ['$0 query "FROM counts" --format parquet --out counts.parquet', 'a file for a BI tool'],
        ],
      },
    ),
  handler: runQueryCommand,
};

async function runQueryCommand({ sql, warehouse, out, ...given }: QueryArguments): Promise<void> {
  const format = readFormat(given.format, given.json);
  const isFile = format === 'parquet' || format === 'arrow';
  if (isFile && out === undefined) throw new UsageError(`--format ${format} writes a file.`, 'Name it with --out.');
  const [
    { queryToParquet, runQuery },
    { requireOutside },
    { writeAside },
    { writeCsv, writeJson },
    { requireCurrent, requireDatabase },
    { countRows, writeOut },
  ] = await Promise.all([
    import('../query/run-query.ts'),
    import('../query/require-outside.ts'),
    import('../query/write-aside.ts'),
    import('../query/write-result.ts'),
    import('../warehouse.ts'),
    import('./terminal.ts'),
  ]);
  const database = await requireDatabase(await requireCurrent(warehouse));
  if (out !== undefined) await requireOutside(out, warehouse);
  const told = (rows: number): void => void process.stderr.write(`${countRows(rows)} written to ${out}\n`);
  if (format === 'parquet') return told(await queryToParquet(database, sql, out!));
  const render = format === 'csv' ? writeCsv : format === 'json' ? writeJson : writeTable;
  if (out === undefined) {
    await runQuery(database, sql, (result) => render(result, writeOut));
    return;
  }
  const rows = await writeAside(out, async (aside) => {
    const { open } = await import('node:fs/promises');
    const file = await open(aside, 'wx');
    // appendFile writes all that it is given; write may write a part.
    const write = (piece: string | Uint8Array): Promise<void> => file.appendFile(piece);
    try {
      if (format !== 'arrow') return await runQuery(database, sql, (result) => render(result, write));
      const { writeArrow } = await import('../query/write-arrow.ts');
      return await runQuery(database, sql, (result) => writeArrow(result, write));
    } finally {
      await file.close();
    }
  });
  told(rows);
}

async function writeTable(result: QueryResult, write: (text: string) => Promise<void>): Promise<number> {
  const [{ countRows, formatNumber, paint, printable }, { renderTable }, { displayText }] = await Promise.all([
    import('./terminal.ts'),
    import('./table.ts'),
    import('../query/write-result.ts'),
  ]);
  const { columns } = result;
  const isNumber = columns.map(({ type }) => /INT|DOUBLE|FLOAT|DECIMAL/.test(type));
  const rows: string[][] = [];
  let total = 0;
  for await (const group of result.groups()) {
    total += group.length;
    for (const row of group.slice(0, mostTableRows - rows.length)) {
      rows.push(
        row.map((value) => (value === null ? paint('dim', 'NULL') : printable(displayText(value), longestCell))),
      );
    }
  }
  const right = isNumber.flatMap((number, index) => (number ? [index] : []));
  await write(`${renderTable(rows, { head: columns.map(({ name }) => printable(name, longestCell)), right })}\n`);
  const counted = countRows(total);
  await write(
    paint(
      'dim',
      total > rows.length
        ? `${counted}, of which the first ${formatNumber(rows.length)} are shown; --format csv gives all\n`
        : `${counted}\n`,
    ),
  );
  return total;
}
