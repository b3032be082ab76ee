/** The same feed with rekap and with dlt's incremental cursor: how many rows differ from the source, night after night. */

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sync } from '../src/index.ts';
import { manualClock } from '../src/testing/manual-clock.ts';
import { openPublished } from '../src/warehouse/open-published.ts';
import { databaseFile } from '../src/warehouse/snapshot-format.ts';
import { feedProject } from './feed-server.ts';
import type { Finding } from './finding.ts';
import { makeEnvironment } from './peers.ts';

const run = promisify(execFile);
const nights = 60;
const hour = 3_600_000;
const script = fileURLToPath(new URL('../../bench/peers/feed_with_dlt.py', import.meta.url));

interface Row {
  readonly id: number;
  readonly value: number;
  readonly updated_at: string;
}

const project = feedProject({ value: { kind: 'integer', field: 'value' } });

export async function benchFeedPeers(): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'rekap-feed-'));
  try {
    const venv = await makeEnvironment(folder);
    return venv === null ? [] : await compareNights(folder, join(venv, 'bin/python'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareNights(folder: string, python: string): Promise<Finding[]> {
  const feed = new Map<number, Row>();
  const clock = manualClock(new Date('2026-01-01T02:00:00Z'));
  const server = createServer(({ url = '' }, response) => {
    const { searchParams } = new URL(url, 'http://feed');
    const since = Date.parse(searchParams.get('updated_since') ?? '2000-01-01T00:00:00Z');
    const found = [...feed.values()]
      .filter(({ updated_at }) => Date.parse(updated_at) >= since)
      .toSorted((a, b) => a.updated_at.localeCompare(b.updated_at) || a.id - b.id);
    const offset = Number(searchParams.get('offset'));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(found.slice(offset, offset + Number(searchParams.get('limit')))));
  }).listen(0, '127.0.0.1');
  const url = await new Promise<string>((resolve) => {
    server.on('listening', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
  const warehouse = join(folder, 'warehouse');
  const dlt = join(folder, 'dlt');
  await mkdir(dlt);
  const wrong = { rekap: [] as number[], dlt: [] as number[] };
  try {
    const change = changerOf(feed, clock);
    for (let night = 0; night < nights; night += 1) {
      change(night);
      await clock.sleep(24 * hour);
      await sync({ project, baseUrl: url, warehouse, clock, acceptChanges: true });
      wrong.rekap.push(countWrong(feed, await readRows(join(warehouse, 'current', databaseFile))));
      const { stdout } = await run(python, [script, url, dlt, '3600'], { env: { ...process.env, HOME: dlt } });
      const theirs = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, number>;
      wrong.dlt.push(countWrong(feed, new Map(Object.entries(theirs).map(([id, value]) => [Number(id), value]))));
    }
  } finally {
    server.close();
  }
  const section = `feed beside dlt (${nights} nights)`;
  const mean = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const format = (value: number): string => value.toFixed(1);
  const reference = 'with dlt, incremental with the same lag';
  return [
    {
      section,
      what: 'rows that differ from the source, mean of all nights',
      measured: mean(wrong.rekap),
      against: mean(wrong.dlt),
      reference,
      target: null,
      format,
    },
    {
      section,
      what: 'the same, in nights that read the whole list',
      measured: mean(wrong.rekap.filter((_, night) => night % 7 === 0)),
      against: mean(wrong.dlt.filter((_, night) => night % 7 === 0)),
      reference,
      target: { atMost: { must: 0, aim: 0 } },
      format,
    },
  ];
}

/** Returns what happens in a day: new and changed rows, and in each some that come late, change without a new time, or disappear. */
function changerOf(feed: Map<number, Row>, clock: { now(): Date }): (night: number) => void {
  let next = 1;
  const put = (id: number, hoursFromNow: number, value: number): void => {
    const at = new Date(clock.now().getTime() + hoursFromNow * hour);
    feed.set(id, { id, value, updated_at: `${at.toISOString().slice(0, 19)}Z` });
  };
  return (night) => {
    const ids = [...feed.keys()];
    for (let row = 0; row < (night === 0 ? 2000 : 20); row += 1) put(next++, 1 + (row % 22), night);
    for (let row = 0; row < 3; row += 1) put(next++, -5 - row * 10, night);
    for (let row = 0; row < 10; row += 1) {
      const id = ids[(night * 131 + row * 17) % Math.max(1, ids.length)];
      if (id !== undefined && feed.has(id)) put(id, 2 + row, 1000 + night);
    }
    for (const id of ids.slice(night * 5, night * 5 + 5)) feed.delete(id);
    const silent = feed.get(ids[(night * 57) % Math.max(1, ids.length)] ?? 0);
    if (silent !== undefined) feed.set(silent.id, { ...silent, value: 5000 + night });
  };
}

async function readRows(file: string): Promise<Map<number, number>> {
  const database = await openPublished(file);
  try {
    const rows = await database.rows<{ id: bigint; value: bigint }>('SELECT id, value FROM rows');
    return new Map(rows.map(({ id, value }) => [Number(id), Number(value)]));
  } finally {
    database.close();
  }
}

function countWrong(feed: ReadonlyMap<number, Row>, loaded: ReadonlyMap<number, number>): number {
  return [...new Set([...feed.keys(), ...loaded.keys()])].filter((id) => feed.get(id)?.value !== loaded.get(id)).length;
}
