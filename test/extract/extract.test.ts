/** A source that hides records or whole partitions is read to the end, or reported. */

import { describe, expect, it } from 'vitest';
import { voters } from '../support/bundled.ts';
import { RekapError } from '../../src/errors.ts';
import type { PageSource } from '../../src/source/source-client.ts';
import type { Verdict } from '../../src/stages.ts';
import { parametersOf, withParameters } from '../support/page-request.ts';
import { collect, runExtract } from '../support/run-extract.ts';
import {
  changed,
  faultless,
  simulateSource,
  type Behaviour,
  type SimulatedRecord,
} from '../support/simulated-source.ts';

const half = (): number => 0.5;
const reference = [1101, 1102, 1103];

/** Three partitions of twelve regencies each. */
const records: readonly SimulatedRecord[] = reference.flatMap((partition) =>
  Array.from({ length: 12 }, (_, place) => ({ partition, regency: `R${place}`, people: place })),
);
/** The same as `runExtract` returns them. */
const named = records.map(({ partition, regency, people }) => `${partition} ${regency} ${people}`).toSorted();

const sourceWith = (behaviour: Partial<Behaviour> = {}, list = records) =>
  simulateSource(list, { ...faultless, ...behaviour }, half);
const inPartitionsOfThree = (total: number): SimulatedRecord[] =>
  Array.from({ length: total }, (_, index) => ({
    partition: 1101 + Math.floor(index / 3),
    regency: `R${index}`,
    people: 1,
  }));
const incomplete = (verdicts: readonly Verdict[]) => verdicts.filter(({ complete }) => !complete);

function refuse(message: string, status: number): never {
  throw new RekapError('source-status', message, '', { status });
}

describe('an extraction', () => {
  it('requests the listing, its end and each partition once, and confirms the last partition and the listing', async () => {
    const source = sourceWith({}, inPartitionsOfThree(300));
    const { delivered } = await runExtract(source, { pageSize: 1000 });
    expect(delivered).toHaveLength(300);
    const listing = source.requests.filter(({ partition }) => partition === null);
    expect(listing.map((request) => parametersOf(request).offset)).toEqual([0, 300, 299, 300]);
    expect(source.requests.length - listing.length).toBe(100 + 2);
  });

  it('never loses a record that moves to a partition that was already read, whenever it moves', async () => {
    const before = inPartitionsOfThree(120);
    const moved = before.at(-20)!;
    // Another record disappears at the same time, so that the pages of the listing begin at the same records.
    const after = before.filter((record) => record !== moved && record.regency !== 'R4');
    after.push({ ...moved, partition: 1101 });
    const found: [number, boolean][] = [];
    for (let changesAt = 1; changesAt < 56; changesAt += 1) {
      const source = sourceWith({ changesAt, after }, before);
      const { verdicts, delivered } = await runExtract(source, { pageSize: 20, concurrency: 8 });
      if (incomplete(verdicts).length === 0)
        found.push([changesAt, delivered.some((name) => name.includes(` ${moved.regency} `))]);
    }
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(([, isFound]) => !isFound)).toEqual([]);
  });

  it('sends no more requests once its pages cannot be taken', async () => {
    const many = inPartitionsOfThree(290);
    const client = sourceWith({ listing: 'refused' }, many);
    const settings = { client, report: () => {}, concurrency: 1, reference: many.map(({ partition }) => partition) };
    const extracting = collect({ ...settings, heldBytes: 0 }, () => {
      throw new Error('no room');
    });
    await expect(extracting).rejects.toThrow('no room');
    expect(new Set(client.requests.map(({ partition }) => partition)).size).toBeLessThan(20);
  });

  it('is exact if only the full listing names partitions, and warns', async () => {
    const { verdicts, delivered, warnings } = await runExtract(sourceWith());
    expect(verdicts.map(({ partition, complete }) => `${partition} ${complete}`).toSorted()).toEqual(
      reference.map((partition) => `${partition} true`),
    );
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings).toEqual([expect.stringContaining('only the full listing')]);
  });

  it('is exact if records without a partition fill the memory', async () => {
    const footers = Array.from({ length: 30 }, (_, at) => ({ partition: -1, regency: `FOOTER ${at}`, people: 0 }));
    const { delivered } = await runExtract(sourceWith({}, [...footers, ...records]), { pageSize: 10, heldBytes: 8000 });
    expect(delivered).toHaveLength(records.length + footers.length);
  });

  it('requests smaller pages if the source refuses large ones, and warns', async () => {
    const strict = changed(sourceWith(), (request) =>
      parametersOf(request).limit > 10 ? refuse('limit is at most 10', 400) : request,
    );
    const { delivered, warnings } = await runExtract(strict, { pageSize: 1000 });
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('refuses pages of 1000 records. rekap requests 10 at a time');
  });

  it.each<[string, string, number | undefined, (offset: number) => number]>([
    ['counts offsets in pages', 'broken-reading', 10, (offset) => offset * 10],
    ['has nothing after its first page', 'broken-reading', 10, (offset) => (offset > 0 ? 1000 : 0)],
    ['returns one record at a time', 'unprovable-source', 1, (offset) => offset],
  ])('refuses a source that %s', async (_what, code, cap, offsetOf) => {
    const source = changed(sourceWith({ cap: cap! }), (request) =>
      withParameters(request, { offset: offsetOf(parametersOf(request).offset) }),
    );
    await expect(runExtract(source, { reference })).rejects.toMatchObject({ code });
  });
});

