/** Texts for people: how wide they are on a terminal, cut or broken into lines that fit it. */

import { eastAsianWidth } from 'get-east-asian-width';
import { stripVTControlCharacters } from 'node:util';

/** Wider lines than this are hard to read. */
const widest = 100;

/** Columns that a text on this stream may take: those of its terminal, but no more than are easy to read. */
export function widthOf(stream: NodeJS.WriteStream): number {
  return Math.max(40, Math.min(widest, terminalColumns(stream) ?? widest));
}

/** Two columns, the second wrapped where it is too wide, or below the first where there is no room for it. */
export function inColumns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const first = Math.max(...rows.map(([left]) => left.length)) + 4;
  const fits = width - first >= 24;
  return rows.flatMap(([left, right]) => {
    const lines = wrap(right, fits ? width - first : width - 4);
    if (!fits) return [`  ${left}`, ...lines.map((line) => `    ${line}`)];
    return lines.map((line, index) => (index === 0 ? `  ${left}` : '').padEnd(first) + line);
  });
}

/** The lines of a text, broken between words. */
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

/** The same, with words that are wider than a line broken too, so that nothing is left out. */
export function breakText(text: string, width: number): string[] {
  return wrap(text, width).flatMap((line) => {
    const lines: string[] = [];
    for (let rest = line; rest !== '' || lines.length === 0;) {
      // A single character may be wider than all there is.
      const part =
        shownWidth(rest) <= width ? rest : beginningOf(rest, width) || String.fromCodePoint(rest.codePointAt(0)!);
      lines.push(part);
      rest = rest.slice(part.length);
    }
    return lines;
  });
}

/**
 * Prose with every line that is too long for the terminal broken between words, set in from there on; a command in quotes counts as one
 * word. Where no person reads along, nothing is broken.
 */
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

/** Columns of the terminal that a stream is; null where it is none or says no width, such as 0 in some containers. */
export function terminalColumns({ isTTY, columns }: NodeJS.WriteStream): number | null {
  return isTTY && columns > 0 ? columns : null;
}

/** Columns of a terminal that a text takes; its colours take none. */
export function shownWidth(text: string): number {
  // Most texts are plain, and their length is their width.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of stripVTControlCharacters(text)) width += widthOfCharacter(character);
  return width;
}

/** Marks and signs that steer take no room. */
function widthOfCharacter(character: string): number {
  return /[\p{Mn}\p{Me}\p{Cf}]/u.test(character) ? 0 : eastAsianWidth(character.codePointAt(0)!);
}

/** The text itself, or its beginning with … and without colours where it takes more than `width` columns. */
export function cutToWidth(text: string, width: number): string {
  return shownWidth(text) <= width ? text : `${beginningOf(stripVTControlCharacters(text), width - 1)}…`;
}

/** As much of a text as takes at most `width` columns. */
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
