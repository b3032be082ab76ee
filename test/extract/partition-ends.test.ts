/** Whatever the responses, reading a partition ends after a bounded number of requests and a bounded time. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RekapError } from '../../src/errors.ts';
import { collect } from '../support/run-extract.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { holds } from '../support/properties.ts';
import { faultless, simulateSource } from '../support/simulated-source.ts';

const records = [1, 2, 3].map((place) => ({ partition: 1101, regency: `R${place}`, people: place }));
const others = records.map((record) => ({ ...record, partition: 1102 }));

const half = () => 0.5;
const sources = {
  whole: simulateSource(records, faultless, half),
  nothing: simulateSource([], faultless, half),
  fewer: simulateSource(records.slice(1), faultless, half),
  other: simulateSource([...records, { partition: 1101, regency: 'R4', people: 4 }], faultless, half),
  foreign: simulateSource(others, { ...faultless, ignoresPartition: true }, half),
};
type Response = keyof typeof sources;

/** Four passes and a fifth one at the end, each of at most four requests. */
const mostRequests = 5 * 4;
/** Pauses of 0.5, 1 and 2 s between passes, and 2 s before an empty partition is read again. */
const longestWait = 3500 + 2000;

/** Reads one partition without a listing. Each request gets the next response, and further ones get the last. */
async function readPartition(responses: readonly Response[]): Promise<{ requests: number; waited: number }> {
  const clock = manualClock(new Date(0));
  let requests = 0;
  const client = {
    ...sources.whole,
    fetchPage: (...request: Parameters<typeof sources.whole.fetchPage>) => {
      const response = responses[Math.min(requests, responses.length - 1)]!;
      // An endless loop would hang the test.
      if (requests > 10 * mostRequests) throw new RangeError('the partition is read without end');
      requests += 1;
      return sources[response].fetchPage(...request);
    },
  };
  await collect({ client, clock, report: () => undefined, wanted: [1101] }).catch((error: unknown) => {
    if (!(error instanceof RekapError)) throw error;
  });
  return { requests, waited: clock.sleeps.reduce((sum, pause) => sum + pause, 0) };
}

describe('a partition', () => {
  // An empty pass takes two requests, and a foreign one a single request.
  const anyResponses = fc
    .array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant<Response[]>(['foreign']) },
        { weight: 2, arbitrary: fc.constant<Response[]>(['nothing', 'nothing']) },
        { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(sources) as Response[])).map((one) => [one]) },
      ),
      { minLength: 1, maxLength: 12 },
    )
    .map((passes) => passes.flat());
  holds(
    'is read to an end, whatever the responses',
    fc.asyncProperty(anyResponses, async (responses) => {
      const { requests, waited } = await readPartition(responses);
      expect(requests).toBeLessThanOrEqual(mostRequests);
      expect(waited).toBeLessThanOrEqual(longestWait);
    }),
    { runs: 100 },
  );

  it('that ignores the filter three times, is empty once and ignores it again is read to an end', async () => {
    const responses = ['foreign', 'foreign', 'foreign', 'nothing', 'nothing', 'foreign'] as const;
    expect((await readPartition(responses)).waited).toBeLessThanOrEqual(longestWait);
  });
});
