/** What ends a build is what went wrong first; and the source is closed once, whatever happens. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askSource } from '../../src/run/ask-source.ts';
import { buildSnapshot } from '../../src/run/build-snapshot.ts';
import { RekapError } from '../../src/errors.ts';
import type { OpenedSource } from '../../src/run/fetch-and-load.ts';
import { withRun, type Run } from '../../src/run/run.ts';
import type { AcceptedReading } from '../../src/stages.ts';
import type { Clock } from '../../src/context.ts';
import { manualClock } from '../support/manual-clock.ts';
import { serveData, smallNation } from '../support/served-source.ts';
import { project, syncOptions } from '../support/sync-settings.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const id = '20261120T030002Z-1f3a9c';
const closing = new Error('the disk is full');

interface BuildSettings {
  readonly prepare?: (run: Run) => Promise<unknown>;
  readonly clock?: Clock;
  /** Called when the source is closed. */
  readonly onClose?: () => void;
}

/** Builds from a source whose close fails, and publishes nothing. */
async function build(
  change: (source: OpenedSource, abort: AbortController, signal: AbortSignal) => OpenedSource,
  { prepare, clock = manualClock(), onClose }: BuildSettings = {},
) {
  const { url } = await serveData(smallNation({ 1101: 3, 1102: 2 }));
  const warehouse = await temporaryFolder();
  const abort = new AbortController();
  let closed = 0;
  const plan = {
    id,
    landing: join(warehouse, 'landing', id),
    startedAt: new Date(0),
    previous: null,
  };
  const around = {
    clock,
    random: () => 0.5,
    report: () => undefined,
    signal: abort.signal,
  };
  const running = withRun(project, syncOptions(warehouse, url), around, {
    kind: 'sync',
    plan: async () => plan,
    async act(run) {
      await prepare?.(run);
      const { manifest, brokenChecks } = await buildSnapshot(run, async (asking) => {
        const source = await askSource(asking);
        return {
          ...change(source, abort, asking.signal),
          async close() {
            closed += 1;
            onClose?.();
            await source.close();
            throw closing;
          },
        };
      });
      return { outcome: 'dry run', current: null, snapshot: null, pruned: [], manifest, broken_checks: brokenChecks };
    },
  });
  const error = await running.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, closed };
}

describe('a source that cannot be closed', () => {
  it('ends a build that went well otherwise: its answers may not be on the disk', async () => {
    expect(await build((source) => source)).toEqual({ error: closing, closed: 1 });
  });

  it('does not hide that the run was interrupted', async () => {
    const reason = new Error('interrupted');
    const interrupted = await build((source, abort) => {
      abort.abort(reason);
      return source;
    });
    expect(interrupted).toEqual({ error: reason, closed: 1 });
  });

  it('does not hide that a district is incomplete', async () => {
    const { error, closed } = await build((source) => ({ ...source, readings: incomplete(source.readings) }));
    expect(error).toMatchObject({ code: 'incomplete' });
    expect(closed).toBe(1);
  });
});

/** The same districts, of which none could be proved. */
async function* incomplete(readings: AsyncIterable<AcceptedReading>): AsyncGenerator<AcceptedReading> {
  for await (const { verdict } of readings)
    yield { verdict: { ...verdict, complete: false, reason: 'it has no end' }, pages: [] };
}

/** A first district, and then a source that answers no more, until the signal is aborted. */
async function* hanging(
  readings: AsyncIterable<AcceptedReading>,
  signal: AbortSignal,
  meanwhile: () => void = () => {},
): AsyncGenerator<AcceptedReading> {
  for await (const reading of readings) {
    yield reading;
    break;
  }
  meanwhile();
  await new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

it('a DuckDB file that cannot be made ends the asking, whatever the source still has to say', async () => {
  const { error } = await build(
    (source, _abort, signal) => ({ ...source, readings: hanging(source.readings, signal) }),
    { prepare: (run) => mkdir(join(run.folder, 'rekap.duckdb')) },
  );
  expect(String(error)).toMatch(/rekap\.duckdb/);
});

it('a build that is interrupted ends as such, though its DuckDB file could not be made', async () => {
  const reason = new Error('interrupted');
  const nothing: AcceptedReading[] = [];
  const { error } = await build(
    (source, abort, signal) => ({
      ...source,
      // DuckDB is begun at once, and the interruption comes while it is.
      client: { ...source.client, answered: Promise.resolve() },
      readings: hanging(
        (async function* () {
          yield* nothing;
        })(),
        signal,
        () => setImmediate(() => abort.abort(reason)),
      ),
    }),
    { prepare: (run) => mkdir(join(run.folder, 'rekap.duckdb')) },
  );
  expect(error).toBe(reason);
});

it('a build that ends before DuckDB is begun begins it no more', async () => {
  let waits: AbortSignal | undefined;
  const clock: Clock = {
    ...manualClock(),
    sleep(_, signal) {
      waits = signal;
      return new Promise(() => undefined);
    },
  };
  const isOver: (boolean | undefined)[] = [];
  const { error } = await build(
    (source) => ({
      ...source,
      client: { ...source.client, answered: Promise.resolve() },
      readings: (async function* () {
        await new Promise((resolve) => setImmediate(resolve));
        yield* [];
        throw new RekapError('run-timeout', 'The time is up.', '');
      })(),
    }),
    { clock, onClose: () => isOver.push(waits?.aborted) },
  );
  expect(error).toMatchObject({ code: 'run-timeout' });
  expect(isOver).toEqual([true]);
});
