/** Rows, violations and partitions that a sync doesn't read stay as the run that read them found them, and lead to its responses. */

import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderSummary } from '../../src/cli/print/sync-summary.ts';
import { manifestHashLine } from '../../src/publish/manifest.ts';
import type { Evidence } from '../../src/snapshots/find-evidence.ts';
import { feedPipeline, hourlyRows, startFeed } from '../support/feed.ts';
import { runHere } from '../support/run-here.ts';
import { runReplay } from '../support/run-replay.ts';
import { runSync } from '../support/served-source.ts';
import { syncOptions } from '../support/sync-settings.ts';

/** Starts a feed, and syncs its whole list, and then a window with a new row. */
async function startAfterWindow() {
  const feed = await startFeed(hourlyRows(100));
  const first = await feed.sync();
  await feed.nextNight();
  feed.state.rows.push({ id: 101, value: 'new', updated_at: feed.ago(1) });
  await feed.sync();
  return { feed, first };
}

describe('a row', () => {
  it('has its evidence in the landing of the run that read it, which retention keeps', async () => {
    const feed = await startFeed(hourlyRows(100));
    const { reading } = await feed.sync({ keep: 2 });
    for (let night = 1; night <= 5; night += 1) {
      await feed.nextNight();
      feed.state.rows.push({ id: 200 + night, value: `new ${night}`, updated_at: feed.ago(1) });
      await feed.sync({ keep: 2 });
    }
    const runs = await readdir(join(feed.warehouse, 'landing'));
    expect(runs).toHaveLength(6);
    const recordOf = async (value: string) => {
      const { stdout } = await runHere(['evidence', value, '--json', '--warehouse', feed.warehouse]);
      const [{ records }] = JSON.parse(stdout) as [Evidence];
      return records[0]!;
    };
    expect(await recordOf('42')).toMatchObject({ run: reading!.runs[0], account: 'list' });
    expect(JSON.parse((await recordOf('202')).record)).toMatchObject({ id: 202 });
  });

  it('is in the tables that a replay of the run builds again', async () => {
    const { feed } = await startAfterWindow();
    const { outcome, snapshot, equals } = await runReplay(feed.warehouse);
    expect({ outcome, equals }).toEqual({ outcome: 'reproduced', equals: snapshot });
  });

  it('is refused by a replay if its snapshot is gone, damaged, or built by other rules', async () => {
    const { feed, first } = await startAfterWindow();
    const folder = join(feed.warehouse, 'snapshots', first.reading!.runs[0]!);
    const file = join(folder, 'parquet', 'rows', 'rows.parquet');
    await rename(file, `${file}.kept`);
    await expect(runReplay(feed.warehouse)).rejects.toThrow('damaged');
    await rename(`${file}.kept`, file);
    const manifest = await readFile(join(folder, 'manifest.json'), 'utf8');
    const other = manifest.replace(first.definition, '0'.repeat(64));
    await writeFile(join(folder, 'manifest.json'), other);
    await writeFile(join(folder, 'manifest.json.sha256'), manifestHashLine(Buffer.from(other)));
    await expect(runReplay(feed.warehouse)).rejects.toThrow('another release');
    await rm(folder, { recursive: true });
    await expect(runReplay(feed.warehouse)).rejects.toThrow('no longer exists');
  });

  it('does not change what a replay of the whole list builds, even if the snapshot before is gone', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    await feed.clock.sleep(8 * 86_400_000);
    feed.state.rows.push({ id: 101, value: 'late', updated_at: '2026-10-31T00:00:00Z' });
    const second = await feed.sync({ keep: 1 });
    expect(second.reading).toMatchObject({ scope: 'whole', missed: { added: 1 } });
    await feed.nextNight();
    feed.state.rows.push({ id: 102, value: 'new', updated_at: feed.ago(1) });
    await feed.sync({ keep: 1 });
    const { outcome } = await runReplay(feed.warehouse, { run: second.reading!.runs[0]! });
    expect(outcome).toBe('reproduced');
  });

  it('stays after a rollback: the window then begins at the rows of that snapshot', async () => {
    const { feed, first } = await startAfterWindow();
    await runHere(['snapshots', 'rollback', first.reading!.runs[0]!, '--warehouse', feed.warehouse]);
    expect(await feed.published()).toHaveLength(100);
    await feed.nextNight();
    expect((await feed.sync({ unpin: true })).reading).toMatchObject({ scope: 'window', from: first.reading!.runs[0] });
    expect(await feed.published()).toHaveLength(101);
  });
});

describe('a violation', () => {
  const check = {
    name: 'too_low',
    sql: `SELECT 'rows' AS dataset, id, 'error' AS severity, 'value' AS column_name, '' AS expected, value AS actual, 'low' AS message FROM rows WHERE id < 3`,
    comment: '',
    columns: {},
  };

  it('goes with its check, although no window has its row', async () => {
    const feed = await startFeed(hourlyRows(50));
    const first = await feed.sync({}, { ...feed.project, checks: [check] });
    expect(first.violations).toEqual({ too_low: 2 });
    await feed.nextNight();
    feed.state.rows.push({ id: 101, value: 'new', updated_at: feed.ago(1) });
    const second = await feed.sync();
    expect(second.reading).toMatchObject({ scope: 'window' });
    expect(second.violations).toEqual({});
  });

  it('goes when its record is right, even if no value changes', async () => {
    const columns = { ...feedPipeline.columns, people: { kind: 'count', field: 'people', nullable: true } } as const;
    const rows = hourlyRows(50).map((row) => ({ ...row, people: row.id === 50 ? 'many' : 1 }));
    const feed = await startFeed(rows, { pipeline: { ...feedPipeline, columns } });
    expect(await feed.sync()).toMatchObject({ violations: { malformed: 1 } });
    await feed.nextNight();
    feed.state.rows[49] = { ...rows[49]!, people: null } as never;
    const second = await feed.sync();
    expect(second).toMatchObject({ outcome: 'published', reading: { scope: 'window' } });
    expect(second.violations).toEqual({});
  });
});

