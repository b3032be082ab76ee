/** Sources that hide records behind answers which look whole: each is found out, and refused or read to its true end. */

import { describe, expect, it } from 'vitest';
import { brokenClaims, CountReading } from '../../../src/extract/walk/count-claims.ts';
import { RekapError } from '../../../src/errors.ts';
import { emptyPage } from '../../../src/extract/ask/refusals.ts';
import type { Page } from '../../../src/stages.ts';
import { runExtract } from '../../support/run-extract.ts';
import { faultless, simulateSource, type Behaviour, type SimulatedRecord } from '../../support/simulated-source.ts';

const sizes = { 1101: 12, 1102: 8, 1103: 25, 1104: 10, 1105: 14, 1106: 3 };
const records: SimulatedRecord[] = Object.entries(sizes).flatMap(([dapil, size]) =>
  Array.from({ length: size }, (_, place) => ({ dapil: Number(dapil), regency: `R${place}`, people: place })),
);
const reference = Object.keys(sizes).map(Number);
const everything = records.map(({ dapil, regency, people }) => `${dapil} ${regency} ${people}`);

function read(behaviour: Partial<Behaviour>, settings: Parameters<typeof runExtract>[1] = {}) {
  const source = simulateSource(records, { ...faultless, ...behaviour }, () => 0.5);
  return runExtract(source, { pageSize: 100, reference, ...settings });
}

