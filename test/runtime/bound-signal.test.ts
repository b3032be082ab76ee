/** A bound signal is aborted with the outer one, after its time limit, or when its work ends. Everything that was opened is closed. */

import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { boundSignal, closeAll, orClose } from '../../src/runtime/bound-signal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

it('is aborted with the reason of the outer signal, even if that is already aborted', () => {
  const outer = new AbortController();
  const before = boundSignal(outer.signal, 1000, () => 'late');
  outer.abort('outer');
  const after = boundSignal(outer.signal, 1000, () => 'late');
  expect([before, after].map(({ signal, isLate }) => [signal.reason, isLate()])).toEqual([
    ['outer', false],
    ['outer', false],
  ]);
});

it('is aborted after its time limit', () => {
  const bound = boundSignal(never, 1000, () => 'late');
  vi.advanceTimersByTime(999);
  expect(bound.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect([bound.signal.reason, bound.isLate()]).toEqual(['late', true]);
});

it('accepts a time limit that exceeds the range of a timer', () => {
  const bound = boundSignal(never, 2 ** 40, () => 'late');
  vi.advanceTimersByTime(1_000_000);
  expect(bound.signal.aborted).toBe(false);
});

it('is aborted when its work ends, and leaves no timer or listener', () => {
  const outer = new AbortController();
  const bound = boundSignal(outer.signal, 1000, () => 'late');
  bound.end();
  expect([bound.signal.aborted, bound.isLate()]).toEqual([true, false]);
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

/** Three things to close, of which the second fails, and a log. */
function three() {
  const closed: string[] = [];
  const closable = (name: string, failure?: Error) => ({
    async close() {
      closed.push(name);
      if (failure !== undefined) throw failure;
    },
  });
  return { closed, things: [closable('a'), closable('b', new Error('b is stuck')), null, closable('c')] };
}

describe('closing several things', () => {
  it('continues after an error, and reports it at the end', async () => {
    const { closed, things } = three();
    await expect(closeAll(things)).rejects.toThrow('b is stuck');
    expect(closed).toEqual(['a', 'b', 'c']);
  });

  it('happens if the next thing cannot be opened, and reports that error', async () => {
    const { closed, things } = three();
    const opening = orClose(things, () => Promise.reject(new Error('not there')));
    await expect(opening).rejects.toThrow('not there');
    expect(closed).toEqual(['a', 'b', 'c']);
    expect(await orClose(things, async () => 'opened')).toBe('opened');
    expect(closed).toHaveLength(3);
  });
});
