/** Sources that would hide records or whole partitions: each is read to the end, or named; none is published short. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { RekapError } from '../../src/errors.ts';
import type { PageSource } from '../../src/source/source-client.ts';
import { askedOf, asking } from '../support/asked.ts';
import { collect, runExtract } from '../support/run-extract.ts';
import { changed, faultless, simulateSource } from '../support/simulated-source.ts';
import { half, named, records } from './three-partitions.ts';

const inPartitionsOfThree = (total: number) =>
  Array.from({ length: total }, (_, index) => ({
    partition: 1101 + Math.floor(index / 3),
    regency: `R${index}`,
    people: 1,
  }));

describe('an extraction', () => {
  it('asks for the listing, its end, and each partition once; the last one and the listing are confirmed', async () => {
    const source = simulateSource(inPartitionsOfThree(300), faultless, half);
    const { delivered } = await runExtract(source, { pageSize: 1000 });
    expect(delivered).toHaveLength(300);
    const listing = source.requests.filter(({ partition }) => partition === null);
    expect(listing.map((request) => askedOf(request).offset)).toEqual([0, 300, 299, 300]);
    expect(source.requests.length - listing.length).toBe(100 + 2);
  });

  it('never loses a record that moves to a partition listed before, whenever it does', async () => {
    const before = inPartitionsOfThree(290);
    const moved = before.at(-20)!;
    // Another one is withdrawn at the same time, so that the list's pages begin where they did.
    const after = before.filter((record) => record !== moved && record.regency !== 'R4');
    after.push({ ...moved, partition: 1101 });
    let complete = 0;
    for (let changesAt = 1; changesAt < 120; changesAt += 1) {
      const source = simulateSource(before, { ...faultless, changesAt, after }, half);
      const { verdicts, delivered } = await runExtract(source, { pageSize: 20, concurrency: 8 });
      if (verdicts.some((verdict) => !verdict.complete)) continue;
      complete += 1;
      expect({ changesAt, found: delivered.some((name) => name.includes(` ${moved.regency} `)) }).toEqual({
        changesAt,
        found: true,
      });
    }
    expect(complete).toBeGreaterThan(0);
  });

  it('asks for nothing more once whoever takes the pages has failed', async () => {
    const many = inPartitionsOfThree(290);
    const source = simulateSource(many, { ...faultless, listing: 'refused' }, half);
    const reference = many.map(({ partition }) => partition);
    const settings = { client: source, report: () => {}, concurrency: 1, reference, heldBytes: 0 };
    await expect(
      collect(settings, () => {
        throw new Error('no room');
      }),
    ).rejects.toThrow('no room');
    const asked = new Set(source.requests.map(({ partition }) => partition));
    expect(asked.size).toBeLessThan(20);
  });

  it('names a partition whose own pages have another record in the place of one that was listed', async () => {
    const after = records.map((record) => (record.regency === 'R3' ? { ...record, regency: 'OTHER' } : record));
    const source = simulateSource(records, { ...faultless, changesAt: 3, after }, half);
    const { verdicts } = await runExtract(source, { pageSize: 100 });
    const reasons = verdicts.map(({ reason }) => reason).filter((reason) => reason !== null);
    expect(reasons).toContainEqual(expect.stringContaining('found 13 records, but the last pass found only 12'));
  });

  it('believes a whole list of partitions though nothing else speaks of them', async () => {
    const { verdicts, delivered, warnings } = await runExtract(simulateSource(records, faultless, half));
    expect(new Map(verdicts.map(({ partition, complete }) => [partition, complete]))).toEqual(
      new Map(['1101', '1102', '1103'].map((partition) => [partition, true])),
    );
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings).toEqual([expect.stringContaining('only the full listing')]);
  });

  it('says of a partition that was asked for by its id that the source has nothing of it, and of no other', async () => {
    const source = simulateSource(records, faultless, half);
    const { verdicts, warnings } = await runExtract(source, { wanted: [1102, 1109] });
    expect(verdicts.map(({ partition, complete, received }) => [partition, complete, received])).toEqual([
      ['1102', true, 12],
      ['1109', true, 0],
    ]);
    expect(warnings).toEqual([expect.stringMatching(/has no records for partitions that you requested: 1109\.$/)]);
  });

  it('refuses a source that counts offsets in pages', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    const inPages = changed(source, (request) => asking(request, { offset: askedOf(request).offset * 10 }));
    await expect(runExtract(inPages, { reference: [1101, 1102, 1103] })).rejects.toMatchObject({
      code: 'broken-reading',
    });
  });

  it('refuses a source that has nothing beyond its first page', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    const firstOnly = changed(source, (request) => asking(request, { offset: askedOf(request).offset > 0 ? 1000 : 0 }));
    await expect(runExtract(firstOnly, { reference: [1101, 1102, 1103] })).rejects.toMatchObject({
      code: 'broken-reading',
    });
  });

  it('reads a list again of which one page came twice, once', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    let slips = 1;
    const slipping = changed(source, (request) => {
      if (request.partition !== null || askedOf(request).offset !== 9 || slips === 0) return request;
      slips -= 1;
      return asking(request, { offset: 0 });
    });
    const { delivered, warnings } = await runExtract(slipping);
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('reads the full listing again');
  });

  it('reads a partition again of which one page came twice, once', async () => {
    const source = simulateSource(records, { ...faultless, cap: 3 }, half);
    const slipped = new Set<string>();
    const slipping = changed(source, (request) => {
      const { partition, offset } = askedOf(request);
      if (partition === null || offset !== 2 || slipped.has(partition)) return request;
      slipped.add(partition);
      return asking(request, { offset: 0 });
    });
    const { delivered, verdicts } = await runExtract(slipping);
    expect(slipped.size).toBeGreaterThan(0);
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.map(({ readings }) => readings)).toEqual([2, 2, 2]);
  });

  it.each([
    ['once', 1, []],
    ['always', Infinity, ['1102']],
  ])(
    'does not take "not found" in the midst of a partition for its end, said %s',
    async (_often, times, incomplete) => {
      const source = simulateSource(records, { ...faultless, listing: 'refused', cap: 5 }, half);
      let left = times;
      const faulty = changed(source, (request) => {
        if (request.partition !== '1102' || askedOf(request).offset === 0 || left === 0) return request;
        left -= 1;
        throw new RekapError('source-status', 'not found', '', { status: 404 });
      });
      const { delivered, verdicts } = await runExtract(faulty, { reference: [1101, 1102, 1103] });
      expect(verdicts.filter(({ complete }) => !complete).map(({ partition }) => partition)).toEqual(incomplete);
      expect(delivered.toSorted()).toEqual(
        named.filter((name) => !incomplete.some((partition) => name.startsWith(partition))),
      );
    },
  );

  it('takes any refusal of a partition that only the law names for the source not having it', async () => {
    const source = simulateSource(records, faultless, half);
    const strict = changed(source, (request) => {
      if (Number(request.partition) > 1103)
        throw new RekapError('source-status', 'unknown id_dapil', '', { status: 422 });
      return request;
    });
    const foreseen = [1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109, 1110];
    const { delivered, verdicts, warnings } = await runExtract(strict, { reference: foreseen });
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(warnings.join()).toMatch(
      /returns an error \(unknown id_dapil\) for partitions that the reference .*: 1104, 1105/,
    );
    const before = await runExtract(strict, { reference: foreseen, knownBefore: [1104] });
    expect(before.verdicts.filter(({ complete }) => !complete)).toMatchObject([{ partition: '1104' }]);
  });

  it('names the partitions known from law that have no records', async () => {
    const reference = Array.from({ length: 14 }, (_, index) => 1101 + index);
    const { warnings } = await runExtract(simulateSource(records, faultless, half), { reference });
    expect(warnings).toEqual([
      expect.stringMatching(/has no records for partitions that the reference .*: 1104, .*1113 and 1 more\.$/),
    ]);
  });

  it('tells partitions that were there before from those that need not be there', async () => {
    const settings = { reference: [1101, 1104, 1105, 1106], knownBefore: [1101, 1105] };
    const { warnings } = await runExtract(simulateSource(records, faultless, half), settings);
    expect(warnings).toEqual([
      expect.stringMatching(/has no records for partitions that the previous snapshot has: 1105\.$/),
      expect.stringMatching(/has no records for partitions that the reference .*: 1104, 1106\.$/),
    ]);
  });

  it('reads on where the readings of a partition hold other values, and names one that never settles', async () => {
    const versions = [0, 1, 2, 3].map((version) =>
      simulateSource(
        records.map((record) => (record.partition === 1102 ? { ...record, people: version } : record)),
        { ...faultless, listing: 'refused' },
        half,
      ),
    );
    /** Gives another version at each of the first readings of a partition. */
    const restatedAt = (readings: number) => {
      let reading = -1;
      return {
        ...versions[0]!,
        fetchPage: async (...asked: Parameters<PageSource['fetchPage']>) => {
          if (asked[1].partition === '1102' && askedOf(asked[1]).offset === 0) reading += 1;
          return versions[Math.min(reading, readings)]?.fetchPage(...asked) ?? versions[0]!.fetchPage(...asked);
        },
      };
    };
    const settings = { reference: [1101, 1102, 1103], pageSize: 100 };
    const settled = await runExtract(restatedAt(1), settings);
    expect(settled.verdicts.every(({ complete }) => complete)).toBe(true);
    expect(settled.delivered).toContain('1102 R0 1');
    const never = await runExtract(restatedAt(3), settings);
    expect(never.verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { partition: '1102', reason: expect.stringContaining('different values') },
    ]);
  });

  it('asks for fewer records at a time where the source refuses so many, and says so', async () => {
    const source = simulateSource(records, faultless, half);
    const strict = changed(source, (request) => {
      if (askedOf(request).limit > 10)
        throw new RekapError('source-status', 'limit is at most 10', '', { status: 400 });
      return request;
    });
    const { delivered, warnings } = await runExtract(strict, { pageSize: 1000 });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('refuses pages of 1000 records. rekap requests 10 at a time');
  });

  it('refuses a source that gives one record at a time by name', async () => {
    const source = simulateSource(records, { ...faultless, cap: 1 }, half);
    await expect(runExtract(source, { pageSize: 100 })).rejects.toMatchObject({ code: 'unprovable-source' });
  });

  it('reads to their ends what had ended on the word of a listing that turns out short', async () => {
    const source = simulateSource(records, { ...faultless, hides: 1103 }, half);
    const { delivered, verdicts } = await runExtract(source, { pageSize: 100, reference: [1101, 1102, 1103] });
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.map(({ proof }) => proof)).toEqual(['own end', 'own end', 'own end']);
  });

  it('names a partition that another dataset has and this one, without a listing, has not', async () => {
    const source = simulateSource(records, { ...faultless, listing: 'refused' }, half);
    const lacking = {
      ...source,
      fetchPage: (...[pipeline, request, leniency]: Parameters<PageSource['fetchPage']>) =>
        pipeline.table === 'another' && request.partition === '1102'
          ? source.fetchPage(pipeline, asking(request, { offset: 10_000 }), leniency)
          : source.fetchPage(pipeline, request, leniency),
    };
    const settings = { pipelines: [voters, { ...voters, table: 'another' }], reference: [1101, 1102, 1103] };
    const { verdicts } = await runExtract(lacking, settings);
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([{ dataset: 'another', partition: '1102' }]);
    const accepted = await runExtract(lacking, { ...settings, acceptChanges: true });
    expect(accepted.verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it('reads every partition, however much of the memory the records without a partition would fill', async () => {
    const withoutPartition = Array.from({ length: 30 }, (_, place) => ({
      partition: -1,
      regency: `FOOTER ${place}`,
      people: 0,
    }));
    const source = simulateSource([...withoutPartition, ...records], faultless, half);
    const { delivered } = await runExtract(source, { pageSize: 10, heldBytes: 8000 });
    expect(delivered).toHaveLength(records.length + withoutPartition.length);
  });

  it('refuses a listing that has grown by the time that all partitions were read', async () => {
    const after = [...records, { partition: 1103, regency: 'LATE', people: 1 }];
    const source = simulateSource(records, { ...faultless, changesAt: 8, after }, half);
    const { verdicts } = await runExtract(source, { pageSize: 100 });
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { partition: null, reason: expect.stringContaining('had 36 records when it was read, but has more now') },
    ]);
  });
});
