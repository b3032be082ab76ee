/** When a district is complete: two accounts of it agree, or one answer held it all; never with fewer records than were listed. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Borders } from '../../../src/extract/walk/borders.ts';
import { judgeWalk, type WalkFigures } from '../../../src/extract/walk/judge-walk.ts';
import { maxReadings } from '../../../src/readings.ts';
import type { Account } from '../../../src/extract/walk/tally.ts';
import { holds } from '../../support/properties.ts';

/** An account of these records, in this order. */
function accountOf(keys: string): Account {
  const distinct = new Set(keys);
  return { total: keys.length, distinct: distinct.size, content: '', set: [...distinct].sort().join('') };
}

/** The borders of pages of so many records. */
function bordersOf(lengths: readonly number[]): Borders {
  const borders = new Borders();
  let before = 0;
  for (const length of lengths) {
    borders.note(before, length);
    before += length;
  }
  return borders;
}

/** A walk to the empty page over several pages, that brought these records in this order. */
function walkOf(keys: string, overrides: Partial<WalkFigures> = {}): WalkFigures {
  return {
    ...accountOf(keys),
    has: () => false,
    lack: null,
    end: 'empty page',
    order: keys,
    overlaps: false,
    isBesideSweep: false,
    borders: new Borders(),
    isCapped: false,
    inOnePiece: false,
    ...overrides,
  };
}

/** What a walk lacks of the records shown before. */
function lackOf({ order }: WalkFigures, shown: readonly string[]): WalkFigures['lack'] {
  const lacks = shown.map((keys) => ({
    shown: { said: 'the sweep listed', distinct: new Set(keys).size, has: () => false },
    count: [...new Set(keys)].filter((key) => !order.includes(key)).length,
  }));
  return lacks.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count)[0] ?? null;
}

/** The judgements of readings one after another, each knowing those before it. */
function judgeAll(walks: readonly WalkFigures[], listed: Account | null): ReturnType<typeof judgeWalk>[] {
  const judged = walks.map((walk, place) => {
    const shown = [...(listed === null ? [] : [listed.set]), ...walks.slice(0, place).map(({ order }) => order)];
    return { ...walk, isBesideSweep: true, lack: lackOf(walk, shown) };
  });
  return judged.map((walk, place) => judgeWalk(walk, listed, judged.slice(0, place)));
}

const always = (walk: WalkFigures): WalkFigures[] => Array.from({ length: maxReadings }, () => walk);
const complete = { kind: 'complete', warning: null };
const again = { kind: 'read again' };

