/** Reports the problems of a project with the file, the line, and the code at fault. */

import { RekapError } from '../errors.ts';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** Number of lines before the SQL of a view or a check. */
  readonly headerLines: number;
}

export interface LocatedProblem {
  readonly file: SourceFile;
  readonly what: string;
  /** A line from 1, or names to find in the text, each after the previous one. */
  readonly at: number | readonly string[];
}

interface Position {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** Returns one error for all problems. Its message shows each with its line; its `reasons` have one line per problem. */
export function declarationError(problems: readonly LocatedProblem[]): RekapError {
  const located = problems.map(({ file, what, at }) => ({ file, what, at: positionOf(file, at) }));
  const reasons = located.map(({ file, what, at }) =>
    file.text === '' ? `${file.path}: ${what}` : `${file.path}:${at.line}: ${what}`,
  );
  const shown = located.map(({ file, at }, place) => [reasons[place]!, ...excerpt(file, at)].join('\n'));
  return new RekapError(
    'pipeline-definition',
    [`The project has ${shown.length === 1 ? 'a problem' : 'problems'}:`, ...shown].join('\n\n'),
    'Correct the project. To check all of it without requests to the source, run "rekap check".',
    { reasons },
  );
}

function positionOf({ text }: SourceFile, at: LocatedProblem['at']): Position {
  if (typeof at === 'number') return { line: at, column: 1, length: 0 };
  let [start, length, from] = [0, 0, 0];
  for (const name of at.filter((part) => !/^\d*$/.test(part))) {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const found = text.slice(from).search(new RegExp(`(?<!\\w)${escaped}(?!\\w)`));
    if (found < 0) continue;
    [start, length] = [from + found, name.length];
    from = start + length;
  }
  const before = text.slice(0, start).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1, length };
}

/** Returns the line, with the name at fault underlined. */
function excerpt({ text }: SourceFile, { line, column, length }: Position): string[] {
  const code = text.split('\n')[line - 1] ?? '';
  if (code.trim() === '' || code.length > 200) return [];
  const number = String(line);
  const lines = [`  ${number} | ${code.trimEnd()}`];
  // A tab stays a tab, so that the mark is below the name.
  const indent = code.slice(0, column - 1).replaceAll(/[^\t]/g, ' ');
  if (length > 0) lines.push(`  ${' '.repeat(number.length)} | ${indent}${'~'.repeat(length)}`);
  return lines;
}
