/** If a source fails for a while, at any moment and in any way, the published records are exact, or nothing is published. */

import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { voters } from '../support/bundled.ts';
import { RekapError } from '../../src/errors.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { holds } from '../support/properties.ts';
import { collect } from '../support/run-extract.ts';
import type { SimulatedRecord } from '../support/simulated-source.ts';
import { timedClient, type OutageKind } from '../support/timed-source.ts';

const other = { ...voters, table: 'another' };

/** Partitions of these sizes, numbered from 1. */
function nation(sizes: readonly number[]): SimulatedRecord[] {
  return sizes.flatMap((size, index) =>
    Array.from({ length: size }, (_, place) => ({ partition: index + 1, regency: `R${place}`, people: place })),
  );
}

const named = ({ partition, regency, people }: SimulatedRecord): string => `${partition} ${regency} ${people}`;
const placeOf = (name: string): string => name.replace(/ \d+$/, '');

const cases = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 8 }),
  // Pages of the listing often end where partitions do.
  pageSize: fc.constantFrom(4, 10, 1000),
  hasListing: fc.boolean(),
  /** Whether a reference names the partitions. */
  isKnown: fc.boolean(),
  latency: fc.constantFrom(5, 20, 50),
  start: fc.integer({ min: 0, max: 1500 }),
  length: fc.oneof(fc.integer({ min: 50, max: 600 }), fc.integer({ min: 600, max: 60_000 })),
  kind: fc.constantFrom<OutageKind>('empty', 'empty', 404, 404, 500, 'HTML', 'reset', 'stale'),
  /** A stale server has fewer records, or other values. */
  stale: fc.constantFrom('fewer', 'values'),
});

describe('an outage', () => {
  const outcomes = { exact: 0, refused: 0 };
  holds(
    'never loses a record silently, whenever it begins, however long it lasts, and whatever is returned',
    fc.asyncProperty(cases, async ({ sizes, isKnown, pageSize, start, length, kind, stale, ...rest }) => {
      const records = nation(sizes);
      // Without a listing, rekap accepts an empty response after two seconds, and a stale one if it is repeated.
      fc.pre(rest.hasListing || ((length < 1500 || (kind !== 'empty' && kind !== 404)) && kind !== 'stale'));
      // Without a listing, the reference must name the partitions.
      fc.pre(rest.hasListing || isKnown);
      const old =
        stale === 'fewer' ? records.filter((_, index) => index % 3 > 0) : records.map((r) => ({ ...r, people: 99 }));
      const clock = manualClock(new Date(0));
      const client = timedClient({ ...rest, records, stale: old, outage: { start, length, kind } }, clock);
      const warnings: string[] = [];
      const report = (event: RunEvent) => void (event.kind === 'warning' && warnings.push(event.message));
      const reference = isKnown ? sizes.map((_, index) => index + 1) : [];
      const pipelines = [voters, other];
      const found = await collect({ client, clock, report, pageSize, pipelines, reference }).catch((error: unknown) => {
        if (error instanceof RekapError) return null;
        throw error;
      });
      // The gate refuses a dataset without a record.
      const isPublished = found?.byDataset.size === 2 && found.verdicts.every(({ complete }) => complete);
      outcomes[isPublished ? 'exact' : 'refused'] += 1;
      if (!isPublished) return;
      for (const [dataset, delivered] of found.byDataset) {
        // A server that was stale all the time can't be detected.
        const whole = [records, old].map((list) => list.map(named).toSorted());
        if (whole.some((names) => names.join() === delivered.toSorted().join())) continue;
        expect(delivered.map(placeOf).toSorted()).toEqual(whole[0]!.map(placeOf));
        expect({ kind, warned: warnings.filter((message) => message.startsWith(dataset)).join() }).toEqual({
          kind: 'stale',
          warned: expect.stringContaining('different values'),
        });
      }
    }),
    { runs: 80, afterwards: () => expect(outcomes.exact).toBeGreaterThan(outcomes.refused / 3) },
  );
});
