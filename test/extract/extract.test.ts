/** Sources that would hide records or whole districts: each is read to the end, or named; none is published short. */

import { describe, expect, it } from 'vitest';
import { voters } from '../../pipelines/voters.ts';
import { RepeatedPageError, SourceStatusError } from '../../src/errors.ts';
import type { SourceClient } from '../../src/extract/source-client.ts';
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
  return { ...source, fetchPage: async (pipeline, request) => plain(pipeline, change(request)) };
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
    // The end is asked for twice.
    expect(sweeps.map(({ offset }) => offset)).toEqual([0, 1, 100, 200, 300, 300]);
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
    expect(warnings).toEqual([expect.stringMatching(/district 1109: the source has no records of it/)]);
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

  it.each([429, 500, 503, 302])(
    'takes status %i at the list for a failure, not for a service without a list',
    async (status) => {
      const source = simulateSource(records, faultless, half);
      const failing = changed(source, (request) => {
        if (request.dapil === null) throw new SourceStatusError(status, `answered ${status}`);
        return request;
      });
      await expect(runExtract(failing, { reference: [1101, 1102, 1103] })).rejects.toBeInstanceOf(SourceStatusError);
    },
  );

  it('reads the known districts to their ends where the service does not list them', async () => {
    const source = simulateSource(records, { ...faultless, sweep: 'refused', cap: 5 }, half);
    const { delivered, warnings } = await runExtract(source, { reference: [1101, 1102, 1103, 1104] });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('does not list all districts');
  });
});