describe('judgeWalk', () => {
  it('believes a walk that ended in agreement with the sweep', () => {
    expect(judgeWalk(walkOf('abc', { end: 'sweep' }), accountOf('abc'), [])).toEqual(complete);
  });

  it('believes a walk to the empty page that brought what the sweep listed, in any order', () => {
    expect(judgeWalk(walkOf('cab', { isBesideSweep: true }), accountOf('abc'), [])).toEqual(complete);
  });

  it('wants a second reading where the list may have been cut off at the same place', () => {
    expect(judgeWalk(walkOf('abc'), accountOf('abc'), [])).toEqual(again);
    expect(judgeWalk(walkOf('abc'), accountOf('abc'), [walkOf('abc')])).toEqual(complete);
  });

  it('reads again what brought fewer records than an earlier reading, or fewer repeats than the list holds', () => {
    expect(judgeAll([walkOf('abc', { overlaps: true }), walkOf('ab')], accountOf('ab'))).toEqual([again, again]);
    const [last] = judgeAll(
      [...Array.from({ length: maxReadings - 1 }, () => walkOf('abc')), walkOf('ab')],
      null,
    ).slice(-1);
    expect(last).toEqual({ kind: 'incomplete', reason: expect.stringContaining('brought 3 records, another 2') });
    expect(judgeWalk(walkOf('abc', { isBesideSweep: true }), accountOf('abcc'), [])).toEqual(again);
    expect(judgeWalk(walkOf('abc'), accountOf('abcc'), [walkOf('abc')], { sweepOverlaps: true })).toEqual(complete);
  });

  it('believes one whole answer without a second account', () => {
    expect(judgeWalk(walkOf('abc', { inOnePiece: true }), null, [])).toEqual(complete);
    expect(judgeWalk(walkOf('', { inOnePiece: true }), null, [])).toEqual(complete);
  });

  it('wants two readings in the same order where nothing else speaks of the district', () => {
    expect(judgeAll([walkOf('abc'), walkOf('abc')], null)).toEqual([again, complete]);
    expect(judgeAll([walkOf('abc'), walkOf('bca'), walkOf('bca')], null)).toEqual([again, again, complete]);
  });

  it('reads again where the records are as many as listed, but others', () => {
    expect(judgeWalk(walkOf('abd'), accountOf('abc'), [])).toEqual(again);
  });

  it('reads again where a record stands more often than listed', () => {
    expect(judgeWalk(walkOf('abcc'), accountOf('abc'), [])).toEqual(again);
  });

  it('takes two readings that agree on more than was listed, with a warning that says how much', () => {
    const [first, second] = judgeAll([walkOf('abcde'), walkOf('abcde')], accountOf('abc'));
    expect(first).toEqual(again);
    expect(second).toEqual({ kind: 'complete', warning: expect.stringMatching(/listed 3 .* brought 5/) });
    expect(judgeWalk(walkOf('abcd', { inOnePiece: true }), accountOf('abc'), [])).toEqual({
      kind: 'complete',
      warning: expect.stringMatching(/listed 3 .* brought 4/),
    });
  });

  it('names a district incomplete that steadily brings fewer records than listed, with both figures', () => {
    for (const overrides of [{}, { inOnePiece: true }]) {
      const judgements = judgeAll(always(walkOf('ab', overrides)), accountOf('abc'));
      expect(judgements.slice(0, -1)).toEqual(Array.from({ length: maxReadings - 1 }, () => again));
      expect(judgements.at(-1)).toEqual({ kind: 'incomplete', reason: expect.stringMatching(/listed 3 .* lack 1/) });
    }
  });

  it('names a district incomplete that brings as many records as listed, but others', () => {
    const judgements = judgeAll(always(walkOf('abx', { inOnePiece: true })), accountOf('abc'));
    expect(judgements.at(-1)).toEqual({ kind: 'incomplete', reason: expect.stringMatching(/listed 3 .* lack 1/) });
  });

  it('says of a district all of whose records are others than listed that they may be the same under other names', () => {
    const judgements = judgeAll(always(walkOf('wxyz', { inOnePiece: true })), accountOf('abc'));
    const reason = expect.stringMatching(
      /listed 3 records, and its own pages brought 4 others .* the same places otherwise/,
    );
    expect(judgements.at(-1)).toEqual({ kind: 'incomplete', reason });
    const none = judgeAll(always(walkOf('', { inOnePiece: true })), accountOf('abc'));
    expect(none.at(-1)).toEqual({ kind: 'incomplete', reason: expect.stringMatching(/listed 3 .* lack 3/) });
  });

  it('takes no second reading in the very same pages for another account', () => {
    const inPages = (...lengths: number[]) => walkOf('abcd', { borders: bordersOf(lengths) });
    const [same, other] = [inPages(2, 1, 1), inPages(1, 2, 1)];
    expect(judgeAll([same, same, other], null)).toEqual([again, again, complete]);
    expect(judgeAll(always(same), null).at(-1)).toEqual(complete);
    // Behind a full page more may have been passed over, wherever the others ended.
    expect(judgeAll([inPages(2, 2), inPages(1, 1, 2), other], null)).toEqual([again, again, complete]);
    // With one record at a time, and with one page, there is no elsewhere.
    for (const lengths of [[1, 1, 1, 1], [4]])
      expect(judgeAll([inPages(...lengths), inPages(...lengths)], null)).toEqual([again, complete]);
  });

  it('takes a later reading that has all that was listed', () => {
    expect(judgeAll([walkOf('ab'), walkOf('abc')], accountOf('abc'))).toEqual([again, complete]);
  });

  it('names a district incomplete whose readings never agree', () => {
    const walks = ['abcd', 'bacd', 'cabd', 'dabc', 'dbca', 'dcba'].slice(0, maxReadings).map((keys) => walkOf(keys));
    expect(judgeAll(walks, null).at(-1)).toEqual({ kind: 'incomplete', reason: expect.stringContaining('not steady') });
  });

  it('believes pages that overlap only where every reading was the very same', () => {
    const walk = walkOf('abbc', { overlaps: true });
    expect(judgeAll(always(walk), null)).toEqual([...Array.from({ length: maxReadings - 1 }, () => again), complete]);
    const once = [walkOf('acbc', { overlaps: true }), ...always(walk).slice(1)];
    expect(judgeAll(once, null).at(-1)).toEqual({ kind: 'incomplete', reason: expect.stringContaining('overlap') });
  });

  it('never believes pages that overlap and bring fewer records than listed, however steady', () => {
    const judgements = judgeAll(always(walkOf('abb', { overlaps: true })), accountOf('abc'));
    expect(judgements.map(({ kind }) => kind)).toEqual([
      ...Array.from({ length: maxReadings - 1 }, () => 'read again'),
      'incomplete',
    ]);
  });

  const keys = fc.stringMatching(/^[a-e]{0,6}$/);
  const walk = fc
    .tuple(keys, fc.boolean(), fc.boolean())
    .map(([text, overlaps, inOnePiece]) => walkOf(text, { overlaps, inOnePiece }));
  const readings = fc.array(walk, { minLength: maxReadings, maxLength: maxReadings });

  holds(
    'comes to an end, and never calls complete what is short of the listing',
    fc.property(fc.oneof(readings, walk.map(always)), fc.option(keys.map(accountOf)), (walks, listed) => {
      const judgements = judgeAll(walks, listed);
      expect(judgements.at(-1)).not.toEqual(again);
      const short = walks.map(({ order }) => !Array.from(listed?.set ?? '').every((key) => order.includes(key)));
      expect(judgements.filter(({ kind }, place) => kind === 'complete' && short[place])).toEqual([]);
      expect(judgements.slice(0, -1).filter(({ kind }) => kind === 'incomplete')).toEqual([]);
    }),
    { runs: 1000 },
  );
});
