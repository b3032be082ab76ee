/** Sources that would hide records or whole districts: each is read to the end, or named; none is published short. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import { RepeatedPageError, SourceStatusError } from '../../src/errors.ts';
import type { SourceClient } from '../../src/extract/ask/source-client.ts';
import { runExtract } from '../support/run-extract.ts';
import { changed, faultless, simulateSource } from '../support/simulated-source.ts';
import { half, named, records } from './three-districts.ts';

const inDistrictsOfThree = (total: number) =>
  Array.from({ length: total }, (_, index) => ({
    dapil: 1101 + Math.floor(index / 3),
    regency: `R${index}`,
    people: 1,
  }));

describe('an extraction', () => {
  it('asks for the list, probes its offset and its end once, and asks each district once', async () => {
    const source = simulateSource(inDistrictsOfThree(300), faultless, half);
    const { delivered } = await runExtract(source, { pageSize: 100 });
    expect(delivered).toHaveLength(300);
    const sweeps = source.requests.filter(({ dapil }) => dapil === null);
    // A full page may be followed by another, which is asked for with it. The end is asked for twice, and once further on.
    expect(sweeps.map(({ offset }) => offset)).toEqual([0, 1, 100, 200, 300, 400, 300, 301]);
    // The last district of the list is read to its empty page.
    expect(source.requests.length - sweeps.length).toBe(100 + 1);
  });

  it('asks for a page of the list in vain but once where pages vary', async () => {
    const lengths = [20, 20, 7, 20, 20, 7, 20, 20, 7, 20, 20, 7];
    const list = inDistrictsOfThree(lengths.reduce((sum, length) => sum + length, 0));
    const starts = lengths.map((_, index) => lengths.slice(0, index).reduce((sum, length) => sum + length, 0));
    const source = simulateSource(list, faultless, half);
    // A page is as long as the one that begins there, or full.
    const varying = changed(source, (request) =>
      request.dapil === null ? { ...request, limit: lengths[starts.indexOf(request.offset)] ?? 20 } : request,
    );
    const { delivered } = await runExtract(varying, { pageSize: 20 });
    expect(delivered).toHaveLength(list.length);
    const asked = source.requests.filter(({ dapil, reading }) => dapil === null && reading === 0);
    expect(asked.filter(({ offset }) => offset < list.length && !starts.includes(offset))).toHaveLength(1);
    // A short page of such a list says nothing: what was read ahead behind the first one was in vain, and it is left at that.
    const firstPages = source.requests.filter(({ dapil, offset }) => dapil !== null && offset === 0);
    const districts = new Set(list.map(({ dapil }) => dapil)).size;
    expect(firstPages.length).toBeGreaterThan(districts);
    expect(firstPages.length).toBeLessThanOrEqual(districts + starts[3]! / 3);
  });

  it('asks for other districts by turns with reading those that came beside the list', async () => {
    // The last page of the list is short, so that districts are read while its end is asked for.
    const source = simulateSource(inDistrictsOfThree(290), faultless, half);
    const districtsAsked = (): number => source.requests.filter(({ dapil }) => dapil !== null).length;
    let atHand = new Set<number | null>();
    let askedMeanwhile = 0;
    await runExtract(source, {
      pageSize: 100,
      report(event) {
        if (event.kind === 'districts') atHand = new Set(source.requests.map(({ dapil }) => dapil));
      },
      async deliver(_, { verdict }) {
        if (atHand.has(verdict.dapil)) askedMeanwhile = districtsAsked() - (atHand.size - 1);
      },
    });
    expect(atHand.size).toBeGreaterThan(10);
    expect(askedMeanwhile).toBeGreaterThanOrEqual(atHand.size - 1);
  });

  it.each([
    ['nothing is known of its length', {}],
    ['its pages are asked for at once', { voters: 290 }],
  ])('never loses a record that moves to a district listed before, whenever it does, where %s', async (_, expected) => {
    const before = inDistrictsOfThree(290);
    const moved = before.at(-20)!;
    // Another one is withdrawn at the same time, so that the list's pages begin where they did.
    const after = before.filter((record) => record !== moved && record.regency !== 'R4');
    after.push({ ...moved, dapil: 1101 });
    let complete = 0;
    for (let changesAt = 1; changesAt < 120; changesAt += 1) {
      const source = simulateSource(before, { ...faultless, changesAt, after }, half);
      const { verdicts, delivered } = await runExtract(source, { pageSize: 20, concurrency: 8, expected });
      if (verdicts.some((verdict) => !verdict.complete)) continue;
      complete += 1;
      expect({ changesAt, found: delivered.some((name) => name.includes(` ${moved.regency} `)) }).toEqual({
        changesAt,
        found: true,
      });
    }
    expect(complete).toBeGreaterThan(0);
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
      expect.stringMatching(
        /has no records of districts that are known from law alone, .*: 1104, .*1113 and 1 more\.$/,
      ),
    ]);
  });

  it('tells districts that were there before from those that need not be there', async () => {
    const settings = { reference: [1101, 1104, 1105, 1106], knownBefore: [1101, 1105] };
    const { warnings } = await runExtract(simulateSource(records, faultless, half), settings);
    expect(warnings).toEqual([
      expect.stringMatching(/has no records of districts that are known from law alone, .*: 1104, 1106\.$/),
      expect.stringMatching(/has no records of districts that the snapshot before had: 1105\.$/),
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
});
