/** Sources that would hide records or whole districts: each is read to the end, or named; none is published short. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import { EarlyEndError, RepeatedPageError, SourceStatusError } from '../../src/errors.ts';
import type { SourceClient } from '../../src/extract/source-client.ts';
import { orNothingThere } from '../support/client-in-memory.ts';
import { manualClock } from '../support/manual-clock.ts';
import { runExtract } from '../support/run-extract.ts';
import { faultless, simulateSource, type SimulatedRecord, type SimulatedSource } from '../support/simulated-source.ts';

const half = (): number => 0.5;
const records: SimulatedRecord[] = [1101, 1102, 1103].flatMap((dapil) =>
  Array.from({ length: 12 }, (_, place) => ({ dapil, regency: `R${place}`, people: place })),
);
const named = records.map(({ dapil, regency, people }) => `${dapil} ${regency} ${people}`).toSorted();

/** A source whose requests pass through `change`, which may ask for something else or throw. */
function changed(
  source: SimulatedSource,
  change: (request: Parameters<SourceClient['fetchPage']>[1]) => Parameters<SourceClient['fetchPage']>[1],
): SimulatedSource {
  const plain = source.fetchPage.bind(source);
  return {
    ...source,
    fetchPage: (pipeline, request) => orNothingThere(request, async () => plain(pipeline, change(request))),
  };
}

