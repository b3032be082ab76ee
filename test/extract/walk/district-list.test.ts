/** A list of all districts that is refused, fails, is short, or has a gap: what is known otherwise stands in for it, or the run ends. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../../pipelines/voters.ts';
import { votingRightsUsers } from '../../../pipelines/voting-rights-users.ts';
import { EarlyEndError, SourceStatusError } from '../../../src/errors.ts';
import { lateAsking } from '../../../src/readings.ts';
import type { PageRequest } from '../../../src/stages.ts';
import type { RunEvent } from '../../../src/surroundings.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { runExtract } from '../../support/run-extract.ts';
import {
  changed,
  faultless,
  simulateSource,
  type SimulatedRecord,
  type SimulatedSource,
} from '../../support/simulated-source.ts';
import { half, named, records } from '../three-districts.ts';

describe('the list of all districts', () => {
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
    await expect(runExtract(faulty, { pageSize: 12 })).rejects.toThrow('though there were none at an offset before it');
    const { delivered } = await runExtract(faulty, { reference: [1101, 1102, 1103], pageSize: 12 });
    expect(delivered.toSorted()).toEqual(named);
  });

  it.each([
    ['the page that shows its gap', 12, 24, 24],
    ['a page asked for before its turn', 6, 12, 29],
  ])('is not replaced where %s names a district that nothing else knows', async (_, pageSize, from, to) => {
    const faulty = changed(simulateSource(records, faultless, half), (request) =>
      request.dapil === null && request.offset >= from && request.offset <= to ? { ...request, offset: 1000 } : request,
    );
    const run = (reference: readonly number[]) =>
      runExtract(faulty, { reference, pageSize, concurrency: 8, expected: { voters: records.length } });
    await expect(run([1101, 1102])).rejects.toThrow('its list has a gap');
    expect((await run([1101, 1102, 1103])).delivered.toSorted()).toEqual(named);
  });

  it('is not replaced where it fails before the turn of a page that names a district which nothing else knows', async () => {
    const failing = changed(simulateSource(records, faultless, half), (request) => {
      if (request.dapil === null && request.offset === 12) throw new SourceStatusError(500, 'out of order');
      return request;
    });
    const run = (reference: readonly number[]) =>
      runExtract(failing, { reference, pageSize: 6, concurrency: 8, expected: { voters: records.length } });
    await expect(run([1101, 1102])).rejects.toMatchObject({ status: 500 });
    expect((await run([1101, 1102, 1103])).delivered.toSorted()).toEqual(named);
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
    expect(clock.sleeps).toEqual([700, 1600]);
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: 1102, proof: 'none', reason: expect.stringContaining('had no records at first and has some now') },
    ]);
    expect(source.requests.filter(({ dapil }) => dapil === 1104)).toHaveLength(4);
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

  it('reads the known districts to their ends where the service does not list them', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused', cap: 5 }, half);
    const { delivered, warnings } = await runExtract(source, { reference: [1101, 1102, 1103, 1104] });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('does not list all districts');
  });

  it('of one dataset stands in for that of another, where the service refuses that one and nothing else is known', async () => {
    const source = simulateSource(records, faultless, half);
    const oneRefused = changed(source, (request) => {
      if (request.dapil === null && request.dataset === 'voters') throw new SourceStatusError(400, 'no list');
      return request;
    });
    const { delivered, verdicts } = await runExtract(oneRefused, { pipelines: [voters, votingRightsUsers] });
    expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
    expect(delivered).toHaveLength(2 * records.length);
  });

  it('is at its end where offsets behind that are refused', async () => {
    const source = simulateSource(records, faultless, half);
    const strict = changed(source, (request) => {
      if (request.dapil === null && request.offset > records.length) throw new SourceStatusError(400, 'offset');
      return request;
    });
    const { delivered, warnings } = await runExtract(strict);
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['in the midst', (request: PageRequest) => request.offset >= 20],
    ['at its second reading, after the first had a page twice', null],
  ])('is not replaced where it failed %s and had brought a record without a district', async (_where, fails) => {
    const stray = { dapil: -1, regency: 'LUAR NEGERI', people: 777 };
    const source = simulateSource([stray, ...records], faultless, half);
    expect((await runExtract(source)).delivered.toSorted()).toEqual([expect.stringContaining('LUAR NEGERI'), ...named]);
    const failing = changed(source, (request) => {
      if (request.dapil !== null) return request;
      if (fails === null && request.reading < 2) return { ...request, offset: 0 };
      if (fails === null || fails(request)) throw new SourceStatusError(400, 'out of order');
      return request;
    });
    const run = runExtract(failing, { reference: [1101, 1102, 1103] });
    await expect(run).rejects.toMatchObject({ status: 400 });
  });

  describe('that shows a district which nothing else knows, and begins anew', () => {
    /** Its second reading is `then`. */
    const readTwice = (then: (request: PageRequest) => PageRequest, reference: readonly number[] = [1102, 1103]) => {
      const twice = changed(simulateSource(records, faultless, half), (request) => {
        if (request.dapil !== null) return request;
        if (request.reading < 2) return request.offset >= 20 ? { ...request, offset: 0 } : request;
        return then(request);
      });
      return runExtract(twice, { reference });
    };

    it.each([400, 404, 500])('ends the run where status %i is all that its second reading gives', async (status) => {
      const failing = readTwice(() => {
        throw new SourceStatusError(status, 'out of order');
      });
      await expect(failing).rejects.toMatchObject({ status });
    });

    it('ends the run where its second reading is empty', async () => {
      await expect(readTwice((request) => ({ ...request, offset: 1000 }))).rejects.toThrow(
        'had records at its first reading and has none at its second',
      );
      const known = readTwice((request) => ({ ...request, offset: 1000 }), [1101, 1102, 1103]);
      expect((await known).delivered.toSorted()).toEqual(named);
    });

    it('asks for that district where its second reading lacks it', async () => {
      const { delivered } = await readTwice((request) => ({ ...request, offset: request.offset + 12 }));
      expect(delivered.toSorted()).toEqual(named);
    });
  });

  describe('that had a record without a district', () => {
    const stray = { dapil: -1, regency: 'LUAR NEGERI', people: 777 };
    const reference = [1101, 1102, 1103];
    const run = (records_: readonly SimulatedRecord[], list: (request: PageRequest) => PageRequest) =>
      runExtract(
        changed(simulateSource(records_, faultless, half), (request) =>
          request.dapil === null ? list(request) : request,
        ),
        { reference, pageSize: 6, concurrency: 8, expected: { voters: records_.length } },
      );

    it('on a page whose turn did not come is not replaced', async () => {
      const failing = run([...records, stray], (request) => {
        if (request.offset === 12) throw new SourceStatusError(500, 'out of order');
        return request;
      });
      await expect(failing).rejects.toMatchObject({ status: 500 });
    });

    it('behind the page that shows a gap is not replaced', async () => {
      const withGap = run([...records.slice(0, 30), stray, ...records.slice(30)], (request) =>
        request.offset === 12 ? { ...request, offset: 1000 } : request,
      );
      await expect(withGap).rejects.toThrow('its list has a gap');
    });

    it('at its first reading is not replaced by a second one without', async () => {
      const twice = run([stray, ...records], (request) => {
        if (request.reading < 2) return request.offset >= 20 ? { ...request, offset: 0 } : request;
        return { ...request, offset: request.offset + 1 };
      });
      await expect(twice).rejects.toThrow('had records that name no district at its first reading and has none');
    });
  });

  it('gives its records without a district again where they had to leave the memory', async () => {
    const stray = { dapil: -1, regency: 'LUAR NEGERI', people: 777 };
    const source = simulateSource(records.toSpliced(5, 0, stray), { ...faultless, order: 'steady' }, half);
    const { delivered } = await runExtract(source, { heldBytes: 0 });
    expect(delivered.filter((name) => !named.includes(name))).toEqual([expect.stringContaining('LUAR NEGERI')]);
    expect(delivered).toHaveLength(records.length + 1);
  });

  it('that is refused is not the reason where districts were empty for some moments only', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused' }, half);
    const slipping = changed(source, (request) => (request.reading < 20 ? { ...request, offset: 1000 } : request));
    const { verdicts } = await runExtract(slipping, { reference: [1101, 1102] });
    expect(verdicts.map(({ dapil, complete }) => ({ dapil, complete }))).toEqual([
      { dapil: 1101, complete: false },
      { dapil: 1102, complete: false },
    ]);
  });

  it('that is known to be short says nothing of a district without records, which is asked for once more', async () => {
    const source = simulateSource(records, { ...faultless, sweepWindow: 18 }, half);
    const slipping = changed(source, (request) =>
      request.dapil === 1103 && request.reading < 20 ? { ...request, offset: 1000 } : request,
    );
    const { verdicts, warnings } = await runExtract(slipping, { reference: [1101, 1102, 1103, 1104] });
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: 1103, proof: 'none', reason: expect.stringContaining('had no records at first and has some now') },
    ]);
    expect(warnings.join()).toMatch(/has no records of districts that are known from law alone, .*: 1104\./);
  });

  it('leaves a district told of once that fails when it is asked again', async () => {
    const failing = changed(simulateSource([], { ...faultless, sweep: 'refused' }, half), (request) => {
      if (request.reading >= lateAsking(0)) throw new SourceStatusError(500, 'out of order');
      return request;
    });
    const events: RunEvent[] = [];
    const { verdicts } = await runExtract(failing, { wanted: [1101], report: (event) => events.push(event) });
    expect(verdicts).toMatchObject([{ dapil: 1101, complete: false, reason: expect.stringContaining('out of order') }]);
    expect(events.filter(({ kind }) => kind === 'district')).toHaveLength(1);
  });

  it('that was empty at first is asked for once more, and doubted where it has records then', async () => {
    const reference = [1101, 1102, 1103];
    const empty = simulateSource(records, { ...faultless, sweep: 'empty' }, half);
    expect((await runExtract(empty, { reference })).verdicts.filter(({ complete }) => !complete)).toEqual([]);
    const source = simulateSource([...records, { dapil: 1201, regency: 'R', people: 1 }], faultless, half);
    const late = changed(source, (request) =>
      request.dapil === null && request.reading < 20 ? { ...request, offset: 1000 } : request,
    );
    const { verdicts } = await runExtract(late, { reference });
    expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
      { dapil: null, reason: expect.stringContaining('had no records at first and has some now') },
    ]);
  });

  describe('that lacks a district which another dataset has', () => {
    /** Voters of 1103 are in no list, and come only from the asking on that `until` says. */
    const read = (until: number, inOtherList: boolean) => {
      const source = simulateSource(records, faultless, half);
      const plain = source.fetchPage.bind(source);
      const hiding: SimulatedSource = {
        ...source,
        fetchPage(pipeline, request) {
          const isVoters = request.dataset === 'voters';
          if (request.dapil === null && (isVoters || !inOtherList)) return withoutLast.fetchPage(pipeline, request);
          const isHidden = isVoters && request.dapil === 1103 && request.reading < until;
          return plain(pipeline, isHidden ? { ...request, offset: 1000 } : request);
        },
      };
      return runExtract(hiding, { pipelines: [voters, votingRightsUsers], pageSize: 100, reference: [1101, 1103] });
    };
    const withoutLast = simulateSource(
      records.filter(({ dapil }) => dapil !== 1103),
      faultless,
      half,
    );

    it.each([true, false])(
      'asks for it again, and doubts it where it has records then (listed there: %s)',
      async (there) => {
        const { verdicts } = await read(20, there);
        expect(verdicts.filter(({ complete }) => !complete)).toMatchObject([
          {
            dataset: 'voters',
            dapil: 1103,
            reason: expect.stringContaining('had no records at first and has some now'),
          },
        ]);
      },
    );

    it('names it where it has none', async () => {
      const { verdicts, warnings } = await read(100, true);
      expect(verdicts.filter(({ complete }) => !complete)).toEqual([]);
      expect(warnings).toContainEqual(
        expect.stringMatching(/^voters: the source has no records of districts that another dataset has: 1103\.$/),
      );
    });
  });
});
