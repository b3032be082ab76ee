/** What ends a build is what went wrong first, and the source is closed whatever happens. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { beginLoad, build } from '../src/build.ts';
import type { Run } from '../src/run-options.ts';
import { withRun } from '../src/run.ts';
import { openSource } from '../src/open-source.ts';
import { orClose } from '../src/runtime/bound-signal.ts';
import type { AcceptedReading } from '../src/stages.ts';
import { manualClock } from './support/manual-clock.ts';
import { serveData, smallNation } from './support/served-source.ts';
import { project, syncOptions } from './support/sync-settings.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const id = '20261120T030002Z-1f3a9c';

/** Builds readings of a small nation as `change` gives them; gives the error that it ends with. */
async function endOf(
  change: (readings: AsyncIterable<AcceptedReading>, abort: AbortController) => AsyncIterable<AcceptedReading>,
  prepare: (run: Run) => unknown = () => {},
): Promise<unknown> {
  const { url } = await serveData(smallNation({ 1101: 3, 1102: 2 }));
  const warehouse = await temporaryFolder();
  const abort = new AbortController();
  const context = { clock: manualClock(), random: () => 0.5, report: () => undefined, signal: abort.signal };
  const options = syncOptions(warehouse, url);
  const plan = {
    id,
    landing: join(warehouse, 'landing', id),
    startedAt: new Date(0),
    previous: null,
    current: null,
    pinned: null,
  };
  return withRun(
    { kind: 'sync', project, reportModule: null, options, context },
    async () => plan,
    async (run) => {
      await prepare(run);
      const source = await openSource(run);
      const load = await beginLoad(run);
      await orClose([source], () => build(run, load, change(source.readings, abort), null));
      throw new Error('it was built');
    },
  ).catch((error: unknown) => error);
}

/** A first partition, and then a source that answers no more. */
async function* hanging(readings: AsyncIterable<AcceptedReading>): AsyncGenerator<AcceptedReading> {
  for await (const reading of readings) {
    yield reading;
    await new Promise(() => undefined);
  }
}

it('ends where a partition is incomplete', async () => {
  const end = await endOf(async function* (readings) {
    for await (const { verdict } of readings)
      yield { verdict: { ...verdict, complete: false, reason: 'it has no end' }, pages: [] };
  });
  expect(end).toMatchObject({ code: 'incomplete' });
});

it('ends where the DuckDB file cannot be made, whatever the source still has to say', async () => {
  expect(String(await endOf(hanging, (run) => mkdir(join(run.folder, 'rekap.duckdb'))))).toMatch(/rekap\.duckdb/);
});

it('ends with the reason of an interruption', async () => {
  const reason = new Error('interrupted');
  const end = await endOf(async function* (readings, abort) {
    yield* readings;
    abort.abort(reason);
  });
  expect(end).toBe(reason);
});
