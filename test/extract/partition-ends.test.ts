/** Whatever a partition is answered with: its reading ends, after a bounded number of readings and within a bounded time. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { collect } from '../support/run-extract.ts';
import { manualClock } from '../support/manual-clock.ts';
import { holds } from '../support/properties.ts';
import { faultless, simulateSource } from '../support/simulated-source.ts';

const records = [1, 2, 3].map((place) => ({ partition: 1101, regency: `R${place}`, people: place }));
const others = records.map((record) => ({ ...record, partition: 1102 }));

const never = () => 0.5;
const sources = {
  whole: simulateSource(records, faultless, never),
  nothing: simulateSource([], faultless, never),
  fewer: simulateSource(records.slice(1), faultless, never),
  other: simulateSource([...records, { partition: 1101, regency: 'R4', people: 4 }], faultless, never),
  foreign: simulateSource(others, { ...faultless, ignoresPartition: true }, never),
};
type Answer = keyof typeof sources;

/** Four readings and one more after a second visit; a reading asks four times at most. */
const mostRequests = 5 * 4;
/** Pauses of 0.5, 1 and 2 s between readings, and 2 s before an empty partition is read again. */
const longestWait = 3500 + 2000;

/** Reads one partition without a listing; each request of it gets the next answer, the last one for ever. */
async function readPartition(answers: readonly Answer[]): Promise<{ requests: number; waited: number }> {
  const clock = manualClock(new Date(0));
  let requests = 0;
  const client = {
    ...sources.whole,
    fetchPage: (...asked: Parameters<typeof sources.whole.fetchPage>) => {
      const answer = answers[Math.min(requests, answers.length - 1)]!;
      // A reading without end would hang the test.
      if (requests > 10 * mostRequests) throw new RangeError('the partition is read without end');
      requests += 1;
      return sources[answer].fetchPage(...asked);
    },
  };
  await collect({ client, clock, report: () => undefined, wanted: [1101] }).catch((error: unknown) => {
    if (!(error instanceof RekapError)) throw error;
  });
  return { requests, waited: clock.sleeps.reduce((sum, pause) => sum + pause, 0) };
}

describe('a partition', () => {
  // An empty reading takes two requests, and a foreign one a single request.
  const answers = fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant<Answer[]>(['foreign']) },
        { weight: 2, arbitrary: fc.constant<Answer[]>(['nothing', 'nothing']) },
        { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(sources) as Answer[])).map((one) => [one]) },
      ),
      { minLength: 1, maxLength: 12 },
    )
    .map((readings) => readings.flat());
  holds(
    'is read to an end, whatever it is answered with',
    fc.asyncProperty(answers, async (given) => {
      const { requests, waited } = await readPartition(given);
      expect(requests).toBeLessThanOrEqual(mostRequests);
      expect(waited).toBeLessThanOrEqual(longestWait);
    }),
    { runs: 300 },
  );

  it('that ignores the filter three times, is empty once and ignores it again is read to an end', async () => {
    const given = ['foreign', 'foreign', 'foreign', 'nothing', 'nothing', 'foreign'] as const;
    expect((await readPartition(given)).waited).toBeLessThanOrEqual(longestWait);
  });
});
