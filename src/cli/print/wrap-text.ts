/** Measures, cuts and wraps texts for a terminal. */

import { eastAsianWidth } from 'get-east-asian-width';
import { stripVTControlCharacters } from 'node:util';

/** Longer lines are hard to read. */
const maxWidth = 100;

/** Returns the width for texts on a stream: that of the terminal, within readable limits. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.max(40, Math.min(maxWidth, terminalColumns(stream) ?? maxWidth));
}

/** Returns the width for help, which is also printed without a terminal. */
export function helpWidth(): number {
  return Math.min(process.stdout.columns ?? (Number(process.env['COLUMNS']) || 80), maxWidth);
}

/** Lays out two columns. Wraps the second one, or puts it below the first one if it would be too narrow. */
export function inColumns(rows: readonly (readonly [string, string])[], width: number, minFirst = 0): string[] {
  const first = Math.max(minFirst, ...rows.map(([left]) => left.length)) + 4;
  const fits = width - first >= 24;
  return rows.flatMap(([left, right]) => {
    const lines = wrap(right, fits ? width - first : width - 4);
    if (!fits) return [`  ${left}`, ...lines.map((line) => `    ${line}`)];
    return lines.map((line, index) => (index === 0 ? `  ${left}` : '').padEnd(first) + line);
  });
}

export function wrap(text: string, width: number, words: readonly string[] = text.split(' ')): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && shownWidth(line) + 1 + shownWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Wraps long lines for a terminal, with a hanging indent, and never inside a quoted command. Other streams get the text unchanged. */
export function fitLines(text: string, stream: NodeJS.WriteStream): string {
  const columns = terminalColumns(stream);
  if (columns === null) return text;
  const room = Math.max(40, columns);
  return text
    .split('\n')
    .flatMap((line) => (shownWidth(line) <= room ? [line] : hang(line, room - 1)))
    .join('\n');
}

function hang(line: string, room: number): string[] {
  const indent = /^ */.exec(line)![0];
  const words = line.match(/"rekap [^"]*"[^ ]*|[^ ]+/g) ?? [];
  const further = `${indent}  `;
  return wrap(line, room - further.length, words).map((part, index) => (index === 0 ? indent : further) + part);
}

/** Returns the width of a terminal; null if the stream isn't one, or its width is unknown, such as 0 in some containers. */
export function terminalColumns({ isTTY, columns }: NodeJS.WriteStream): number | null {
  return isTTY && columns > 0 ? columns : null;
}

/** Returns the width of a text on a terminal, without its style codes. */
export function shownWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += widthOfCharacter(character);
  return width;
}

/** Combining marks and format characters have no width. */
function widthOfCharacter(character: string): number {
  return /[\p{Mn}\p{Me}\p{Cf}]/u.test(character) ? 0 : eastAsianWidth(character.codePointAt(0)!);
}

/** Cuts a text that is too wide, adds "…", and removes its style codes. */
export function cutToWidth(text: string, width: number): string {
  return shownWidth(text) <= width ? text : `${beginningOf(stripVTControlCharacters(text), width - 1)}…`;
}

function beginningOf(text: string, width: number): string {
  let beginning = '';
  let room = width;
  for (const character of text) {
    room -= widthOfCharacter(character);
    if (room < 0) break;
    beginning += character;
  }
  return beginning;
}
