/** Tables for a terminal: thin, with columns that fit what they hold. */

import CliTable from 'cli-table3';
import { paint } from './terminal.ts';

export interface TableOptions {
  readonly head: readonly string[];
  /** Columns that hold numbers, set flush right. */
  readonly right?: readonly number[];
}

/** A table with thin rules; cells are printed as they are, so texts from outside go through `printable` first. */
export function renderTable(rows: readonly (readonly string[])[], { head, right = [] }: TableOptions): string {
  const table = new CliTable({
    head: head.map((name) => paint('bold', name)),
    colAligns: head.map((_, index) => (right.includes(index) ? 'right' : 'left')),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: {
      top: '',
      'top-mid': '',
      'top-left': '',
      'top-right': '',
      bottom: '',
      'bottom-mid': '',
      'bottom-left': '',
      'bottom-right': '',
      left: '',
      'left-mid': '',
      mid: '',
      'mid-mid': '',
      right: '',
      'right-mid': '',
      middle: '',
    },
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
  return [lines[0], ...lines.slice(1).filter((line) => line !== '')].join('\n');
}
