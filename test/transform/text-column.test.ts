/** A column of texts gives each row its own text, in one dictionary without doubles, although it decodes none of them. */

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { begin, mix, type Mixed } from '../../src/records/fingerprint-table.ts';
import { TextColumn } from '../../src/transform/text-column.ts';
import { hostileTexts } from '../support/hostile-texts.ts';
import { holds } from '../support/properties.ts';

/** Encodes texts that follow one another in one page; gives their codes. */
function encodeAll(column: TextColumn, texts: readonly string[]): number[] {
  const page = Buffer.from(texts.join(''));
  let end = 0;
  return texts.map((text) => {
    const start = end;
    end += Buffer.byteLength(text);
    return column.encode(page, start, end);
  });
}

/** What the dictionary says in Arrow's form of it. */
function textsOf({ dictionary: { bytes, starts } }: TextColumn): string[] {
  return Array.from({ length: starts.length - 1 }, (_, code) =>
    Buffer.from(bytes.subarray(starts[code], starts[code + 1])).toString(),
  );
}

/** Stretches of a few pages that consist of two letters, so that texts often begin, or repeat, each other. */
const pages = fc.array(fc.stringMatching(/^[ab]{0,12}$/), { minLength: 1, maxLength: 3 });
const stretches = fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.nat(12)), { minLength: 1, maxLength: 20 });

holds(
  'gives back the text of every stretch, in one dictionary without doubles',
  fc.property(pages, stretches, (texts, wanted) => {
    const buffers = texts.map((text) => Buffer.from(text));
    const column = new TextColumn(wanted.length);
    for (const [choice, from, to] of wanted) {
      const page = buffers[choice % buffers.length]!;
      const [start, end] = [Math.min(from, to, page.length), Math.min(Math.max(from, to), page.length)];
      expect(column.text(column.encode(page, start, end))).toBe(page.toString('utf8', start, end));
    }
    expect(new Set(textsOf(column)).size).toBe(column.length);
  }),
  { runs: 500 },
);

it('keeps thousands of texts of any length and alphabet while its dictionary grows', () => {
  const texts = [
    ...hostileTexts,
    ...Array.from({ length: 5000 }, (_, place) => `${'KOTA '.repeat(place % 40)}${place}`),
  ];
  const column = new TextColumn(2 * texts.length);
  const codes = encodeAll(column, [...texts, ...texts.toReversed()]);
  expect(textsOf(column)).toEqual([...new Set(texts)]);
  expect(codes.map((code) => column.text(code))).toEqual([...texts, ...texts.toReversed()]);
  expect(column.size).toBe(Buffer.byteLength([...new Set(texts)].join('')));
});

it('tells texts apart that have one fingerprint', () => {
  // Found by trying some 10^12 pairs; whoever changes how bytes are mixed has to find others.
  const [one, other] = ['KOTAuxGR', 'AzTS~!F,'];
  const [print, otherPrint] = [one, other].map((text): Mixed => {
    const into = { high: 0, low: 0 };
    begin(into);
    mix(Buffer.from(text), 0, text.length, into);
    return into;
  });
  expect(print).toEqual(otherPrint);
  const column = new TextColumn(5);
  const texts = [one, other, one, one, other];
  expect(encodeAll(column, texts).map((code) => column.text(code))).toEqual(texts);
});
