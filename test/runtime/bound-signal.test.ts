/** A bound signal is aborted with the outer one, after its time limit, or when its work ends. */

import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { boundSignal } from '../../src/runtime/bound-signal.ts';

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
