/** Manifests and their parts: a small whole of each, and what a test says otherwise in place of it. */

import { loadProject } from './bundled.ts';
import { storedPart } from '../../src/project/stored.ts';
import type { Verdict } from '../../src/stages.ts';
import type { Manifest, ManifestDataset } from '../../src/warehouse/snapshot-format.ts';

export const snapshotId = '20261120T030002Z-1f3a9c';

/** A partition with one record, wholly read. */
export function verdictOf(overrides: Partial<Verdict> = {}): Verdict {
  return {
    dataset: 'voters',
    partition: '1101',
    complete: true,
    proof: 'full listing',
    grade: 'overlap',
    listed: 1,
    received: 1,
    pages: 1,
    readings: 1,
    read_at: '2026-11-20T03:00:01.000Z',
    reason: null,
    content: null,
    ...overrides,
  };
}

/** A dataset of one row, or as many as `rows` says, all of them fetched by its run. */
export function datasetOf(overrides: Partial<ManifestDataset> = {}): ManifestDataset {
  const rows = overrides.rows ?? 1;
  return {
    ledger: { fetched: rows, published: rows, quarantined: 0, duplicates: 0 },
    carried_over: 0,
    rows,
    quarantined: 0,
    changes: { added: 0, removed: 0, changed: 0 },
    partitions: [],
    violations: {},
    sums: { grand_total: '1' },
    nulls: {},
    schema_fingerprint: '',
    definition: '',
    ...overrides,
  };
}

/** A first snapshot of the sample, without datasets and files; its run has the snapshot's name. */
export function manifestOf(overrides: Partial<Manifest> = {}): Manifest {
  const snapshot = overrides.snapshot ?? snapshotId;
  return {
    format: 2,
    project: storedPart(loadProject()),
    snapshot,
    run: snapshot,
    created_at: '2026-11-20T03:00:02.000Z',
    tool: { name: 'rekap', version: '0.0.0' },
    source: 'sample',
    previous: null,
    datasets: {},
    definition: '',
    warnings: [],
    violation_ages: {},
    landing: [],
    files: [],
    ...overrides,
  };
}
