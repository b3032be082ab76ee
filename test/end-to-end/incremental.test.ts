/** An incremental sync reads what changed, joins it to the rows of the previous snapshot, and says how far its proof reaches. */

import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadProject } from '../../src/project/load-project.ts';
import { feedPipeline, hourlyRows, startFeed } from '../support/feed.ts';
import { readRows } from '../support/read-table.ts';

const isWindow = (asked: readonly string[]): boolean =>
  asked.every((search) => /[?&](updated_since|after)=/.test(search));

describe('a night with changes', () => {
  it('requests only the window, and publishes the whole list', async () => {
    const feed = await startFeed(hourlyRows(200));
    const first = await feed.sync();
    expect(first.reading).toMatchObject({ scope: 'whole', from: null });
    await feed.nextNight();
    feed.state.rows[10] = { id: 11, value: 'changed', updated_at: feed.ago(3) };
    feed.state.rows.push({ id: 500, value: 'new', updated_at: feed.ago(2) });
    const second = await feed.sync();
    expect(second.reading).toMatchObject({ scope: 'window', from: expect.any(String) });
    expect(second).toMatchObject({ rows: 201, changes: { added: 1, changed: 1, removed: 0 } });
    expect(second.partitions[0]).toMatchObject({ grade: 'incremental', window: { grade: 'overlap' } });
    expect(second.asked.every((search) => search.includes('updated_since=2026-11-01T00:29:59Z'))).toBe(true);
    expect(second.asked.length).toBeLessThanOrEqual(6);
    expect(await feed.published()).toEqual(feed.state.rows.toSorted((a, b) => a.id - b.id));
  });

  it('without changes publishes nothing, and keeps all rows', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    await feed.nextNight();
    const second = await feed.sync();
    expect(second).toMatchObject({ outcome: 'unchanged', rows: 50 });
    expect(isWindow(second.asked)).toBe(true);
    expect(await feed.published()).toHaveLength(50);
  });

  it('sees a value that changed without a new time, if it is in the lookback', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    await feed.nextNight();
    feed.state.rows[49] = { ...feed.state.rows[49]!, value: 'changed' };
    expect(await feed.sync()).toMatchObject({ outcome: 'published', changes: { changed: 1 } });
  });
});

