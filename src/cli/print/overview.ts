/** Renders the help of the program: the commands in groups, the main job first. */

import { inColumns, wrap } from './wrap-text.ts';
import type { CommandLine } from '../options/option.ts';

export function renderOverview({ commands, groups, overview }: CommandLine, width: number): string {
  const rowOf = (name: string): readonly [string, string] => {
    const entry = commands.find((command) => command.name === name);
    return [entry?.usage ?? name, entry?.describe ?? overview.others[name] ?? ''];
  };
  const sections = Object.entries(groups).map(([title, names]) => ({ title, rows: names.map(rowOf) }));
  const first = Math.max(...sections.flatMap(({ rows }) => rows.map(([usage]) => usage.length)));
  return [
    'rekap <command> [options]',
    '',
    ...wrap(overview.purpose, width),
    '',
    ...sections.flatMap(({ title, rows }) => [title, ...inColumns(rows, width, first), '']),
    'Examples',
    ...inColumns(overview.examples ?? [], width),
    '',
    ...overview.notes.split('\n').flatMap((note) => wrap(note, width)),
    '',
  ].join('\n');
}
