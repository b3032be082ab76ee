/** Decides how wide the columns of a table may be, and cuts texts to it. */

import { stripVTControlCharacters } from 'node:util';

/** Characters that take no room, and those that take two columns of a terminal: the scripts and signs of East Asia, and emoji. */
const narrow = /\p{Mn}|\p{Me}|\p{Cf}/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Columns of a terminal that a text without colours takes. */
export function displayWidth(text: string): number {
  // Most texts are plain, and their length is their width.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The same of a text with colours, which take none. */
export function shownWidth(text: string): number {
  return displayWidth(stripVTControlCharacters(text));
}

function widthOf(character: string): number {
  return narrow.test(character) ? 0 : wide.test(character) ? 2 : 1;
}

/** The text itself, or its beginning with … where it takes more than `width` columns. */
export function cutToWidth(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${beginningOf(text, width - 1)}…`;
}

/** As much of a text as takes at most `width` columns. */
export function beginningOf(text: string, width: number): string {
  let beginning = '';
  let room = width;
  for (const character of text) {
    room -= widthOf(character);
    if (room < 0) break;
    beginning += character;
  }
  return beginning;
}

/** The name of a column in lines of at most `width`, broken after underscores and spaces alone: a part that is wider stays whole. */
export function breakName(name: string, width: number): string[] {
  const lines: string[] = [];
  for (const part of name.split(/(?<=[_ ])/)) {
    const longer = (lines.at(-1) ?? '') + part;
    if (lines.length > 0 && displayWidth(longer.trimEnd()) <= width) lines[lines.length - 1] = longer;
    else lines.push(part);
  }
  return lines.map((line) => line.trimEnd());
}

/** Columns narrower than this say nothing any more. */
const narrowest = 8;

/**
 * Widths that add up to at most `room`: the widest of the columns that may be cut are cut first. Null where that is not
 * enough.
 */
export function fitWidths(widths: readonly number[], mayCut: readonly boolean[], room: number): number[] | null {
  const fitted = [...widths];
  let over = fitted.reduce((sum, width) => sum + width, 0) - room;
  while (over > 0) {
    const open = fitted.flatMap((width, index) => (mayCut[index] === true && width > narrowest ? [index] : []));
    if (open.length === 0) return null;
    const widest = Math.max(...open.map((index) => fitted[index]!));
    const those = open.filter((index) => fitted[index] === widest);
    // Down to the next widest, or by what is still too much, all of the widest alike.
    const next = Math.max(narrowest, ...open.map((index) => fitted[index]!).filter((width) => width < widest));
    const by = Math.min(widest - next, Math.ceil(over / those.length));
    for (const index of those) fitted[index]! -= by;
    over -= by * those.length;
  }
  return fitted;
}
