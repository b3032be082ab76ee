/** Sources that hide records behind responses that look complete: each is refused, reported, or read to its end. */

import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import type { PageSource } from '../../src/source/source-client.ts';
import type { Verdict } from '../../src/stages.ts';
import { parametersOf, withParameters } from '../support/page-request.ts';
import { runExtract } from '../support/run-extract.ts';
import { faultless, simulateSource, type Behaviour, type SimulatedRecord } from '../support/simulated-source.ts';

const sizes = { 1101: 12, 1102: 8, 1103: 25, 1104: 10, 1105: 14, 1106: 3 };
const records: SimulatedRecord[] = Object.entries(sizes).flatMap(([partition, size]) =>
  Array.from({ length: size }, (_, place) => ({ partition: Number(partition), regency: `R${place}`, people: place })),
);
const reference = Object.keys(sizes).map(Number);
const everything = records.map(({ partition, regency, people }) => `${partition} ${regency} ${people}`).toSorted();
const settings = { pageSize: 100, reference };

type Settings = Parameters<typeof runExtract>[1];
type Fetch = PageSource['fetchPage'];

const sourceWith = (behaviour: Partial<Behaviour> = {}, list = records) =>
  simulateSource(list, { ...faultless, ...behaviour }, () => 0.5);
const read = (behaviour: Partial<Behaviour>, others: Settings = {}) =>
  runExtract(sourceWith(behaviour), { ...settings, ...others });
/** A source whose requests go through `fetchPage`. */
const through = (
  source: ReturnType<typeof sourceWith>,
  fetchPage: (...request: Parameters<Fetch>) => ReturnType<Fetch>,
) => ({
  ...source,
  fetchPage,
});
const incomplete = (verdicts: readonly Verdict[]) => verdicts.filter(({ complete }) => !complete);

/** A source whose responses report the count that `countOf` returns for a partition and a limit. */
function counting(source: ReturnType<typeof sourceWith>, countOf: (partition: string | null, limit: number) => number) {
  return through(source, async (pipeline, request) => {
    const fetched = await source.fetchPage(pipeline, request);
    return { ...fetched, page: { ...fetched.page, count: countOf(request.partition, parametersOf(request).limit) } };
  });
}

it('a verdict has the name of its partition from the records', async () => {
  const { verdicts } = await read({});
  const names = Object.fromEntries(verdicts.map(({ partition, name }) => [partition, name]));
  expect(names).toEqual(Object.fromEntries(reference.map((partition) => [partition, `DAPIL ${partition}`])));
});

describe('a source whose count is larger than its list', () => {
  const given = sourceWith(
    { cap: 10 },
    records.filter(({ partition }) => partition !== 1104),
  );
  const ofAll = () => records.length;
  const ofEach = (partition: string | null): number =>
    records.filter((record) => partition === null || String(record.partition) === partition).length;

  it.each([
    ['of each request', ofEach],
    ['of all records', ofAll],
  ])('is refused unless changes are accepted: a count %s', async (_of, countOf) => {
    const refused = await runExtract(counting(given, countOf), settings);
    expect(incomplete(refused.verdicts)).toHaveLength(1);
    const { verdicts, warnings } = await runExtract(counting(given, countOf), { ...settings, acceptChanges: true });
    expect(incomplete(verdicts)).toEqual([]);
    expect(warnings.join()).toContain('reports 72 records, but only 62 were received');
  });

  it('is refused without a listing too', async () => {
    const source = counting(given, ofAll);
    const withoutListing = through(source, (...request) => {
      if (request[1].partition === null) throw new RekapError('source-status', 'no listing', '', { status: 400 });
      return source.fetchPage(...request);
    });
    expect(incomplete((await runExtract(withoutListing, settings)).verdicts)).toHaveLength(1);
  });

  it.each<[string, number[], (partition: string | null, limit: number) => number, number]>([
    ['can count all records if only some partitions are wanted', [1101, 1102], ofAll, 0],
    ['can count the limit', [1105], (_partition, limit) => limit, 0],
    ['is refused for one of several wanted partitions', [1101, 1102], (id) => (id === '1102' ? 8 : 13), 1],
    ['is refused for the only wanted partition', [1101], () => 13, 1],
    ['is refused for each wanted partition', [1101, 1106], () => 13, 2],
  ])('%s', async (_what, wanted, countOf, refused) => {
    const expected = { voters: records.length };
    const { verdicts } = await runExtract(counting(given, countOf), { pageSize: 100, wanted, expected });
    expect(incomplete(verdicts)).toHaveLength(refused);
  });
});

