/** A load that is given up ends in the middle of a statement, however long that would have taken. */

import { expect, it } from 'vitest';
import { Load } from '../../src/load/load.ts';
import { makeFolder, project, published } from './support.ts';

it('ends as soon as it is interrupted', async () => {
  const [check] = project.checks;
  const endless = 'SELECT sum(a.range * b.range) AS total FROM range(10_000_000) a, range(10_000_000) b';
  const slow = { ...check!, sql: `SELECT c.* FROM (${check!.sql}) AS c, (${endless}) AS e WHERE e.total < 0` };
  const options = { folder: await makeFolder(), databaseFile: 'rekap.duckdb', project: { ...project, checks: [slow] } };
  const load = await Load.begin(options);
  const finishing = load.finish(null, { snapshot: 'one', publishedAt: published, source: 'sample' }, null);
  // An interruption ends the statement that is running; which one that is, nobody can know.
  const interrupting = setInterval(() => load.interrupt(), 1);
  try {
    await expect(finishing).rejects.toThrow(/interrupted/i);
  } finally {
    clearInterval(interrupting);
    load.abandon();
  }
});
