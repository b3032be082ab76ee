/** rekap dictionary: describes tables and columns, from the comments in the snapshot. */

import { declareCommand } from './options/option.ts';
import { jsonOption, readWarehouseOption } from './options/shared.ts';
import { RekapError } from '../errors.ts';

export const dictionaryCommand = declareCommand({
  positionals: { table: 'name of a table or view [default: all]' },
  options: { ...readWarehouseOption, ...jsonOption },
  examples: [
    ['rekap dictionary', 'list all tables and views'],
    ['rekap dictionary violations', 'describe the columns of a table'],
    ['rekap dictionary --json > dictionary.json', 'all tables and columns, for a program'],
  ],
  async run({ warehouse, json }, [table]) {
    const [{ requireCurrent, requireDatabase }, { readPublishedDictionary }, { printJson, paint }] = await Promise.all([
      import('../warehouse/warehouse.ts'),
      import('../warehouse/read-dictionary.ts'),
      import('./print/terminal.ts'),
    ]);
    const all = await readPublishedDictionary(await requireDatabase(await requireCurrent(warehouse)));
    const relations = table === undefined ? all : all.filter(({ name }) => name === table);
    if (relations.length === 0) {
      const { didYouMean } = await import('../runtime/closest-name.ts');
      const names = all.map(({ name }) => name);
      const message = `Unknown table or view ${JSON.stringify(table)}.`;
      throw new RekapError(
        'usage',
        message,
        didYouMean(table ?? '', names, `The tables and views are ${names.join(', ')}.`),
      );
    }
    if (json) return printJson(relations);
    const { inColumns, widthOf, wrap } = await import('./print/wrap-text.ts');
    const width = widthOf(process.stdout);
    const lines =
      table === undefined
        ? [
            ...inColumns(
              relations.map(({ name, meaning }) => [name, meaning] as const),
              width,
            ),
            '',
            'For the columns of a table, run "rekap dictionary <table>".',
          ]
        : relations.flatMap(({ name, kind, meaning, columns }) => [
            `${paint('bold', name)}, a ${kind}`,
            ...wrap(meaning, width),
            '',
            ...inColumns(
              columns.map(({ name: column, type, unit, meaning: what, field }) => [
                `${column.padEnd(Math.max(...columns.map(({ name: { length } }) => length)))}  ${type}`,
                [what, unit === '' ? '' : `Unit: ${unit}.`, field === null ? '' : `Source field: ${field}.`]
                  .filter((part) => part !== '')
                  .join(' '),
              ]),
              width,
            ),
          ]);
    process.stdout.write(`${lines.join('\n')}\n`);
  },
});
