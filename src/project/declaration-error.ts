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
  /** The table of the pipeline with the problem, because a file can declare several pipelines. */
  readonly of?: string | null;
}

interface Position {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** Returns one error for all problems. Its message shows each with its line; its `reasons` have one line per problem. */
export function declarationError(problems: readonly LocatedProblem[]): RekapError {
  const located = problems.map((problem) => ({ ...problem, at: positionOf(problem) }));
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

function positionOf({ file: { text }, at, of = null }: LocatedProblem): Position {
  if (typeof at === 'number') return { line: at, column: 1, length: 0 };
  const object = of === null ? { start: 0, end: text.length } : objectOf(text, of);
  let [start, length, from] = [object.start, 0, object.start];
  for (const name of at.filter((part) => !/^\d*$/.test(part))) {
    const part = text.slice(from, object.end);
    const word = `(?<!\\w)${escapePattern(name)}(?!\\w)`;
    // A whole string or a property is likelier to be at fault than a word of a comment.
    const exact = part.search(new RegExp(`(?<=(['"\`]))${word}\\1|${word}(?=['"]?\\s*:)`));
    const found = exact < 0 ? part.search(new RegExp(word)) : exact;
    if (found < 0) continue;
    [start, length] = [from + found, name.length];
    from = start + length;
  }
  const before = text.slice(0, start).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1, length };
}

/** Returns the bounds of the object that declares a table; those of the text if it isn't found. */
function objectOf(text: string, table: string): { readonly start: number; readonly end: number } {
  const whole = { start: 0, end: text.length };
  const named = new RegExp(`\\btable['"]?\\s*:\\s*(['"\`])${escapePattern(table)}\\1`).exec(text);
  if (named === null) return whole;
  /** Finds the brace of the surrounding object, in steps of 1 or -1. */
  const findBrace = (step: number, inner: string, wanted: string): number => {
    let depth = 0;
    for (let at = named.index; at >= 0 && at < text.length; at += step) {
      if (text[at] === wanted && depth === 0) return at;
      if (text[at] === wanted) depth -= 1;
      else if (text[at] === inner) depth += 1;
    }
    return -1;
  };
  const [start, end] = [findBrace(-1, '}', '{'), findBrace(1, '{', '}')];
  return start < 0 || end < 0 ? whole : { start, end };
}

function escapePattern(name: string): string {
  return name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
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
