/** A client reads at its own pace, unless it is slower than the minimum rate. */

import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { leastTableRate, slowTableTimeout } from '../../src/serve/limits.ts';
import { pacedStream } from '../../src/serve/paced-stream.ts';

const piece = 'x'.repeat(leastTableRate);

/** An endless stream with its clock, errors and end. */
function make() {
  let now = 0;
  const sleeps = new Set<{ readonly until: number; readonly wake: () => void }>();
  const clock = {
    monotonic: () => now,
    sleep: (milliseconds: number, signal?: AbortSignal) =>
      new Promise<void>((wake, fail) => {
        const sleeping = { until: now + milliseconds, wake };
        sleeps.add(sleeping);
        signal?.addEventListener('abort', () => {
          sleeps.delete(sleeping);
          fail(signal.reason as Error);
        });
      }),
  };
  const ended: unknown[] = [];
  const stream = pacedStream(
    clock,
    async (write) => {
      for (;;) await write(piece);
    },
    () => ended.push('ended'),
  );
  const errors: Error[] = [];
  stream.on('error', (error) => errors.push(error));
  return {
    stream,
    errors,
    ended,
    sleeps,
    /** Lets the client read some bytes, then lets some seconds pass. */
    async pass(seconds: number, bytes: number) {
      for (let left = bytes; left > 0; left -= leastTableRate) {
        stream.read(Math.min(left, leastTableRate));
        await turn();
      }
      now += seconds * 1000;
      for (const { until, wake } of sleeps) if (until <= now) wake();
      await turn();
    },
  };
}

it('continues for a client at the minimum rate, also after a short pause', async () => {
  const { pass, errors, ended } = make();
  for (let second = 0; second < 300; second += 1) await pass(1, leastTableRate);
  await pass(slowTableTimeout / 2000, 0);
  for (let second = 0; second < 300; second += 1) await pass(1, leastTableRate);
  expect({ errors, ended }).toEqual({ errors: [], ended: [] });
});

it.each([
  ['reads nothing', 0, 0],
  ['reads at half of the minimum rate', leastTableRate / 2, 0],
  ['stops after ten megabytes', 0, 10_000_000],
])('disconnects a client that %s', async (_what, bytes, before) => {
  const { pass, errors, ended, stream, sleeps } = make();
  await pass(0, before);
  for (let second = 0; second < 60; second += 1) await pass(1, bytes);
  expect(errors).toHaveLength(1);
  expect(ended).toEqual(['ended']);
  expect({ destroyed: stream.destroyed, waits: sleeps.size }).toEqual({ destroyed: true, waits: 0 });
});

it('stops when the client disconnects', async () => {
  const { stream, ended, errors, pass } = make();
  await pass(1, leastTableRate);
  stream.destroy();
  await once(stream, 'close');
  await turn();
  expect({ ended, errors }).toEqual({ ended: ['ended'], errors: [] });
});
