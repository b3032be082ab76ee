/** A landing as a sync would leave it, for tests that begin with one. */

import { loadProject } from './bundled.ts';
import { storedPart } from '../../src/project/stored.ts';
import { type RunFile } from '../../src/land/formats.ts';

/** The description of a run over the voters, from before its first request. */
export function describedRun(rest: Partial<RunFile> = {}): RunFile {
  return {
    format: 3,
    run: '20261120T030002Z-1f3a9c',
    started_at: '2026-11-20T03:00:02.000Z',
    tool: { name: 'rekap', version: '0.0.0' },
    source: 'http://source.test',
    base_url: 'http://source.test',
    previous: null,
    previous_history: null,
    strict: false,
    accept_changes: false,
    accept_source: false,
    dry_run: false,
    datasets: ['voters'],
    partitions: null,
    page_size: 1000,
    project: storedPart(loadProject()),
    ...rest,
  };
}