describe('a page that is repeated once', () => {
  /** Repeats the first page at this offset once for each list that `isRepeated` selects. */
  function repeating(cap: number, at: number, isRepeated: (partition: string | null) => boolean) {
    const repeated = new Set<string | null>();
    const source = changed(sourceWith({ cap }), (request) => {
      const { partition, offset } = parametersOf(request);
      if (!isRepeated(partition) || offset !== at || repeated.has(partition)) return request;
      repeated.add(partition);
      return withParameters(request, { offset: 0 });
    });
    return { source, repeated };
  }

  it('in the full listing makes rekap read the listing again', async () => {
    const { source } = repeating(10, 9, (partition) => partition === null);
    const { delivered, warnings } = await runExtract(source);
    expect(delivered.toSorted()).toEqual(named);
    expect(warnings.join()).toContain('reads the full listing again');
  });

  it('in a partition makes rekap read the partition again', async () => {
    const { source, repeated } = repeating(3, 2, (partition) => partition !== null);
    const { delivered, verdicts } = await runExtract(source);
    expect(repeated.size).toBeGreaterThan(0);
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.map(({ readings }) => readings)).toEqual([2, 2, 2]);
  });
});

describe('a partition', () => {
  it.each([
    ['once', 1, []],
    ['always', Infinity, ['1102']],
  ])('does not end at a "not found" in the middle: %s', async (_often, times, named1102) => {
    let left = times;
    const faulty = changed(sourceWith({ listing: 'refused', cap: 5 }), (request) => {
      if (request.partition !== '1102' || parametersOf(request).offset === 0 || left === 0) return request;
      left -= 1;
      return refuse('not found', 404);
    });
    const { delivered, verdicts } = await runExtract(faulty, { reference });
    expect(incomplete(verdicts).map(({ partition }) => partition)).toEqual(named1102);
    expect(delivered.toSorted()).toEqual(named.filter((name) => !named1102.some((id) => name.startsWith(id))));
  });

  it('can be refused if only the reference names it, but not if the previous snapshot has it', async () => {
    const strict = changed(sourceWith(), (request) =>
      Number(request.partition) > 1103 ? refuse('unknown id_dapil', 422) : request,
    );
    const foreseen = Array.from({ length: 10 }, (_, index) => 1101 + index);
    const { delivered, verdicts, warnings } = await runExtract(strict, { reference: foreseen });
    expect(delivered.toSorted()).toEqual(named);
    expect(incomplete(verdicts)).toEqual([]);
    expect(warnings.join()).toMatch(/unknown id_dapil.*: 1104, 1105/);
    const before = await runExtract(strict, { reference: foreseen, knownBefore: [1104] });
    expect(incomplete(before.verdicts)).toMatchObject([{ partition: '1104' }]);
  });

  it.each<[string, Parameters<typeof runExtract>[1], RegExp[]]>([
    [
      'the reference',
      { reference: Array.from({ length: 14 }, (_, index) => 1101 + index) },
      [/that the reference .*: 1104, .*1113 and 1 more\.$/],
    ],
    [
      'the previous snapshot',
      { reference: [1101, 1104, 1105, 1106], knownBefore: [1101, 1105] },
      [/that the previous snapshot has: 1105\.$/, /that the reference .*: 1104, 1106\.$/],
    ],
    ['the user', { wanted: [1102, 1109] }, [/that you requested: 1109\.$/]],
  ])('without records is complete, with a warning, if it is known from %s', async (_where, settings, warned) => {
    const { verdicts, warnings } = await runExtract(sourceWith(), settings);
    expect(incomplete(verdicts)).toEqual([]);
    expect(warnings).toEqual(warned.map((words) => expect.stringMatching(words)));
  });

  it('is incomplete if its pages replace a listed record', async () => {
    const after = records.map((record) => (record.regency === 'R3' ? { ...record, regency: 'OTHER' } : record));
    const { verdicts } = await runExtract(sourceWith({ changesAt: 3, after }), { pageSize: 100 });
    const reason = expect.stringContaining('found 13 records, but the last pass found only 12');
    expect(incomplete(verdicts)).toContainEqual(expect.objectContaining({ reason }));
  });

  it.each([
    ['complete if two passes agree', 1, []],
    ['incomplete if its values never settle', 3, [{ partition: '1102', reason: /different values/ }]],
  ])('is %s', async (_what, changes, expected) => {
    const versions = [0, 1, 2, 3].map((version) =>
      sourceWith(
        { listing: 'refused' },
        records.map((record) => (record.partition === 1102 ? { ...record, people: version } : record)),
      ),
    );
    let pass = -1;
    const changing = {
      ...versions[0]!,
      fetchPage: async (...sent: Parameters<PageSource['fetchPage']>) => {
        if (sent[1].partition === '1102' && parametersOf(sent[1]).offset === 0) pass += 1;
        return versions[Math.max(0, Math.min(pass, changes))]!.fetchPage(...sent);
      },
    };
    const { verdicts, delivered } = await runExtract(changing, { reference, pageSize: 100 });
    expect(incomplete(verdicts)).toMatchObject(
      expected.map(({ partition, reason }) => ({ partition, reason: expect.stringMatching(reason) })),
    );
    expect(delivered.includes('1102 R0 1')).toBe(changes === 1);
  });

  it('is incomplete if another dataset has it, unless changes are accepted', async () => {
    const source = sourceWith({ listing: 'refused' });
    const without1102 = {
      ...source,
      fetchPage: (...[pipeline, request, leniency]: Parameters<PageSource['fetchPage']>) =>
        pipeline.table === 'another' && request.partition === '1102'
          ? source.fetchPage(pipeline, withParameters(request, { offset: 10_000 }), leniency)
          : source.fetchPage(pipeline, request, leniency),
    };
    const settings = { pipelines: [voters, { ...voters, table: 'another' }], reference };
    const { verdicts } = await runExtract(without1102, settings);
    expect(incomplete(verdicts)).toMatchObject([{ dataset: 'another', partition: '1102' }]);
    const accepted = await runExtract(without1102, { ...settings, acceptChanges: true });
    expect(incomplete(accepted.verdicts)).toEqual([]);
  });
});

describe('the full listing', () => {
  it('does not end partitions if it turns out to be incomplete', async () => {
    const { delivered, verdicts } = await runExtract(sourceWith({ hides: 1103 }), { pageSize: 100, reference });
    expect(delivered.toSorted()).toEqual(named);
    expect(verdicts.map(({ proof }) => proof)).toEqual(['own end', 'own end', 'own end']);
  });

  it('is refused if it has grown by the end', async () => {
    const after = [...records, { partition: 1103, regency: 'LATE', people: 1 }];
    const { verdicts } = await runExtract(sourceWith({ changesAt: 8, after }), { pageSize: 100 });
    const reason = expect.stringContaining('had 36 records when it was read, but has more now');
    expect(incomplete(verdicts)).toMatchObject([{ partition: null, reason }]);
  });
});
