/** A log of runs with a line of every kind, as a warehouse has it after a hard week. */

import { writeFile } from 'node:fs/promises';
import type { RunLine } from '../../src/warehouse/runs-log.ts';
import { pointCurrent } from '../../src/publish/switch-current.ts';
import { warehousePaths } from '../../src/warehouse/snapshot-format.ts';
import { runHere } from './run-here.ts';
import { nights, smallWarehouse } from './small-snapshots.ts';

/** A sync that took a minute and published; `at` is such as 21T03:00. */
export function runAt(at: string, more: Partial<RunLine> = {}): RunLine {
  const begun = new Date(`2026-11-${at}:00Z`);
  return {
    run: `202611${at.replace(':', '')}00Z-aaaaaa`,
    kind: 'sync',
    started_at: begun.toISOString(),
    finished_at: new Date(begun.getTime() + 60_000).toISOString(),
    outcome: 'published',
    exit_code: 0,
    source: 'test',
    snapshot: null,
    reason: '',
    requests: 178,
    retries: 2,
    ...more,
  };
}

const transfer = { run: null, requests: 0, retries: 0, bucket: 's3://figures/dpr', bytes: 0 } as const;

/** Oldest first. */
export const allRuns: readonly RunLine[] = [
  runAt('21T03:00', {
    snapshot: '20261121T030000Z-000001',
    bytes: 4096,
    statuses: { 200: 176, 503: 2 },
    steps: { fetch: 41_000, build_tables: 19_000 },
    rows: { voters: 1514, voting_rights_users: 514 },
    quarantined: { voters: 1, voting_rights_users: 0 },
    violation_ages: { error: { new: 1, resolved: 2, standing: 3 }, warning: { new: 0, resolved: 0, standing: 4 } },
    warnings: ['The first warning.', 'The second.'],
  }),
  runAt('21T03:02', { ...transfer, kind: 'push', outcome: 'pushed', snapshot: '20261121T030000Z-000001' }),
  runAt('21T04:00', { kind: 'replay', outcome: 'reproduced', requests: 0, retries: 0 }),
  runAt('21T05:00', { outcome: 'dry run' }),
  runAt('21T06:00', { ...transfer, kind: 'pull', outcome: 'pulled', snapshot: '20261121T030000Z-000001' }),
  runAt('22T03:00', { outcome: 'unchanged', rows: { voters: 1514 } }),
  runAt('23T03:00', {
    outcome: 'refused',
    exit_code: 3,
    reason: 'The quality gate refused to publish:\n  - a reason\n  - another\n  - a third',
  }),
  runAt('23T03:05', { run: null, outcome: 'refused', exit_code: 5, reason: 'Another sync holds the warehouse.' }),
  runAt('23T04:00', { outcome: 'failed', exit_code: 4, reason: 'The source cannot be reached.' }),
  runAt('24T03:00', { outcome: 'interrupted', exit_code: 137, reason: 'The process was killed.' }),
  runAt('24T04:00', { ...transfer, kind: 'push', outcome: 'failed', exit_code: 8, reason: 'The bucket is gone.' }),
  runAt('24T05:00', { ...transfer, kind: 'push', outcome: 'interrupted', exit_code: 143, reason: 'Terminated.' }),
];

/** Writes these lines, between what is no line of a run, and what a killed process left of one. */
async function writeRuns(warehouse: string, lines: readonly RunLine[]): Promise<void> {
  const texts = lines.map((line) => JSON.stringify(line));
  await writeFile(warehousePaths(warehouse).runs, ['not JSON', '{"kind":"sync"}', ...texts, '{"run":"2026'].join('\n'));
}

/** A warehouse that was rolled back, with these runs; gives what a command prints there. */
export async function rolledBackWarehouse(lines: readonly RunLine[] = allRuns) {
  const warehouse = await smallWarehouse(nights.slice(0, 3));
  await pointCurrent(warehouse, nights[1]);
  await writeRuns(warehouse, lines);
  const run = (...words: string[]) => runHere([...words, '--warehouse', warehouse]);
  const json = async (...words: string[]) => {
    const { code, stdout } = await run(...words, '--json');
    return { code, value: JSON.parse(stdout) as unknown };
  };
  return { warehouse, run, json };
}
