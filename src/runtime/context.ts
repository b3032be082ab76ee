/** The context of a run: time, chance, and whoever watches it. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../stages.ts';

/** Time, handed in so that tests own it. */
export interface Clock {
  now(): Date;
  /** Milliseconds from a clock that never goes back. */
  monotonic(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A number from 0 up to but not including 1. */
export type Random = () => number;

/** The steps of a run in their order. A process that dies at any of them leaves the warehouse as it was, or as it is to be. */
export const runSteps = [
  'clear leftovers',
  'begin',
  'fetch',
  'build tables',
  'hash files',
  'pass the gate',
  'verify',
  'write the report',
  'write the manifest',
  'flush to the disk',
  'name the snapshot',
  'switch current',
  'remove old snapshots',
  'record the run',
] as const;

export type RunStep = (typeof runSteps)[number];

/** Something a person watching the run may want to know. */
export type RunEvent =
  | { readonly kind: 'warning'; readonly message: string }
  /** The run has its id. */
  | { readonly kind: 'begin'; readonly run: string }
  | { readonly kind: 'request'; readonly dataset: string; readonly retried: boolean }
  /** A request waits before it is tried again, longer than a person would without being told. */
  | { readonly kind: 'wait'; readonly dataset: string; readonly milliseconds: number; readonly why: string }
  | { readonly kind: 'partitions'; readonly dataset: string; readonly total: number }
  | { readonly kind: 'partition begins'; readonly dataset: string; readonly partition: string | null }
  | { readonly kind: 'partition'; readonly dataset: string; readonly records: number; readonly verdict: Verdict }
  | { readonly kind: 'step'; readonly step: RunStep };

export type Report = (event: RunEvent) => void;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonic: () => performance.now(),
  async sleep(milliseconds, signal) {
    try {
      await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
