/** Renders the help of the program, or of a group of commands such as `rekap lake`. */

import { inColumns, wrap } from './wrap-text.ts';
import type { CommandEntry } from '../options/option.ts';

const purpose = 'Copies paged lists from a web service to DuckDB and Parquet, and proves that they are complete.';

const examples = [
  ['rekap sync --sample', 'try rekap with sample figures'],
  ['rekap sync --base-url https://…', 'copy the figures of a service; REKAP_API_KEY holds the key'],
  ['rekap query', 'list the published tables, and the commands that open them in DuckDB'],
  ['rekap diff', 'see which figures the source changed'],
] as const;

const notes = [
  'For help on a command, add --help, such as rekap sync --help. For the version, run rekap --version.',
  'You can also set options in environment variables, such as REKAP_BASE_URL for --base-url, or in a JSON file: rekap.json in the working directory, or the file that you name with --config. The command line takes precedence over the environment, and the environment over the file.',
  'Exit codes: 0 success, 1 unexpected error, 2 usage error, 3 quality gate refused, 4 source failed, 5 warehouse or catalog busy, 6 stale data (status only), 7 last run failed (status only), 8 bucket or catalog failed, 129 terminal closed, 130 interrupted, 143 terminated.',
];

const lakeRow = [
  'lake',
  'Publish snapshots to an Iceberg catalog, show what is there, and let Spark build the tables',
] as const;

export function renderOverview(commands: readonly CommandEntry[], width: number): string {
  const sections = new Map<string, (readonly [string, string])[]>();
  for (const { group, name, usage, describe } of commands) {
    const rows = sections.get(group) ?? [];
    sections.set(group, rows);
    if (!name.startsWith('lake ')) rows.push([usage, describe]);
    else if (!rows.includes(lakeRow)) rows.push(lakeRow);
  }
  sections.set('Shell', [['completion', 'Print a completion script for your shell, bash or zsh']]);
  const first = Math.max(...[...sections.values()].flat().map(([usage]) => usage.length));
  return [
    'rekap <command> [options]',
    '',
    ...wrap(purpose, width),
    '',
    ...[...sections].flatMap(([title, rows]) => [title, ...inColumns(rows, width, first), '']),
    'Examples',
    ...inColumns(examples, width),
    ...notes.flatMap((note) => ['', ...wrap(note, width)]),
    '',
  ].join('\n');
}

export function renderGroup(commands: readonly CommandEntry[], width: number): string {
  const rows = commands.map(({ usage, describe }) => [`rekap ${usage}`, describe] as const);
  return `${['', 'Commands:', ...inColumns(rows, width)].join('\n')}\n`;
}
