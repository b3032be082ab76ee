/** Writes the help: of the whole program, of a group of commands, and of one command from what it declares. */

import { commands, groups } from './commands.ts';
import type { Command, CommandEntry, Option } from './options/option.ts';
import { configOption } from './options/shared.ts';
import { paint } from './print/terminal.ts';
import { inColumns, widthOf, wrap } from './print/text.ts';

type Rows = readonly (readonly [string, string])[];

const purpose = 'Copies paged lists from a web service to DuckDB and Parquet, and proves that they are complete.';

const examples: Rows = [
  ['rekap sync --sample', 'try rekap with sample figures'],
  ['rekap sync --base-url https://…', 'copy the figures of a service; REKAP_API_KEY holds the key'],
  ['rekap query "SHOW TABLES"', 'query the published tables'],
  ['rekap diff', 'see which figures the source changed'],
];

const notes = [
  'For help on a command, add --help, such as rekap sync --help.',
  'You can also set options in environment variables, such as REKAP_BASE_URL for --base-url, or in a JSON file: rekap.json in the working directory, or the file that you name with --config. The command line takes precedence over the environment, and the environment over the file.',
  'Exit codes: 0 success, 1 unexpected error, 2 usage error, 3 quality gate refused, 4 source failed, 5 warehouse busy, 6 stale data (status only), 7 last run failed (status only), 8 push or pull failed, 129 terminal closed, 130 interrupted, 143 terminated.',
];

export function renderOverview(stream: NodeJS.WriteStream): string {
  const rows = new Map(
    commands.map(({ name, usage, describe }): readonly [string, string] => {
      const [first = ''] = name.split(' ');
      return Object.hasOwn(groups, first) ? [first, groups[first]!] : [usage, describe];
    }),
  );
  return page(purpose, stream, [
    ['Usage', ['  rekap <command> [options]']],
    ['Commands', [...rows]],
    ['Examples', examples],
    ['', notes.flatMap((note) => [...wrap(note, widthOf(stream)), ''])],
  ]);
}

export function renderGroupHelp(group: string, stream: NodeJS.WriteStream): string {
  const own = commands.filter(({ name }) => name.startsWith(`${group} `));
  return page(`${groups[group]}.`, stream, [
    ['Usage', [`  rekap ${group} [command] [options]`]],
    ['Commands', own.map(({ usage, describe }) => [usage, describe] as const)],
    ['', [`Without a command, "rekap ${group}" runs "rekap ${group} list".`, '']],
  ]);
}

export function renderCommandHelp(
  { usage, describe }: CommandEntry,
  command: Command,
  stream: NodeJS.WriteStream,
): string {
  const { words = {}, options, examples: lines = [], notes: more } = command;
  return page(`${describe}.`, stream, [
    ['Usage', [`  rekap ${usage} [options]`]],
    ['Arguments', Object.entries(words)],
    [
      'Options',
      [
        ...Object.entries<Option>({ ...options, ...configOption }).map(
          ([name, option]) => [flag(name, option), describeOption(option)] as const,
        ),
        ['--help', 'show this help'],
      ],
    ],
    ['Examples', lines],
    ['', more === undefined ? [] : [more(widthOf(stream)), '']],
  ]);
}

function flag(name: string, { takes, short }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${takes === undefined ? '' : ` ${takes}`}`;
}

/** What it is, what it may be, and what it is by default. */
function describeOption({ describe, range, choices, defaultText, default: usual = defaultText }: Option): string {
  const may = choices?.join(', ') ?? (range === undefined ? '' : `${range[0]} to ${range[1]}`);
  const brackets = [may, usual === undefined ? '' : `default: ${usual}`].filter((part) => part !== '').join('; ');
  return brackets === '' ? describe : `${describe} [${brackets}]`;
}

/** A first sentence, then parts under headings; a part without lines is left out. */
function page(
  first: string,
  stream: NodeJS.WriteStream,
  parts: readonly (readonly [heading: string, lines: Rows | readonly string[]])[],
): string {
  const width = widthOf(stream);
  const lines = parts.flatMap(([heading, content]) => {
    if (content.length === 0) return [];
    const isText = (line: (typeof content)[number]): line is string => typeof line === 'string';
    const written = content.flatMap((line) => (isText(line) ? [line] : []));
    const columns = content.flatMap((line) => (isText(line) ? [] : [line]));
    const shown = columns.length > 0 ? [...inColumns(columns, width), ''] : heading === '' ? written : [...written, ''];
    return heading === '' ? shown : [paint('bold', heading, stream), ...shown];
  });
  return [...wrap(first, width), '', ...lines].join('\n');
}