describe('the whole list is read', () => {
  it('if a row of the lookback is gone, and the sync says so', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.pop();
    const second = await feed.sync();
    expect(second.reading).toMatchObject({ scope: 'whole' });
    expect(second).toMatchObject({ rows: 49, changes: { removed: 1 } });
    expect(second.warnings.join()).toContain('the record 50 is not in the window');
    // A longer window was tried before.
    expect(new Set(second.asked.map((search) => /updated_since=[^&]*/.exec(search)?.[0])).size).toBe(3);
  });

  it('if the parameter means another time zone, because the windows then begin too late', async () => {
    const feed = await startFeed(hourlyRows(50), { sinceOf: (text) => Date.parse(text) + 7 * 3_600_000 });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.push({ id: 51, value: 'late', updated_at: feed.ago(20) });
    expect((await feed.sync()).reading).toMatchObject({ scope: 'whole' });
    expect(await feed.published()).toHaveLength(51);
  });

  it('if the source returns nothing for a window, which never empties the table', async () => {
    const feed = await startFeed(hourlyRows(50), { sinceOf: () => Number.POSITIVE_INFINITY });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.push({ id: 51, value: 'new', updated_at: feed.ago(1) });
    expect((await feed.sync()).reading).toMatchObject({ scope: 'whole' });
    expect(await feed.published()).toHaveLength(51);
  });

  it('if it was last read as long ago as declared, and what the windows missed is counted and listed', async () => {
    const feed = await startFeed(hourlyRows(100));
    await feed.sync();
    for (let night = 1; night <= 7; night += 1) {
      await feed.nextNight();
      feed.state.rows.push({ id: 200 + night, value: 'new', updated_at: feed.ago(1) });
      if (night === 2) {
        feed.state.rows.splice(20, 1);
        feed.state.rows[30] = { ...feed.state.rows[30]!, value: 'without a new time' };
        feed.state.rows.push({ id: 300, value: 'late', updated_at: feed.ago(90) });
      }
      const { reading, warnings, rows } = await feed.sync();
      expect(reading!.scope).toBe(night === 7 ? 'whole' : 'window');
      if (night < 7) continue;
      expect(reading!.missed).toEqual({ added: 1, changed: 1, removed: 1 });
      expect(warnings.join()).toMatch(/longer "lookback".*shorter "wholeEvery"/);
      expect(rows).toBe(feed.state.rows.length);
    }
    expect(await feed.published()).toEqual(feed.state.rows.toSorted((a, b) => a.id - b.id));
    const missed = 'SELECT DISTINCT kind, id::INTEGER AS id FROM changes WHERE missed ORDER BY kind';
    expect(await readRows(feed.warehouse, missed)).toEqual([
      { kind: 'added', id: 300 },
      { kind: 'changed', id: 32 },
      { kind: 'removed', id: 21 },
    ]);
  });

  it('if the declaration or the source changed, the previous snapshot is damaged, or a proof of the whole is required', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    await feed.nextNight();
    expect((await feed.sync({ requireProof: 'overlap' })).reading).toMatchObject({ scope: 'whole' });
    expect(isWindow((await feed.sync({ requireProof: 'incremental' })).asked)).toBe(true);
    await appendFile(join(feed.warehouse, 'current', 'parquet', 'rows', 'rows.parquet'), 'x');
    const repaired = await feed.sync();
    expect(repaired.reading).toMatchObject({ scope: 'whole' });
    expect(repaired.warnings.join()).toContain('is damaged');
    const { columns } = feedPipeline;
    const changed = { ...feedPipeline, columns: { ...columns, value: { ...columns.value, nullable: true as const } } };
    const project = await loadProject({ name: 'feed', pipelines: [changed] });
    expect((await feed.sync({}, { ...project, reportModule: null })).reading).toMatchObject({ scope: 'whole' });
    expect((await feed.sync({ source: 'http://elsewhere.test', acceptSource: true })).reading).toMatchObject({
      scope: 'whole',
    });
  });
});

it('a sync of another dataset publishes nothing new, even if the whole list is due', async () => {
  const other = { table: 'others', path: '/others', columns: { id: feedPipeline.columns.id }, key: ['id'] } as const;
  const feed = await startFeed(hourlyRows(50), { others: [{ ...other, paging: { by: 'none' } }] });
  await feed.sync();
  await feed.clock.sleep(8 * 86_400_000);
  expect(await feed.sync({ datasets: ['others'] })).toMatchObject({ outcome: 'unchanged', rows: 50 });
});

describe('the state of a sync', () => {
  it('moves only with a snapshot: what a failed sync read is read again', async () => {
    const other = { table: 'others', path: '/others', columns: { id: feedPipeline.columns.id }, key: ['id'] } as const;
    const feed = await startFeed(hourlyRows(50), { others: [{ ...other, paging: { by: 'none' } }] });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.push({ id: 51, value: 'new', updated_at: feed.ago(20) });
    feed.state.refuses = '/others';
    await expect(feed.sync()).rejects.toThrow('out of order');
    feed.state.refuses = '';
    await feed.nextNight();
    await feed.sync();
    expect(await feed.published()).toHaveLength(51);
  });

  it('does not follow a time in the future, after which every window would be empty', async () => {
    const feed = await startFeed([...hourlyRows(50), { id: 99, value: 'wrong', updated_at: '2099-01-01T00:00:00Z' }]);
    await feed.sync();
    for (let night = 1; night <= 3; night += 1) {
      await feed.nextNight();
      feed.state.rows.push({ id: 200 + night, value: 'new', updated_at: feed.ago(1) });
      expect((await feed.sync()).reading).toMatchObject({ scope: 'window' });
    }
    expect(await feed.published()).toHaveLength(54);
  });
});

