/** A build fails with the first error, and always closes the source. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { beginLoad, stage } from '../src/run/build.ts';
import type { Run } from '../src/publish/run.ts';
import { withRun } from '../src/run/with-run.ts';
import { openSource } from '../src/run/open-source.ts';
import { orClose } from '../src/runtime/bound-signal.ts';
import type { AcceptedReading } from '../src/stages.ts';
import { manualClock } from '../src/testing/manual-clock.ts';
import { serveData, smallNation } from './support/served-source.ts';
import { project, syncOptions } from './support/sync-settings.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const id = '20261120T030002Z-1f3a9c';

/** Builds changed readings of a small nation, and returns the error. */
async function errorOf(
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
      await orClose([source], () => stage(run, load, change(source.readings, abort)));
      throw new Error('it was built');
    },
  ).catch((error: unknown) => error);
}

/** One partition, and then a source that doesn't respond. */
async function* hanging(readings: AsyncIterable<AcceptedReading>): AsyncGenerator<AcceptedReading> {
  for await (const reading of readings) {
    yield reading;
    await new Promise(() => undefined);
  }
}

it('fails if a partition is incomplete', async () => {
  const error = await errorOf(async function* (readings) {
    for await (const { verdict } of readings)
      yield { verdict: { ...verdict, complete: false, reason: 'it is incomplete' }, pages: [] };
  });
  expect(error).toMatchObject({ code: 'incomplete' });
});

it('fails if the DuckDB file cannot be created, without waiting for the source', async () => {
  expect(String(await errorOf(hanging, (run) => mkdir(join(run.folder, 'rekap.duckdb'))))).toMatch(/rekap\.duckdb/);
});

it('fails with the reason of an interruption', async () => {
  const reason = new Error('interrupted');
  const error = await errorOf(async function* (readings, abort) {
    yield* readings;
    abort.abort(reason);
  });
  expect(error).toBe(reason);
});
