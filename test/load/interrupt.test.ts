/** An aborted load interrupts its running statement and starts no other. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Load } from '../../src/load/load.ts';
import type { Project } from '../../src/project/declaration.ts';
import { makeFolder, project, published } from './support.ts';

const log = { snapshot: 'one', publishedAt: published, source: 'sample' };
const reason = new Error('aborted');

async function begin(loaded: Project) {
  const controller = new AbortController();
  const folder = await makeFolder();
  const files = { folder, databaseFile: 'rekap.duckdb', previous: null };
  const load = await Load.begin({ ...files, project: loaded, signal: controller.signal });
  return { load, folder, controller };
}

it('interrupts a running statement', async () => {
  const [check] = project.checks;
  const endless = 'SELECT sum(a.range * b.range) AS total FROM range(10_000_000) a, range(10_000_000) b';
  const slow = { ...check!, sql: `SELECT c.* FROM (${check!.sql}) AS c, (${endless}) AS e WHERE e.total < 0` };
  const { load, controller } = await begin({ ...project, checks: [slow] });
  const finishing = load.finish(new Map(), log, null);
  // By then, the endless statement or an earlier one is running.
  setTimeout(() => controller.abort(reason), 200);
  await expect(finishing).rejects.toThrow(/interrupted|aborted/i);
  load.abandon();
});

it('starts no statement after the abort', async () => {
  const { load, folder, controller } = await begin(project);
  controller.abort(reason);
  await expect(load.finish(new Map(), log, null)).rejects.toBe(reason);
  expect(existsSync(join(folder, 'parquet'))).toBe(false);
  load.abandon();
});
