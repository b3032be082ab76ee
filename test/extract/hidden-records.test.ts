/** Sources that hide records behind answers which look whole: each is found out, and refused or read to its true end. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { Verdict } from '../../src/stages.ts';
import { askedOf, asking } from '../support/asked.ts';
import { runExtract } from '../support/run-extract.ts';
import { faultless, simulateSource, type Behaviour, type SimulatedRecord } from '../support/simulated-source.ts';

const sizes = { 1101: 12, 1102: 8, 1103: 25, 1104: 10, 1105: 14, 1106: 3 };
const records: SimulatedRecord[] = Object.entries(sizes).flatMap(([partition, size]) =>
  Array.from({ length: size }, (_, place) => ({ partition: Number(partition), regency: `R${place}`, people: place })),
);
const reference = Object.keys(sizes).map(Number);
const everything = records.map(({ partition, regency, people }) => `${partition} ${regency} ${people}`);

function read(behaviour: Partial<Behaviour>, settings: Parameters<typeof runExtract>[1] = {}) {
  const source = simulateSource(records, { ...faultless, ...behaviour }, () => 0.5);
  return runExtract(source, { pageSize: 100, reference, ...settings });
}

describe('a source that hides records', () => {
  it('because no query gives more than ten is refused by its own count', async () => {
    const { verdicts } = await read({ window: 10, cap: 10, countIsTotal: true });
    const reasons = verdicts
      .filter(({ complete }) => !complete)
      .map(({ partition, reason }) => ({ partition, reason }));
    expect(reasons).toEqual([
      { partition: null, reason: expect.stringContaining('reports 72 records, but only 51 were received') },
      ...['1101', '1103', '1105'].map((partition) => ({
        partition,
        reason: expect.stringContaining('but only 10 were received'),
      })),
    ]);
  });

  describe('although its count has them', () => {
    const given = records.filter(({ partition }) => partition !== 1104);
    /** The count of every response is that of all records, or of the partition. */
    const counting = (countOf: (partition: string | null) => number) => {
      const source = simulateSource(given, { ...faultless, cap: 10 }, () => 0.5);
      return {
        ...source,
        fetchPage: async (...[pipeline, request]: Parameters<typeof source.fetchPage>) => {
          const fetched = await source.fetchPage(pipeline, request);
          return { ...fetched, page: { ...fetched.page, count: countOf(request.partition) } };
        },
      };
    };
    const sizeOf = (partition: string | null): number =>
      records.filter((record) => partition === null || String(record.partition) === partition).length;
    const incomplete = (verdicts: readonly Verdict[]) => verdicts.filter(({ complete }) => !complete).length;

    it.each([
      ['of each query', sizeOf],
      ['of all records', () => records.length],
    ])('is refused, unless that is accepted: a count %s', async (_of, countOf) => {
      const settings = { pageSize: 100, reference };
      const { verdicts } = await runExtract(counting(countOf), settings);
      expect(incomplete(verdicts)).toBe(1);
      const accepted = await runExtract(counting(countOf), { ...settings, acceptChanges: true });
      expect(incomplete(accepted.verdicts)).toBe(0);
      expect(accepted.warnings.join()).toContain('reports 72 records, but only 62 were received');
    });

    it('is refused without a listing too', async () => {
      const source = counting(() => records.length);
      const withoutListing = {
        ...source,
        fetchPage: (...asked: Parameters<typeof source.fetchPage>) => {
          if (asked[1].partition === null) throw new RekapError('source-status', 'no listing', '', { status: 400 });
          return source.fetchPage(...asked);
        },
      };
      const { verdicts } = await runExtract(withoutListing, { pageSize: 100, reference });
      expect(incomplete(verdicts)).toBe(1);
    });

    it('is accepted where some partitions are wanted, whose count may be that of all', async () => {
      const source = counting(() => records.length);
      const { verdicts, warnings } = await runExtract(source, { pageSize: 100, wanted: [1101, 1102] });
      expect(incomplete(verdicts)).toBe(0);
      expect(warnings.join()).toContain('in partitions: 1101, 1102');
    });

    it.each([
      ['one of several', [1101, 1102], 1],
      ['the only one', [1101], 1],
      ['each of several', [1101, 1106], 2],
    ])('is refused where %s wanted counts more than it gives', async (_which, wanted, partitions) => {
      const source = counting((partition) => (partition === '1102' ? 8 : 13));
      const settings = { pageSize: 100, wanted, expected: { voters: records.length } };
      const { verdicts } = await runExtract(source, settings);
      expect(incomplete(verdicts)).toBe(partitions);
    });
  });

  it('is accepted where its listing lacks what its partitions bring, and its count has it', async () => {
    const { verdicts } = await read({ hides: 1104, cap: 10, countIsTotal: true });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it('because no query gives more than ten is warned of, where nothing else says so', async () => {
    const { verdicts, warnings } = await read({ window: 10, cap: 10 });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(warnings).toContainEqual(expect.stringMatching(/every response to 10 records.*: 1101, 1103, 1104, 1105/));
  });

  it('because it gives no more than one full page of a partition is warned of, where there is no listing', async () => {
    const { warnings } = await read({ window: 10 }, { pageSize: 10, wanted: [1102, 1103, 1104] });
    expect(warnings).toEqual([expect.stringMatching(/exactly one full page .*: 1103, 1104\.$/)]);
  });

  it.each([
    ['without a list', { listing: 'refused' as const }, {}],
    ['where just some partitions are wanted', {}, { wanted: reference }],
  ])('because partitions have no second page is named %s', async (_when, behaviour, settings) => {
    const { verdicts } = await read({ stuckFilter: true, cap: 10, ...behaviour }, settings);
    const complete = verdicts.filter((verdict) => verdict.complete).map(({ partition }) => partition);
    expect(complete).toEqual([]);
  });

  it('because partitions know neither limit nor offset is named', async () => {
    const source = simulateSource(records, { ...faultless, listing: 'refused' }, () => 0.5);
    const firstTen = {
      ...source,
      fetchPage: (...[pipeline, request]: Parameters<typeof source.fetchPage>) =>
        source.fetchPage(pipeline, asking(request, { limit: 10, offset: askedOf(request).offset === 0 ? 0 : 10_000 })),
    };
    const { verdicts } = await runExtract(firstTen, { pageSize: 100, reference });
    expect(verdicts.filter(({ complete }) => complete)).toEqual([]);
    expect(verdicts[0]!.reason).toContain('although');
  });

  it('because its list has just one full page of a partition is read to its end', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, () => 0.5);
    const isListed = ({ partition, regency }: SimulatedRecord) =>
      partition !== 1101 || !['R10', 'R11'].includes(regency);
    const listing = simulateSource(records.filter(isListed), { ...faultless, cap: 10 }, () => 0.5);
    const lacking = {
      ...source,
      fetchPage: (...asked: Parameters<typeof source.fetchPage>) =>
        (asked[1].partition === null ? listing : source).fetchPage(...asked),
    };
    const { delivered } = await runExtract(lacking, { pageSize: 100, reference });
    expect(delivered.toSorted()).toEqual(everything.toSorted());
  });

  it.each([
    ['with a listing', {}],
    ['without one', { listing: 'refused' as const }],
  ])('because it passes over one at the same place every time is refused, %s', async (_when, behaviour) => {
    for (let slipAt = 1; slipAt < 25; slipAt += 1) {
      const nothing: { delivered: readonly string[]; verdicts: readonly Verdict[] } = { delivered: [], verdicts: [] };
      const { delivered, verdicts } = await read({ slipAt, cap: 10, ...behaviour }).catch((error: unknown) => {
        if (error instanceof RekapError) return nothing;
        throw error;
      });
      const proved = new Set(verdicts.filter(({ complete }) => complete).map(({ partition }) => partition));
      const had = everything.filter((name) => proved.has(name.slice(0, 4)));
      expect({ slipAt, delivered: new Set(delivered) }).toEqual({ slipAt, delivered: new Set(had) });
    }
  });

  it.each([
    ['the list', null],
    ['a partition', '1102'],
    ['a partition beyond its first page', '1103'],
  ])('because %s is empty for a moment is asked again', async (_what, emptied) => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, () => 0.5);
    let left = 1;
    const flickering = {
      ...source,
      fetchPage: async (...asked: Parameters<typeof source.fetchPage>) => {
        const { partition, offset } = askedOf(asked[1]);
        if (partition !== emptied || (emptied !== '1102' && offset < 20) || left === 0)
          return source.fetchPage(...asked);
        left -= 1;
        return source.fetchPage(asked[0], asking(asked[1], { offset: 10_000 }));
      },
    };
    // Without a list in the two cases of a partition: nothing else speaks of it.
    const settings = { pageSize: 100, reference, ...(emptied === null ? {} : { wanted: reference }) };
    const { delivered } = await runExtract(flickering, settings);
    expect(left).toBe(0);
    expect(delivered.toSorted()).toEqual(everything.toSorted());
  });

  it('because the listing holds two records of one key and the partition one is refused', async () => {
    const source = simulateSource([records[0]!, ...records], { ...faultless, cap: 1000 }, () => 0.5);
    const merging = {
      ...source,
      fetchPage: async (...asked: Parameters<typeof source.fetchPage>) =>
        asked[1].partition === '1101'
          ? source.fetchPage(asked[0], asking(asked[1], { offset: askedOf(asked[1]).offset + 1 }))
          : source.fetchPage(...asked),
    };
    const { verdicts } = await runExtract(merging, { pageSize: 100, reference });
    expect(verdicts.find(({ complete }) => !complete)).toMatchObject({
      partition: '1101',
      reason: expect.stringContaining('found 13 records, but the last pass found only 12'),
    });
  });

  it('only in figures, where the listing holds others than the partitions, is warned of', async () => {
    const source = simulateSource(records, faultless, () => 0.5);
    const restated = records.map((record) => (record.partition === 1104 ? { ...record, people: 99 } : record));
    const list = simulateSource(restated, faultless, () => 0.5);
    const twofold = {
      ...source,
      fetchPage: (...asked: Parameters<typeof source.fetchPage>) =>
        (asked[1].partition === null ? list : source).fetchPage(...asked),
    };
    const { delivered, warnings } = await runExtract(twofold, { pageSize: 100, reference });
    expect(delivered.toSorted()).toEqual(everything.toSorted());
    expect(warnings).toEqual([expect.stringMatching(/different values .*: 1104\.$/)]);
  });

  it('by a listing that lacks whole partitions is warned of', async () => {
    const { delivered, warnings } = await read({ listingWindow: 20, cap: 10 });
    expect(delivered.toSorted()).toEqual(everything.toSorted());
    expect(warnings.join()).toContain(
      'partitions with records are missing in the full listing: 1103, 1104, 1105, 1106',
    );
  });

  it('is no source whose count repeats the limit', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10, countIsTotal: true }, () => 0.5);
    const echoing = {
      ...source,
      fetchPage: async (...[pipeline, request]: Parameters<typeof source.fetchPage>) => {
        const fetched = await source.fetchPage(pipeline, request);
        return { ...fetched, page: { ...fetched.page, count: askedOf(request).limit } };
      },
    };
    const { verdicts } = await runExtract(echoing, { pageSize: 100, wanted: [1105] });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it('never throws anything but a named error', async () => {
    await expect(read({ ignoresOffset: true, cap: 10 })).rejects.toBeInstanceOf(RekapError);
  });
});