describe('a list that grows at its end', () => {
  const byId = {
    ...feedPipeline,
    paging: { by: 'after', field: 'id', parameter: 'after', size: 'limit' },
    incremental: { cursor: 'id', wholeEvery: 'P7D' },
  } as const;

  it('is read from its last records on', async () => {
    const feed = await startFeed(hourlyRows(400), { pipeline: byId });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.push({ id: 401, value: 'new', updated_at: feed.ago(1) });
    const second = await feed.sync();
    expect(second.reading).toMatchObject({ scope: 'window' });
    expect(second.asked.every((search) => Number(/after=(\d+)/.exec(search)?.[1]) >= 300)).toBe(true);
    expect(await feed.published()).toHaveLength(401);
  });

  it('is read whole without a warning while it is short', async () => {
    const feed = await startFeed(hourlyRows(100), { pipeline: byId });
    await feed.sync();
    await feed.nextNight();
    expect(await feed.sync()).toMatchObject({ reading: { scope: 'whole' }, warnings: [] });
  });

  it('is read whole if one of them is gone', async () => {
    const feed = await startFeed(hourlyRows(400), { pipeline: byId });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.splice(350, 1);
    expect((await feed.sync()).reading).toMatchObject({ scope: 'whole' });
    expect(await feed.published()).toHaveLength(399);
  });
});

it('a source that ignores the parameter is read whole each night, and named', async () => {
  const feed = await startFeed(hourlyRows(50), { sinceOf: () => 0 });
  await feed.sync();
  await feed.nextNight();
  expect((await feed.sync()).warnings.join()).toContain('the source seems to ignore "updated_since"');
});

describe('what windows can not read', () => {
  it('a row without a readable time is carried over, and does not stop later windows', async () => {
    const columns = { ...feedPipeline.columns, updated_at: { kind: 'timestamp', field: 'updated_at' } } as const;
    const feed = await startFeed([...hourlyRows(50), { id: 51, value: 'odd', updated_at: '0000-00-00 00:00:00' }], {
      pipeline: { ...feedPipeline, columns },
    });
    await feed.sync();
    await feed.nextNight();
    feed.state.rows.push({ id: 52, value: 'new', updated_at: feed.ago(1) });
    expect((await feed.sync()).reading).toMatchObject({ scope: 'window' });
    expect(await feed.published()).toHaveLength(52);
    // If it changes, no window shows it.
    feed.state.rows[50] = { ...feed.state.rows[50]!, value: 'changed' };
    await feed.clock.sleep(8 * 86_400_000);
    expect((await feed.sync()).reading).toMatchObject({ scope: 'whole', missed: { changed: 1 } });
  });

  it('a window that the source refuses leads to the whole list', async () => {
    const feed = await startFeed(hourlyRows(50), { refusesBefore: '2026-11-01T00:00:00Z' });
    await feed.sync();
    await feed.nextNight();
    // The longer window is refused.
    feed.state.rows.pop();
    const second = await feed.sync();
    expect(second.reading).toMatchObject({ scope: 'whole' });
    expect(second.warnings.join()).toMatch(/window since .* could not be proved: .*status 400/);
  });

  it('a deletion is counted, even if no window changed anything before', async () => {
    const feed = await startFeed(hourlyRows(50));
    await feed.sync();
    const nights: Awaited<ReturnType<typeof feed.sync>>[] = [];
    for (let night = 1; night <= 7; night += 1) {
      await feed.nextNight();
      if (night === 2) feed.state.rows.shift();
      nights.push(await feed.sync());
    }
    expect(nights.map(({ outcome }) => outcome)).toEqual([...Array(6).fill('unchanged'), 'published']);
    expect(nights.at(-1)!.reading!.missed).toEqual({ added: 0, changed: 0, removed: 1 });
  });
});
