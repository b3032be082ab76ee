/** A column of texts gives each row its own text, although it decodes none that repeats the one before. */

import fc from 'fast-check';
import { expect } from 'vitest';
import { TextColumn } from '../../src/transform/batch-builder.ts';
import { holds } from '../support/properties.ts';

/** Stretches of a few pages that consist of two letters, so that texts often begin, or repeat, each other. */
const pages = fc.array(fc.stringMatching(/^[ab]{0,12}$/), { minLength: 1, maxLength: 3 });
const stretches = fc.array(fc.tuple(fc.nat(), fc.nat(12), fc.nat(12)), { minLength: 1, maxLength: 20 });

holds(
  'gives back the text of every stretch, in one dictionary without doubles',
  fc.property(pages, stretches, (texts, wanted) => {
    const buffers = texts.map((text) => Buffer.from(text));
    const column = new TextColumn();
    for (const [choice, from, to] of wanted) {
      const page = buffers[choice % buffers.length]!;
      const [start, end] = [Math.min(from, to, page.length), Math.min(Math.max(from, to), page.length)];
      expect(column.texts[column.encodeBytes(page, start, end)]).toBe(page.toString('utf8', start, end));
    }
    expect(new Set(column.texts).size).toBe(column.texts.length);
  }),
  { runs: 500 },
);