describe('a source that hides records', () => {
  it('because no query gives more than ten is named by its own count', async () => {
    const { verdicts } = await read({ window: 10, cap: 10, countIsTotal: true });
    const named = verdicts.filter(({ complete }) => !complete).map(({ dapil, received }) => [dapil, received]);
    expect(named).toEqual([
      [null, 10],
      [1101, 10],
      [1103, 10],
      [1105, 10],
    ]);
  });

  it.each(['whole', 'refused'] as const)(
    'because no query gives more than ten is named by the count on its pages, with 0 past the end (list: %s)',
    async (sweep) => {
      const source = simulateSource(
        records,
        { ...faultless, sweep, window: 10, cap: 10, countIsTotal: true },
        () => 0.5,
      );
      const silentAtEnd = {
        ...source,
        fetchPage: async (...asked: Parameters<typeof source.fetchPage>) => {
          const fetched = await source.fetchPage(...asked);
          return fetched.page.records.length > 0 ? fetched : { ...fetched, page: { ...fetched.page, count: 0 } };
        },
      };
      const { verdicts } = await runExtract(silentAtEnd, { pageSize: 100, reference });
      const named = verdicts.filter(({ complete }) => !complete).map(({ dapil }) => dapil);
      expect(named).toEqual([...(sweep === 'whole' ? [null] : []), 1101, 1103, 1105]);
    },
  );

  it('because no query gives more than ten is warned of, where nothing else says so', async () => {
    const { verdicts, warnings } = await read({ window: 10, cap: 10 });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(warnings.filter((message) => message.includes('no question more than 10 records'))).toEqual([
      expect.stringContaining('so have districts: 1101, 1103, 1104, 1105'),
    ]);
    // Where the list is filled by its first district, that is all that there is to see.
    const alone = await read({ window: 10, cap: 10 }, { reference: [] });
    expect(alone.warnings).toEqual([expect.stringContaining('so have districts: 1101')]);
  });

  it.each([
    ['without a list', { sweep: 'refused' as const }, {}],
    ['where just some districts are wanted', {}, { wanted: reference }],
  ])('because districts have no second page is named %s', async (_when, behaviour, settings) => {
    const { verdicts } = await read({ stuckFilter: true, cap: 10, ...behaviour }, settings);
    const complete = verdicts.filter((verdict) => verdict.complete).map(({ dapil }) => dapil);
    expect(complete).toEqual([]);
  });

  it('because districts know neither limit nor offset is named', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, () => 0.5);
    const firstTen = {
      ...source,
      fetchPage: (...[pipeline, request]: Parameters<typeof source.fetchPage>) =>
        source.fetchPage(pipeline, { ...request, limit: 10, offset: request.offset === 0 ? 0 : 10_000 }),
    };
    const { verdicts } = await runExtract(firstTen, { pageSize: 100, reference });
    expect(verdicts.filter(({ complete }) => complete)).toEqual([]);
    expect(verdicts[0]!.reason).toContain('does not page by "offset"');
  });

  it('because a district ends behind its first page, whatever the limit, is read around that place', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, () => 0.5);
    const stubborn = {
      ...source,
      fetchPage: (...[pipeline, request]: Parameters<typeof source.fetchPage>) =>
        source.fetchPage(pipeline, { ...request, limit: 5, offset: request.offset === 5 ? 10_000 : request.offset }),
    };
    const { verdicts, delivered } = await runExtract(stubborn, { pageSize: 100, reference });
    expect(verdicts.every(({ complete, readings }) => complete && readings >= 2)).toBe(true);
    const all = records.map(({ dapil, regency, people }) => `${dapil} ${regency} ${people}`);
    expect(delivered.toSorted()).toEqual(all.toSorted());
  });

  it.each([
    ['with a list', {}],
    ['without one', { sweep: 'refused' as const }],
  ])('because it passes over one at the same place every time is read around it, %s', async (_when, behaviour) => {
    const { delivered, verdicts } = await read({ slipAt: 10, cap: 10, ...behaviour });
    expect(new Set(delivered)).toEqual(new Set(everything));
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it.each([
    ['the list', null],
    ['a district', 1102],
    ['a district beyond its first page', 1103],
  ])('because %s is empty for a moment is asked again', async (_what, emptied) => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, () => 0.5);
    let left = 1;
    const flickering = {
      ...source,
      fetchPage: async (...asked: Parameters<typeof source.fetchPage>) => {
        const { dapil, offset } = asked[1];
        if (dapil !== emptied || (emptied !== 1102 && offset < 20) || left === 0) return source.fetchPage(...asked);
        left -= 1;
        return source.fetchPage(asked[0], { ...asked[1], offset: 10_000 });
      },
    };
    // Without a list in the two cases of a district: nothing else speaks of it.
    const settings = { pageSize: 100, reference, ...(emptied === null ? {} : { wanted: reference }) };
    const { delivered } = await runExtract(flickering, settings);
    expect(left).toBe(0);
    expect(delivered.toSorted()).toEqual(everything.toSorted());
  });

  it('because it ends early at one reading, repeats itself at the next and ends early again is refused', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, () => 0.5);
    const moody = {
      ...source,
      fetchPage: async (...[pipeline, request]: Parameters<typeof source.fetchPage>) => {
        const reading = request.reading % 10;
        if (request.dapil !== 1102 || reading === 4) return source.fetchPage(pipeline, request);
        const offset = reading === 2 || request.offset === 0 ? 0 : 10_000;
        return source.fetchPage(pipeline, { ...request, offset, limit: 3 });
      },
    };
    const { verdicts } = await runExtract(moody, { pageSize: 4, reference });
    expect(verdicts.find(({ dapil }) => dapil === 1102)).toMatchObject({ complete: false, readings: 4 });
  });

  it('because the list holds two records of one key and the district one is refused', async () => {
    const source = simulateSource([records[0]!, ...records], { ...faultless, cap: 1000 }, () => 0.5);
    const merging = {
      ...source,
      fetchPage: async (...asked: Parameters<typeof source.fetchPage>) =>
        asked[1].dapil === 1101
          ? source.fetchPage(asked[0], { ...asked[1], offset: asked[1].offset + 1 })
          : source.fetchPage(...asked),
    };
    const { verdicts } = await runExtract(merging, { pageSize: 100, reference });
    expect(verdicts.find(({ complete }) => !complete)).toMatchObject({
      dapil: 1101,
      reason: expect.stringContaining('some of one and the same key'),
    });
  });

  it('only in figures, where the list holds others than the districts, is warned of', async () => {
    const source = simulateSource(records, faultless, () => 0.5);
    const restated = records.map((record) => (record.dapil === 1104 ? { ...record, people: 99 } : record));
    const list = simulateSource(restated, faultless, () => 0.5);
    const twofold = {
      ...source,
      fetchPage: (...asked: Parameters<typeof source.fetchPage>) =>
        (asked[1].dapil === null ? list : source).fetchPage(...asked),
    };
    const { delivered, warnings } = await runExtract(twofold, { pageSize: 100, reference });
    expect(delivered.toSorted()).toEqual(everything.toSorted());
    expect(warnings).toEqual([expect.stringMatching(/holds other values .*: 1104\.$/)]);
  });

  it('by a list that lacks whole districts is warned of', async () => {
    const { delivered, warnings } = await read({ sweepWindow: 20, cap: 10 });
    expect(delivered.toSorted()).toEqual(everything.toSorted());
    expect(warnings.join()).toContain('lacks districts that have records: 1103, 1104, 1105, 1106');
  });

  it('is no source whose count repeats the limit', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10, countIsTotal: true }, () => 0.5);
    const echoing = {
      ...source,
      fetchPage: async (...[pipeline, request]: Parameters<typeof source.fetchPage>) => {
        const fetched = await source.fetchPage(pipeline, request);
        return { ...fetched, page: { ...fetched.page, count: request.limit } };
      },
    };
    const { verdicts } = await runExtract(echoing, { pageSize: 100, wanted: [1105] });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it('never throws anything but a named error', async () => {
    await expect(read({ ignoresOffset: true, cap: 10 })).rejects.toBeInstanceOf(RekapError);
  });
});

