/** What a sync gives back: a plain one that published, and what a test says otherwise in place of it. */

import type { Manifest } from '../../src/warehouse/snapshot-format.ts';
import type { SyncFigures, SyncResult } from '../../src/publish/run.ts';

/** One request that went well. */
export function figuresOf(overrides: Partial<SyncFigures> = {}): SyncFigures {
  return {
    requests: 1,
    retries: 0,
    from_landing: 0,
    bytes: 0,
    throttled: 0,
    lowest_concurrency: 4,
    milliseconds: 1,
    ...overrides,
  };
}

export function resultOf(manifest: Manifest, overrides: Partial<SyncResult> = {}): SyncResult {
  return {
    kind: 'sync',
    outcome: 'published',
    run: manifest.snapshot,
    snapshot: manifest.snapshot,
    current: manifest.snapshot,
    pinned: null,
    warehouse: 'w',
    landing: 'l',
    equals: null,
    manifest,
    broken_checks: [],
    figures: figuresOf(),
    warnings: [],
    pruned: [],
    ...overrides,
  };
}