it('a record in quarantine is carried over once', async () => {
  const wrong = { id: 'x', value: 'wrong', updated_at: '2026-11-01T01:20:00Z' } as never;
  const feed = await startFeed([...hourlyRows(50), wrong]);
  await feed.sync();
  for (let night = 1; night <= 2; night += 1) {
    await feed.nextNight();
    feed.state.rows.push({ id: 100 + night, value: 'new', updated_at: feed.ago(1) });
    expect(await feed.sync()).toMatchObject({ reading: { scope: 'window' }, quarantined: 1 });
  }
});

it('a dataset that no sync has read yet is not called whole, and is read by the next one', async () => {
  const other = { table: 'others', path: '/others', columns: { id: feedPipeline.columns.id }, key: ['id'] } as const;
  const feed = await startFeed(hourlyRows(50), { others: [{ ...other, paging: { by: 'none' } }] });
  const first = await feed.sync({ datasets: ['others'] });
  expect(first).toMatchObject({ rows: 0, reading: { scope: 'nothing', whole_at: null, runs: [] } });
  await feed.nextNight();
  expect(await feed.sync()).toMatchObject({ rows: 50, reading: { scope: 'whole', from: null } });
});

describe('partitions', () => {
  const months = ['2026-05', '2026-06', '2026-07', '2026-08', '2026-09', '2026-10', '2026-11'];
  const byMonth = {
    table: 'rows',
    path: '/rows',
    paging: { by: 'offset', limit: 'limit', offset: 'offset' },
    partition: {
      parameter: 'month',
      column: 'month',
      values: { from: 'list', values: months },
      closed: { after: 'P30D', column: 'month' },
    },
    columns: { month: { kind: 'text', field: 'month' }, id: { kind: 'integer', field: 'id' } },
    key: ['month', 'id'],
  } as const;

  it('are carried over when they are closed, and in turn read again', async () => {
    const feed = await startFeed([], { pipeline: byMonth, ofMonth: (month) => [{ month, id: 1 }] });
    const monthsOf = (asked: readonly string[]) =>
      [...new Set(asked.flatMap((search) => /month=([^&]*)/.exec(search)?.[1] ?? []))].toSorted();
    expect(monthsOf((await feed.sync()).asked)).toEqual(months);
    const read: string[][] = [];
    for (let night = 1; night <= 3; night += 1) {
      await feed.nextNight();
      const { asked, rows } = await feed.sync();
      expect(rows).toBe(7);
      read.push(monthsOf(asked));
    }
    // October ended on the first night of the test, so it and November are open.
    for (const requested of read) expect(requested).toEqual(expect.arrayContaining(['2026-10', '2026-11']));
    expect(read.map(({ length }) => length)).toEqual([5, 5, 5]);
    // Nights without changes turn too.
    expect(new Set(read.flat())).toEqual(new Set(months));
    expect((await feed.sync()).reading).toMatchObject({
      scope: 'partitions',
      runs: [expect.any(String), expect.any(String)],
    });
  });

  it('that are closed are all read again, also by a sync every second night', async () => {
    const eight = ['2026-04', ...months];
    const { values, ...partition } = byMonth.partition;
    const pipeline = { ...byMonth, partition: { ...partition, values: { ...values, values: eight } } };
    const feed = await startFeed([], { pipeline, ofMonth: (month) => [{ month, id: 1 }] });
    await feed.sync();
    const read = new Set<string>();
    for (let sync = 1; sync <= 6; sync += 1) {
      await feed.nextNight();
      await feed.nextNight();
      for (const search of (await feed.sync()).asked) read.add(/month=([^&]*)/.exec(search)![1]!);
    }
    expect([...read].toSorted()).toEqual(eight);
  });

  it('are not counted among the pages of a sync that carries them over', async () => {
    const feed = await startFeed([], { pipeline: byMonth, ofMonth: (month) => [{ month, id: 1 }] });
    await feed.sync();
    await feed.nextNight();
    const result = await runSync(syncOptions(feed.warehouse, feed.server.url), { clock: feed.clock }, feed.project);
    expect(result.outcome).toBe('unchanged');
    const checks = result.figures.requests - 5;
    expect(renderSummary(result, feed.project)).toContain(`(${checks} completeness checks`);
  });

  it('of which a sync read one are read by the next sync, and the list is then whole', async () => {
    const { closed: _, ...partition } = byMonth.partition;
    const ofMonth = (month: string) => (month === '2026-05' ? [{ month, id: 1 }] : []);
    const feed = await startFeed([], { pipeline: { ...byMonth, partition }, ofMonth });
    const first = await feed.sync({ partitions: ['2026-05'] });
    expect(first.reading).toMatchObject({ scope: 'partitions', whole_at: null });
    await feed.nextNight();
    expect(await feed.sync()).toMatchObject({ outcome: 'published', reading: { scope: 'whole' } });
  });
});
