/** Each screen is printed as its file in screens/ says, at 80 and 120 columns. `npx vitest run -u` writes the files. */

import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { renderEvidence } from '../../src/cli/print/evidence-text.ts';
import { renderList } from '../../src/cli/print/list-snapshots.ts';
import { renderOverview } from '../../src/cli/print/overview.ts';
import { writeTable } from '../../src/cli/print/result-table.ts';
import { renderSnapshot } from '../../src/cli/print/show-snapshot.ts';
import { renderSummary } from '../../src/cli/print/sync-summary.ts';
import { widthOf } from '../../src/cli/print/wrap-text.ts';
import type { SyncResult } from '../../src/publish/run.ts';
import type { Evidence } from '../../src/snapshots/find-evidence.ts';
import { parquetPath } from '../../src/warehouse/snapshot-format.ts';
import { textOf, textResult } from '../snapshots/query/support.ts';
import { datasetOf, manifestOf, snapshotId, verdictOf } from '../support/manifests.ts';
import { figuresOf, resultOf } from '../support/sync-results.ts';
import { project } from '../support/sync-settings.ts';

const earlier = '20261119T030002Z-0d2b41';
const hostile = '\u001b]0;title\u0007\u001b[31mred';

const files = ['voters', 'changes'].map((table) => ({
  path: parquetPath(table),
  bytes: 12_345,
  rows: 1,
  sha256: `0123456789abcdef${'f'.repeat(48)}`,
}));

function manifestWith(carried = 0, previous: string | null = null, run = snapshotId) {
  const others = { run: carried === 0 ? run : earlier };
  const partitions = [
    verdictOf({ partition: '1101', received: 2, pages: 3, ...others }),
    verdictOf({ partition: '1102', received: 5, pages: 1, proof: 'own end', run, read_at: '2026-11-20T03:02:41.000Z' }),
    verdictOf({ partition: '1103', received: 0, pages: 1, ...others }),
  ];
  const ledger = { fetched: 10, published: 7, quarantined: 1, duplicates: 2 };
  const changes = { changed: 1, added: 2, removed: 3 };
  const voters = datasetOf({ rows: 7 + carried, carried_over: carried, ledger, quarantined: 1, partitions });
  const never = datasetOf({ rows: 0, partitions: [] });
  const changed = previous === null ? voters : { ...voters, changes };
  const warnings = ['voters: the list is short.'];
  return manifestOf({ previous, datasets: { voters: changed, voting_rights_users: never }, files, warnings });
}

const example = { partition: '1101', place: 'ACEH BARAT', message: 'dpt_total is 3, but 1 + 1 = 2.', new: true };
const broken = { dataset: 'voters', check: 'dpt_sexes_sum', severity: 'error', count: 2, new: 1 } as const;
const replayed = { kind: 'replay', run: earlier, snapshot: snapshotId } as const;

const summaries: Readonly<Record<string, [differing: Partial<SyncResult>, carried?: number, previous?: string]>> = {
  published: [{ warnings: ['one', 'two'], figures: figuresOf({ requests: 9, retries: 2 }) }],
  'published with failed checks': [{ broken_checks: [{ ...broken, examples: [example] }] }, 0, earlier],
  'published in part': [{ figures: figuresOf({ requests: 9, throttled: 3, lowest_concurrency: 2 }) }, 5, earlier],
  held: [{ outcome: 'held', pinned: earlier, current: earlier }, 0, earlier],
  unchanged: [{ outcome: 'unchanged', warnings: ['one'] }],
  'unchanged in part': [{ outcome: 'unchanged' }, 5],
  'dry run': [{ outcome: 'dry run', snapshot: null, broken_checks: [{ ...broken, new: 2, examples: [example] }] }],
  'dry run replayed': [{ outcome: 'dry run', kind: 'replay', snapshot: null }],
  reproduced: [{ ...replayed, outcome: 'reproduced', equals: snapshotId }],
  'reproduced without history': [{ ...replayed, outcome: 'reproduced', landing: null }],
  'published by a replay': [{ kind: 'replay', equals: earlier }],
};

const evidence: Evidence = {
  dataset: 'voters',
  place: { province: 'ACEH', regency: hostile },
  quarantined: null,
  figures: [],
  violations: [
    {
      dataset: 'voters',
      check_name: 'dpt_sexes_sum',
      column_name: 'dpt_total',
      raw_value: null,
      message: 'dpt_total is 3, but 1 + 1 = 2',
      severity: 'error',
      messages: { en: 'dpt_total is 3, but 1 + 1 = 2', id: 'dpt_total adalah 3, tetapi 1 + 1 = 2' },
      since: '2026-11-20 03:00:02',
      first_snapshot: snapshotId,
      figures: [
        { column: 'dpt_male', value: '1000', field: 'Laki' },
        { column: 'dpt_female', value: '1000', field: 'Perempuan' },
        { column: 'dpt_total', value: '3000', field: 'Total' },
      ],
      expected: '2000',
      actual: '3000',
    },
  ],
  records: [],
  history: [],
  notice: null,
};

const listed = {
  id: snapshotId,
  current: true,
  pinned: false,
  damaged: null,
  next: null,
  created_at: '2026-11-20T03:00:02.000Z',
  source: 'https://host.example/a/long/address/of/a/service',
  rows: { voters: 514, voting_rights_users: 514 },
};
const damaged = { ...listed, id: earlier, current: false, damaged: 'rekap.duckdb: is missing.', next: 'Roll back.' };

const wide = textResult(
  ['regency', 'message', hostile],
  [
    [
      ['PANGKAJENE DAN KEPULAUAN', 'long '.repeat(30), null],
      ['ACEH', 'short', hostile],
    ],
  ],
);

const screens: Readonly<Record<string, () => string | Promise<string>>> = {
  help: () => renderOverview(commands, process.stdout.columns),
  snapshot: () => renderSnapshot({ id: snapshotId, folder: 'w', manifest: manifestWith(0, earlier) }),
  snapshots: () => renderList([damaged, listed]),
  evidence: () => renderEvidence([evidence], 'en', widthOf(process.stdout)),
  'evidence in Indonesian': () => renderEvidence([evidence], 'id', widthOf(process.stdout)),
  'evidence without records': () => renderEvidence([], 'en', widthOf(process.stdout)),
  query: () => textOf(wide, writeTable),
  ...Object.fromEntries(
    Object.entries(summaries).map(([name, [differing, carried, previous]]) => [
      `sync ${name}`,
      () => renderSummary(resultOf(manifestWith(carried, previous ?? null, differing.run), differing), project),
    ]),
  ),
};

const { isTTY, columns } = process.stdout;
afterEach(() => void Object.assign(process.stdout, { isTTY, columns }));

describe.each([80, 120])('at %i columns', (width) => {
  it.each(Object.entries(screens))('%s', async (name, render) => {
    vi.stubEnv('NO_COLOR', '1');
    Object.assign(process.stdout, { isTTY: true, columns: width });
    const text = await render();
    // No text from outside controls the terminal.
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
    await expect(text).toMatchFileSnapshot(
      join(import.meta.dirname, 'screens', `${name.replaceAll(' ', '-')}.${width}.txt`),
    );
  });
});
