/** No external text can control a terminal: control characters are escaped, and other text is unchanged. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { printable } from '../../../src/cli/print/terminal.ts';
import { holds } from '../../support/properties.ts';

/** Ranges of control characters, line separators and writing directions. */
const commands: [number, number][] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0x061c, 0x061c],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2066, 0x2069],
];
const isCommand = (character: string): boolean =>
  commands.some(([first, last]) => character.codePointAt(0)! >= first && character.codePointAt(0)! <= last);

const command = fc
  .constantFrom(...commands)
  .chain(([first, last]) => fc.integer({ min: first, max: last }))
  .map((point) => String.fromCodePoint(point));
/** Visible characters. */
const harmless = fc
  .string({
    unit: fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }), fc.constantFrom('⏎', '\\u001b')),
  })
  .map((text) => text.replace(/[\p{C}\u2028\u2029]/gu, ''));
const sequences = ['\u001b[2J', '\u001b]0;x\u0007', '\r\n', '\u009b31m', '\u200b', '\u{e0041}', '\ud83d'];
const hostile = fc
  .array(fc.oneof(harmless, command, fc.constantFrom(...sequences)), { maxLength: 8 })
  .map((parts) => parts.join(''));

holds(
  'passes on no control character',
  fc.property(hostile, (text) => {
    const shown = printable(text);
    expect(Array.from(shown).filter(isCommand)).toEqual([]);
    expect(printable(shown)).toBe(shown);
  }),
  { runs: 100 },
);

holds(
  'escapes each of them in place and leaves the rest unchanged',
  fc.property(fc.array(fc.tuple(harmless, command), { maxLength: 6 }), (parts) => {
    const shown = parts.map(([rest, character]) => {
      const code = character.codePointAt(0)!.toString(16).padStart(4, '0');
      return `${rest}${character === '\n' ? '⏎' : `\\u${code}`}`;
    });
    expect(printable(parts.flat().join(''))).toBe(shown.join(''));
  }),
  { runs: 100 },
);