describe('an extraction', () => {
  it('asks for the list, probes its offset and its end once, and asks each district once', async () => {
    const many = Array.from({ length: 300 }, (_, index) => ({
      dapil: 1101 + Math.floor(index / 3),
      regency: `R${index}`,
      people: 1,
    }));
    const source = simulateSource(many, faultless, half);
    const { delivered } = await runExtract(source, { pageSize: 100 });
    expect(delivered).toHaveLength(300);
    const sweeps = source.requests.filter(({ dapil }) => dapil === null);
    // The end is asked for twice, and once further on.
    expect(sweeps.map(({ offset }) => offset)).toEqual([0, 1, 100, 200, 300, 300, 301]);
    // The last district of the list is read to its empty page.
    expect(source.requests.length - sweeps.length).toBe(100 + 1);
  });

  it('asks for nothing more once what takes the pages has failed', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, half);
    let asked = 0;
    const failing = runExtract(source, {
      concurrency: 1,
      reference: [1101, 1102, 1103],
      async deliver() {
        asked ||= source.requests.length;
        throw new Error('no room');
      },
    });
    await expect(failing).rejects.toThrow('no room');
    expect(source.requests.length).toBe(asked);
  });

  it('names a district whose own pages have another record in the place of one that was listed', async () => {
    const source = simulateSource(
      records,
      {
        ...faultless,
        changesAt: 3,
        after: records.map((record) => (record.regency === 'R3' ? { ...record, regency: 'OTHER' } : record)),
      },
      half,
    );
    const { verdicts } = await runExtract(source, { pageSize: 100 });
    expect(verdicts.some(({ complete, reason }) => !complete && /lack 1/.test(reason ?? ''))).toBe(true);
  });

  it('believes a whole list of districts though nothing else speaks of them', async () => {
    const { verdicts, delivered, warnings } = await runExtract(simulateSource(records, faultless, half));
    expect(verdicts.map(({ dapil, complete }) => [dapil, complete])).toEqual([
      [1101, true],
      [1102, true],
      [1103, true],
    ]);
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings).toEqual([]);
  });

  it('says of a district that was asked for by its id that the source has nothing of it, and of no other', async () => {
    const source = simulateSource(records, faultless, half);
    const { verdicts, warnings } = await runExtract(source, { wanted: [1102, 1109] });
    expect(verdicts.map(({ dapil, complete, received }) => [dapil, complete, received])).toEqual([
      [1102, true, 12],
      [1109, true, 0],
    ]);
    expect(warnings).toEqual([expect.stringMatching(/has no records of districts that were asked for: 1109\.$/)]);
  });

  it('gives its verdicts dataset by dataset, and district by district', async () => {
    const other = { ...voters, table: 'another' };
    const source = simulateSource(records, faultless, half);
    const { verdicts } = await runExtract(source, { pipelines: [voters, other] });
    const order = ['another', 'voters'].flatMap((dataset) => [1101, 1102, 1103].map((dapil) => `${dataset} ${dapil}`));
    expect(verdicts.map(({ dataset, dapil }) => `${dataset} ${dapil}`)).toEqual(order);
  });

  it('does not believe a short list of districts, unless the reference or a snapshot before stands in for it', async () => {
    const short = () => simulateSource(records, { ...faultless, sweepWindow: 18 }, half);
    const alone = await runExtract(short());
    expect(alone.verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: null, reason: expect.stringContaining('which districts') },
    ]);
    const withReference = await runExtract(short(), { reference: [1101, 1102, 1103, 1104] });
    expect(withReference.verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(withReference.delivered.toSorted()).toEqual(named);
    const withBefore = await runExtract(short(), { knownBefore: [1101, 1102, 1103] });
    expect(withBefore.delivered.toSorted()).toEqual(named);
  });

  it('refuses a source that counts offsets in pages', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    const inPages = changed(source, (request) => ({ ...request, offset: request.offset * 10 }));
    await expect(runExtract(inPages, { reference: [1101, 1102, 1103] })).rejects.toBeInstanceOf(RepeatedPageError);
  });

  it('refuses a source that has nothing beyond its first page', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    const firstOnly = changed(source, (request) => ({ ...request, offset: request.offset > 0 ? 1000 : 0 }));
    await expect(runExtract(firstOnly, { reference: [1101, 1102, 1103] })).rejects.toBeInstanceOf(RepeatedPageError);
  });

  it('reads a list again of which one page came twice, once', async () => {
    const source = simulateSource(records, { ...faultless, cap: 10 }, half);
    let slips = 1;
    const slipping = changed(source, (request) => {
      if (request.dapil !== null || request.offset !== 10 || slips === 0) return request;
      slips -= 1;
      return { ...request, offset: 0 };
    });
    const { delivered, warnings } = await runExtract(slipping);
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('read again');
  });

  it('reads a district again of which one page came twice, once', async () => {
    const source = simulateSource(records, { ...faultless, cap: 3 }, half);
    const slipped = new Set<number>();
    const slipping = changed(source, (request) => {
      if (request.dapil === null || request.offset === 0 || slipped.has(request.dapil)) return request;
      slipped.add(request.dapil);
      return { ...request, offset: 0 };
    });
    const { delivered, verdicts } = await runExtract(slipping);
    expect(slipped.size).toBeGreaterThan(0);
    expect(delivered.toSorted()).toEqual(named);
    // The last one of the list, behind which nothing follows, wants two readings that agree.
    expect(verdicts.map(({ readings }) => readings)).toEqual([2, 2, 3]);
  });

  describe.each([429, 500, 503, 302])('where the list fails with status %i', (status) => {
    /** A source whose list fails from `offset` on, and district 1103 where that is wanted. */
    const failing = ({ offset = 0, alsoDistrict = false } = {}) =>
      changed(simulateSource(records, { ...faultless, cap: 14 }, half), (request) => {
        if (request.dapil === null && request.offset >= offset) throw new SourceStatusError(status, 'answered so');
        if (alsoDistrict && request.dapil === 1103) throw new SourceStatusError(500, 'out of order');
        return request;
      });

    it('reads the districts known from law to their ends, and says so', async () => {
      const { delivered, warnings } = await runExtract(failing({ offset: 14 }), { reference: [1101, 1102, 1103] });
      expect(delivered.toSorted()).toEqual(named);
      expect(warnings.join()).toContain('does not list all districts (answered so)');
    });

    it.each([
      ['nothing says which districts there are', {}, []],
      ['it had begun with a district that nothing else knows', { offset: 14 }, [1102, 1103]],
      ['a district fails too', { alsoDistrict: true }, [1101, 1102, 1103]],
      ['the known districts have no records', {}, [1201, 1202]],
    ])('gives up where %s', async (_when, how, reference) => {
      const run = runExtract(failing(how), { reference, pageSize: 100 });
      await expect(run).rejects.toMatchObject({ status, message: 'answered so' });
    });
  });

  it('takes "not found" past the last page for its end, in the list and in a district', async () => {
    const source = simulateSource(records, { ...faultless, cap: 5 }, half);
    const counting = changed(source, (request) => {
      const length = request.dapil === null ? records.length : request.dapil <= 1103 ? 12 : 0;
      if (request.offset >= length) throw new SourceStatusError(404, 'no more');
      return request;
    });
    const { delivered, verdicts, warnings } = await runExtract(counting, { reference: [1101, 1102, 1103, 1104] });
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/knows nothing \(404\) of districts .*: 1104\.$/)]);
    const alone = await runExtract(counting);
    expect(alone.delivered.toSorted()).toEqual(named);
    expect(alone.verdicts.filter(({ complete }) => !complete)).toEqual([]);
  });

  it('does not take "not found" in the midst of the list for its end, unless other districts are known', async () => {
    const source = simulateSource(records, { ...faultless, cap: 5 }, half);
    const faulty = changed(source, (request) => {
      if (request.dapil === null && request.offset === 15) throw new SourceStatusError(404, 'not found');
      return request;
    });
    await expect(runExtract(faulty)).rejects.toThrow(EarlyEndError);
    const { delivered, warnings } = await runExtract(faulty, { reference: [1101, 1102, 1103] });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toMatch(/does not list all districts \(.*its list has a gap\)/);
  });

  it('does not take an empty page in the midst of the list for its end either', async () => {
    const source = simulateSource(records, { ...faultless, cap: 12 }, half);
    // Where a page ends with a district, no record of the rest is ever met.
    const faulty = changed(source, (request) =>
      request.dapil === null && request.offset === 24 ? { ...request, offset: 1000 } : request,
    );
    await expect(runExtract(faulty, { pageSize: 12 })).rejects.toThrow(
      'though there were none at the offset before it',
    );
    const { delivered } = await runExtract(faulty, { reference: [1101, 1102, 1103], pageSize: 12 });
    expect(delivered.toSorted()).toEqual(named);
  });

  it('believes nothing of how districts page that only a failed list has shown', async () => {
    const many = [1101, 1102].flatMap((dapil) =>
      Array.from({ length: 120 }, (_, place) => ({ dapil, regency: `R${place}`, people: place })),
    );
    const source = simulateSource(many, faultless, half);
    const plain = source.fetchPage.bind(source);
    // The list comes in pages of a hundred until it fails; a district is its first ten records whatever is asked.
    const faulty: SimulatedSource = {
      ...source,
      fetchPage: (pipeline, request) => {
        if (request.dapil === null && request.offset >= 200) throw new SourceStatusError(500, 'out of order');
        if (request.dapil === null) return plain(pipeline, request);
        return plain(pipeline, { ...request, limit: 10, offset: request.offset >= 10 ? 1000 : 0 });
      },
    };
    await expect(runExtract(faulty, { reference: [1101, 1102], pageSize: 100 })).rejects.toMatchObject({ status: 500 });
  });

  it('asks a district without records once more when all others were read, where there is no list', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, half);
    let slips = 2;
    const slipping = changed(source, (request) => {
      if (request.dapil !== 1102 || slips === 0) return request;
      slips -= 1;
      return { ...request, offset: 1000 };
    });
    const clock = manualClock();
    const { verdicts } = await runExtract(slipping, { clock, reference: [1101, 1102, 1103, 1104] });
    // Not at once: the source may be about to load its data.
    expect(clock.sleeps).toEqual([2000]);
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: 1102, proof: 'none', reason: expect.stringContaining('had no records at first and has some now') },
    ]);
    expect(source.requests.filter(({ dapil }) => dapil === 1104)).toHaveLength(3);
  });

  it('does not believe a list that ends with "not found" where an empty page follows behind it', async () => {
    const source = simulateSource(records, { ...faultless, cap: 5 }, half);
    const odd = changed(source, (request) => {
      if (request.dapil === null && request.offset === 36) throw new SourceStatusError(404, 'not found');
      return request;
    });
    const { verdicts } = await runExtract(odd);
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: null, reason: expect.stringContaining('ends with status 404') },
    ]);
  });

  it.each([
    ['once', 1, []],
    ['always', Infinity, [1102]],
  ])('does not take "not found" in the midst of a district for its end, said %s', async (_often, times, incomplete) => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused', cap: 5 }, half);
    let left = times;
    const faulty = changed(source, (request) => {
      if (request.dapil !== 1102 || request.offset === 0 || left === 0) return request;
      left -= 1;
      throw new SourceStatusError(404, 'not found');
    });
    const { delivered, verdicts } = await runExtract(faulty, { reference: [1101, 1102, 1103] });
    expect(verdicts.filter(({ complete }) => !complete).map(({ dapil }) => dapil)).toEqual(incomplete);
    expect(delivered.toSorted()).toEqual(
      named.filter((name) => !incomplete.some((dapil) => name.startsWith(`${dapil}`))),
    );
  });

  it('takes any refusal of a district that only the law names for the source not having it', async () => {
    const source = simulateSource(records, faultless, half);
    const strict = changed(source, (request) => {
      if (request.dapil !== null && request.dapil > 1103) throw new SourceStatusError(422, 'unknown id_dapil');
      return request;
    });
    const foreseen = [1101, 1102, 1103, 1104, 1105, 1106, 1107, 1108, 1109, 1110];
    const { delivered, verdicts, warnings } = await runExtract(strict, { reference: foreseen });
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(warnings).toEqual([expect.stringMatching(/knows nothing \(422\) .*: 1104, 1105/)]);
    const before = await runExtract(strict, { reference: foreseen, knownBefore: [1104] });
    expect(before.verdicts.filter(({ complete }) => !complete)).toMatchObject([{ dapil: 1104 }]);
  });

  it('names the districts known from law that have no records', async () => {
    const reference = Array.from({ length: 14 }, (_, index) => 1101 + index);
    const { warnings } = await runExtract(simulateSource(records, faultless, half), { reference });
    expect(warnings).toEqual([
      expect.stringMatching(/has no records of districts that are known from law.*: 1104, .*1113 and 1 more\.$/),
    ]);
  });

  it('reads on where the readings of a district hold other values, and says so where they never agree', async () => {
    const restated = records.map((record) => (record.dapil === 1102 ? { ...record, people: 99 } : record));
    const [source, other] = [records, restated].map((list) =>
      simulateSource(list, { ...faultless, sweep: 'refused', cap: 5 }, half),
    );
    const flapping = (until: number) => ({
      ...source!,
      fetchPage: async (...asked: Parameters<SourceClient['fetchPage']>) =>
        (asked[1].reading % 10 < until && asked[1].reading % 2 === 0 ? other! : source!).fetchPage(...asked),
    });
    const settles = await runExtract(flapping(3), { reference: [1101, 1102, 1103] });
    expect(settles.delivered.toSorted()).toEqual(named);
    expect(settles.warnings.join()).not.toContain('other values');
    const never = await runExtract(flapping(9), { reference: [1101, 1102, 1103] });
    expect(never.warnings.join()).toMatch(/district 1102: 4 readings brought the same records with other values/);
  });

  it('reads the known districts to their ends where the service does not list them', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused', cap: 5 }, half);
    const { delivered, warnings } = await runExtract(source, { reference: [1101, 1102, 1103, 1104] });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('does not list all districts');
  });
});