describe('what "count" says at the end of a list', () => {
  const claim = (dapil: number | null, claimed: number, received: number) => ({ dapil, claimed, received });

  it('is believed where it says that more should have come', () => {
    expect(brokenClaims([claim(null, 50, 50), claim(1101, 12, 10), claim(1102, 8, 8)])).toEqual([claim(1101, 12, 10)]);
    expect(brokenClaims([claim(1101, 12, 10)])).toHaveLength(1);
  });

  const page = (count: number, length: number): Page => {
    const empty = emptyPage({ dataset: 'voters', dapil: 1101, reading: 1, offset: 0, limit: 100 }, 'nowhere');
    return { ...empty, count, records: { ...empty.records, length } };
  };
  it.each<[string, [number, number][], number | null]>([
    [
      'the same total on every page, and 0 past the end',
      [
        [25, 10],
        [25, 10],
        [0, 0],
      ],
      25,
    ],
    [
      'a total past the end only',
      [
        [10, 10],
        [5, 5],
        [25, 0],
      ],
      25,
    ],
    [
      'the number of records on each page',
      [
        [10, 10],
        [5, 5],
        [0, 0],
      ],
      0,
    ],
    [
      'what is left',
      [
        [15, 10],
        [5, 5],
      ],
      null,
    ],
    [
      'the limit',
      [
        [100, 10],
        [100, 0],
      ],
      null,
    ],
    ['nothing, for there was no page', [], null],
  ])('is read as %s', (_what, pages, claimed) => {
    const counts = new CountReading();
    for (const [count, length] of pages) counts.note(page(count, length));
    expect(counts.claim(1101, 10)?.claimed ?? null).toBe(claimed);
  });

  it('says nothing where it is always the same, or that of the whole list', () => {
    expect(brokenClaims([claim(null, 50, 50), claim(1101, 50, 10), claim(1102, 8, 8)])).toEqual([]);
    expect(brokenClaims([claim(1101, 50, 10), claim(1102, 50, 8)])).toEqual([]);
    expect(brokenClaims([claim(1101, 0, 10), claim(1102, 3, 8)])).toEqual([]);
  });
});
