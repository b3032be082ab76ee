/** A feed that filters by the time of a change, over HTTP, and the project that reads it. */

import { onTestFinished } from 'vitest';
import { loadProject } from '../../src/project/load-project.ts';
import type { DeclaredPipeline } from '../../src/project/declaration.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';
import { answerJson, startFaultServer } from './fault-server.ts';
import { readRows } from './read-table.ts';
import { runSync } from './served-source.ts';
import { syncOptions } from './sync-settings.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface FeedRow {
  readonly id: number;
  readonly value: string;
  /** ISO 8601. */
  readonly updated_at: string;
}

const hour = 3_600_000;
const day = 24 * hour;

export const feedPipeline = {
  table: 'rows',
  path: '/rows',
  paging: { by: 'offset', limit: 'limit', offset: 'offset' },
  columns: {
    id: { kind: 'integer', field: 'id' },
    value: { kind: 'text', field: 'value' },
    updated_at: { kind: 'timestamp', field: 'updated_at' },
  },
  key: ['id'],
  incremental: { cursor: 'updated_at', parameter: 'updated_since', lookback: 'PT1H', wholeEvery: 'P7D' },
} as const satisfies DeclaredPipeline;

export interface FeedSettings {
  readonly pipeline?: DeclaredPipeline;
  readonly others?: readonly DeclaredPipeline[];
  sinceOf?(text: string): number;
  /** Windows that begin earlier get status 400. */
  readonly refusesBefore?: string;
  /** Records of a list that has a filter by month. */
  ofMonth?(month: string): readonly unknown[];
}

/** Starts a feed with rows, which tests change. `now` is the clock of rekap; `sinceOf` reads the parameter. */
export async function startFeed(
  rows: FeedRow[],
  {
    pipeline = feedPipeline,
    sinceOf = (text) => Date.parse(text),
    others = [],
    ofMonth = () => [],
    refusesBefore = '',
  }: FeedSettings = {},
) {
  const state = { rows, refuses: '' };
  const requests: URL[] = [];
  const server = await startFaultServer(({ url = '' }, response) => {
    const asked = new URL(url, 'http://feed.test');
    requests.push(asked);
    if (state.refuses === asked.pathname) return answerJson(response, { error: 'out of order' }, 400);
    if (asked.pathname !== '/rows') return answerJson(response, [{ id: 1 }]);
    const month = asked.searchParams.get('month');
    if (month !== null) {
      const offset = Number(asked.searchParams.get('offset'));
      return answerJson(response, ofMonth(month).slice(offset, offset + Number(asked.searchParams.get('limit'))));
    }
    const since = asked.searchParams.get('updated_since');
    if (since !== null && since < refusesBefore) return answerJson(response, { error: 'too long ago' }, 400);
    const after = asked.searchParams.get('after');
    const byTime = pipeline.paging?.by !== 'after';
    const found = state.rows
      .filter((row) => since === null || Date.parse(row.updated_at) >= sinceOf(since))
      .filter(({ id }) => after === null || id > Number(after))
      .toSorted((a, b) => (byTime ? a.updated_at.localeCompare(b.updated_at) : 0) || a.id - b.id);
    const offset = Number(asked.searchParams.get('offset') ?? 0);
    answerJson(response, found.slice(offset, offset + Number(asked.searchParams.get('limit') ?? found.length)));
  });
  onTestFinished(() => server.close());
  const clock = manualClock(new Date('2026-11-01T02:00:00Z'));
  const warehouse = await temporaryFolder();
  const project = { ...(await loadProject({ name: 'feed', pipelines: [pipeline, ...others] })), reportModule: null };
  return {
    state,
    server,
    requests,
    clock,
    warehouse,
    project,
    /** Syncs, and returns what the manifest says of the dataset, the requests, and the warnings. */
    async sync(settings: Parameters<typeof syncOptions>[2] = {}, declared: Parameters<typeof runSync>[2] = project) {
      requests.length = 0;
      const options = syncOptions(warehouse, server.url, { acceptChanges: true, ...settings });
      const { manifest, outcome, warnings } = await runSync(options, { clock }, declared);
      return {
        ...manifest.datasets['rows']!,
        outcome,
        warnings,
        asked: requests.filter(({ pathname }) => pathname === '/rows').map(({ search }) => search),
      };
    },
    async published(): Promise<FeedRow[]> {
      return readRows(
        warehouse,
        `SELECT id::INTEGER AS id, value, strftime(updated_at, '%Y-%m-%dT%H:%M:%SZ') AS updated_at FROM rows ORDER BY id`,
      );
    },
    async nextNight(): Promise<void> {
      await clock.sleep(day);
    },
    /** Time before the present one. */
    ago: (hours: number): string => new Date(clock.now().getTime() - hours * hour).toISOString().replace('.000', ''),
  };
}

/** Rows that changed hourly until the first night. */
export function hourlyRows(count: number, end = Date.parse('2026-11-01T01:30:00Z')): FeedRow[] {
  return Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    value: `v${index + 1}`,
    updated_at: new Date(end - (count - index - 1) * hour).toISOString().replace('.000', ''),
  }));
}