describe('a source that hides records', () => {
  it('because a request returns at most ten is refused by its own count, or warned about without one', async () => {
    const { verdicts } = await read({ window: 10, cap: 10, countIsTotal: true });
    expect(incomplete(verdicts).map(({ partition, reason }) => [partition, reason])).toEqual([
      [null, expect.stringContaining('reports 72 records, but only 51 were received')],
      ...['1101', '1103', '1105'].map((id) => [id, expect.stringContaining('but only 10 were received')]),
    ]);
    const { verdicts: uncounted, warnings } = await read({ window: 10, cap: 10 });
    expect(incomplete(uncounted)).toEqual([]);
    expect(warnings).toContainEqual(expect.stringMatching(/every response to 10 records.*: 1101, 1103, 1104, 1105/));
  });

  it.each<[string, Partial<Behaviour>, Settings]>([
    ['partitions without a second page', { stuckFilter: true, cap: 10, listing: 'refused' }, {}],
    ['wanted partitions without a second page', { stuckFilter: true, cap: 10 }, { wanted: reference }],
  ])('in %s is incomplete', async (_when, behaviour, others) => {
    const { verdicts } = await read(behaviour, others);
    expect(verdicts.filter(({ complete }) => complete)).toEqual([]);
  });

  it('in partitions that ignore limit and offset is incomplete', async () => {
    const source = sourceWith({ listing: 'refused' });
    const firstTen = through(source, (pipeline, request) =>
      source.fetchPage(
        pipeline,
        withParameters(request, { limit: 10, offset: parametersOf(request).offset === 0 ? 0 : 10_000 }),
      ),
    );
    expect((await runExtract(firstTen, settings)).verdicts.filter(({ complete }) => complete)).toEqual([]);
  });

  it.each<[string, Partial<Behaviour>, Settings, RegExp]>([
    [
      'whose partitions have exactly one page',
      { window: 10 },
      { pageSize: 10, wanted: [1103, 1104] },
      /: 1103, 1104\./,
    ],
    [
      'with partitions missing in its listing',
      { listingWindow: 20, cap: 10 },
      {},
      /missing in the full listing: 1103, 1104/,
    ],
    ['with a counted partition missing in its listing', { hides: 1104, cap: 10, countIsTotal: true }, {}, /: 1104/],
  ])('%s is complete, with a warning', async (_what, behaviour, others, words) => {
    const { verdicts, warnings } = await read(behaviour, others);
    expect(incomplete(verdicts)).toEqual([]);
    expect(warnings.join()).toMatch(words);
  });

  it.each<[string, SimulatedRecord[], RegExp]>([
    [
      'fewer records of a partition',
      records.filter(({ partition, regency }) => partition !== 1101 || !['R10', 'R11'].includes(regency)),
      /^$/,
    ],
    [
      'other values',
      records.map((record) => (record.partition === 1104 ? { ...record, people: 99 } : record)),
      /different values .*: 1104\.$/,
    ],
  ])('in a listing with %s is read to its end', async (_what, listed, words) => {
    const source = sourceWith({ cap: 10 });
    const listing = sourceWith({ cap: 10 }, listed);
    const twofold = through(source, (...request) =>
      (request[1].partition === null ? listing : source).fetchPage(...request),
    );
    const { delivered, warnings } = await runExtract(twofold, settings);
    expect(delivered.toSorted()).toEqual(everything);
    expect(warnings.join()).toMatch(words);
  });

  it('in a listing that cuts counted partitions is read to its end', async () => {
    const counted: Partial<Behaviour> = { cap: 10, countIsTotal: true };
    const source = sourceWith({ ...counted, filterCap: 5 });
    // A page of partition 1101 ends where its list is cut, and partition 1105 shows that the list is short.
    const kept = (partition: number, place: number): boolean =>
      (partition !== 1101 || place < 5) && (partition !== 1105 || place < 13);
    const listing = sourceWith(
      counted,
      records.filter(({ partition, people }) => kept(partition, people)),
    );
    const twofold = through(source, (...request) =>
      (request[1].partition === null ? listing : source).fetchPage(...request),
    );
    const { delivered, verdicts } = await runExtract(twofold, settings);
    expect(incomplete(verdicts)).toEqual([]);
    expect(delivered.toSorted()).toEqual(everything);
  });

  it.each<[string, Partial<Behaviour>]>([
    ['with a listing', {}],
    ['without a listing', { listing: 'refused' }],
  ])('at the same place in every response delivers only proved partitions, %s', async (_when, behaviour) => {
    for (let slipAt = 1; slipAt < 25; slipAt += 2) {
      const nothing: { delivered: readonly string[]; verdicts: readonly Verdict[] } = { delivered: [], verdicts: [] };
      const { delivered, verdicts } = await read({ slipAt, cap: 10, ...behaviour }).catch((error: unknown) => {
        if (error instanceof RekapError) return nothing;
        throw error;
      });
      const proved = new Set(verdicts.flatMap(({ complete, partition }) => (complete ? partition : [])));
      const expected = everything.filter((name) => proved.has(name.slice(0, 4)));
      expect([slipAt, new Set(delivered)]).toEqual([slipAt, new Set(expected)]);
    }
  });

  it.each([
    ['the listing', null],
    ['a partition', '1102'],
    ['a partition after its first page', '1103'],
  ])('because %s is empty for a moment is read again', async (_what, emptied) => {
    const source = sourceWith({ cap: 10 });
    let left = 1;
    const flickering = through(source, (pipeline, request) => {
      const { partition, offset } = parametersOf(request);
      if (partition !== emptied || (emptied !== '1102' && offset < 20) || left === 0)
        return source.fetchPage(pipeline, request);
      left -= 1;
      return source.fetchPage(pipeline, withParameters(request, { offset: 10_000 }));
    });
    // Wanted partitions are read without a listing, so nothing else shows their records.
    const wanted = emptied === null ? null : reference;
    const { delivered } = await runExtract(flickering, { ...settings, wanted });
    expect([left, delivered.toSorted()]).toEqual([0, everything]);
  });

  it('because a partition merges two records of one key is incomplete', async () => {
    const source = sourceWith({}, [records[0]!, ...records]);
    const merging = through(source, (pipeline, request) =>
      source.fetchPage(
        pipeline,
        request.partition === '1101' ? withParameters(request, { offset: parametersOf(request).offset + 1 }) : request,
      ),
    );
    const reason = expect.stringContaining('found 13 records, but the last pass found only 12');
    const { verdicts } = await runExtract(merging, settings);
    expect(incomplete(verdicts)).toMatchObject([{ partition: '1101', reason }]);
  });
});
