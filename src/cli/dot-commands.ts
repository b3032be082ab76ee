/** Implements the dot commands of `rekap shell`. */

import type { TableLayout } from './print/result-table.ts';
import { formatOfFile, type PrintedFormat } from './query-output.ts';
import { RekapError } from '../errors.ts';
import type { Relation } from '../warehouse/read-dictionary.ts';

export interface Session {
  readonly warehouse: string;
  readonly relations: readonly Relation[];
  mode: Mode;
  once: string | null;
  readonly examples: readonly string[];
}

export const modes = {
  table: { format: 'table', layout: 'columns' },
  line: { format: 'table', layout: 'blocks' },
  csv: { format: 'csv', layout: 'columns' },
  json: { format: 'json', layout: 'columns' },
  markdown: { format: 'markdown', layout: 'columns' },
} as const satisfies Readonly<Record<string, { format: PrintedFormat; layout: TableLayout }>>;
type Mode = keyof typeof modes;

interface DotCommand {
  readonly describe: string;
  /** Returns lines or two columns to print. */
  run(session: Session, given: string): Lines | Promise<Lines>;
}

type Lines = readonly string[] | readonly (readonly [string, string])[];

export const dotCommands: Readonly<Record<string, DotCommand>> = {
  '.tables': {
    describe: 'list all tables and views',
    run: ({ relations }) => relations.map(({ name, meaning }) => [name, meaning] as const),
  },
  '.describe': {
    describe: 'describe the columns of a table or view',
    run: describeRelation,
  },
  '.examples': { describe: 'show example queries', run: ({ examples }) => examples },
  '.mode': {
    describe: `print results as ${Object.keys(modes).join(', ')}`,
    run(session, given) {
      if (!Object.hasOwn(modes, given))
        throw usage(`Unknown mode ${JSON.stringify(given)}.`, `The modes are ${Object.keys(modes).join(', ')}.`);
      session.mode = given as Mode;
      return [];
    },
  },
  '.once': {
    describe: 'write the next result to a file; its extension sets the format',
    async run(session, given) {
      if (given === '') throw usage('.once needs a file name.', 'Add one, such as .once rows.csv.');
      formatOfFile(given);
      await (await import('../snapshots/query/write-aside.ts')).requireOutside(given, session.warehouse, '.once');
      session.once = given;
      return [];
    },
  },
  '.help': {
    describe: 'show this help',
    run: () => Object.entries(dotCommands).map(([name, { describe }]) => [name, describe] as const),
  },
  '.quit': { describe: 'leave the shell; quit, exit and Ctrl-D also work', run: () => [] },
};

export function isQuit(line: string): boolean {
  return /^\s*\.?(quit|exit)\s*;?\s*$/i.test(line);
}

/** @throws `usage` if the command doesn't exist, or its argument is invalid. */
export async function runDotCommand(line: string, session: Session): Promise<void> {
  const [, name = '', given = ''] = /^(\S+)\s*(.*?)[\s;]*$/s.exec(line) ?? [];
  if (!Object.hasOwn(dotCommands, name))
    throw usage(`Unknown command ${JSON.stringify(name)}.`, `The commands are ${Object.keys(dotCommands).join(', ')}.`);
  const [lines, { inColumns, widthOf }, { writeOut }] = await Promise.all([
    dotCommands[name]!.run(session, given),
    import('./print/wrap-text.ts'),
    import('./print/terminal.ts'),
  ]);
  const isPair = (each: Lines[number]): each is readonly [string, string] => typeof each !== 'string';
  const texts = lines.every(isPair) ? inColumns(lines, widthOf(process.stdout)) : lines;
  if (lines.length > 0) await writeOut(`${texts.join('\n')}\n`);
}

async function describeRelation({ relations }: Session, given: string): Promise<Lines> {
  const found = relations.find(({ name }) => name === given);
  if (found !== undefined) return found.columns.map(({ name, type, meaning }) => [`${name} ${type}`, meaning] as const);
  const { didYouMean } = await import('../runtime/closest-name.ts');
  const names = relations.map(({ name }) => name);
  throw usage(
    given === '' ? '.describe needs the name of a table or view.' : `Unknown table or view ${JSON.stringify(given)}.`,
    didYouMean(given, names, 'To list them, enter .tables.'),
  );
}

function usage(message: string, next: string): RekapError {
  return new RekapError('usage', message, next);
}
