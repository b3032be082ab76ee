/** The context of a run: clock, randomness and events. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Verdict } from '../stages.ts';

/** The time of a run. Replace it in tests. */
export interface Clock {
  now(): Date;
  monotonic(): number;
  /** Waits. Rejects with the reason of the signal if it is aborted first. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Returns a number from 0 to 1 (exclusive), for jitter between retries. */
export type Random = () => number;

/** Steps of a run, in order. A process that dies at any step leaves the previous or the new snapshot intact. */
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

/** What happens during a run. */
export type RunEvent =
  | { readonly kind: 'warning'; readonly message: string }
  | { readonly kind: 'begin'; readonly run: string }
  | { readonly kind: 'request'; readonly dataset: string; readonly retried: boolean }
  /** A request waits so long for a retry that a person should know. */
  | { readonly kind: 'wait'; readonly dataset: string; readonly milliseconds: number; readonly why: string }
  | { readonly kind: 'partitions'; readonly dataset: string; readonly total: number }
  | { readonly kind: 'partition'; readonly dataset: string; readonly records: number; readonly verdict: Verdict }
  | { readonly kind: 'step'; readonly step: RunStep };

/** Receives the events of a run. It must not throw. */
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
