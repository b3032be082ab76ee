/** What ends a build is what went wrong first; and the source is closed once, whatever happens. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askSource } from '../../src/run/ask-source.ts';
import { buildSnapshot } from '../../src/run/build-snapshot.ts';
import { EnvelopeError, IncompleteError, RunTimeoutError } from '../../src/errors.ts';
import type { SourceClient } from '../../src/extract/ask/source-client.ts';
import { withRun, type Run } from '../../src/run/run.ts';
import type { Clock } from '../../src/surroundings.ts';
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
  change: (client: SourceClient, abort: AbortController, signal: AbortSignal) => SourceClient,
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
    knownDistricts: [],
    referenceDistricts: [],
    expectedRecords: {},
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
          client: change(source.client, abort, asking.signal),
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
    expect(await build((client) => client)).toEqual({ error: closing, closed: 1 });
  });

  it('does not hide that the run was interrupted', async () => {
    const reason = new Error('interrupted');
    const interrupted = await build((client, abort) => {
      abort.abort(reason);
      return client;
    });
    expect(interrupted).toEqual({ error: reason, closed: 1 });
  });

  it('does not hide that a district is incomplete', async () => {
    const { error, closed } = await build((client) => ({
      ...client,
      async fetchPage(pipeline, request) {
        if (request.dapil === 1101) throw new EnvelopeError('The answer is none.', '');
        return client.fetchPage(pipeline, request);
      },
    }));
    expect(error).toBeInstanceOf(IncompleteError);
    expect(closed).toBe(1);
  });
});

it('a DuckDB file that cannot be made ends the asking, whatever the source still has to say', async () => {
  let asked = 0;
  let hanging = 0;
  const { error } = await build(
    (client, _abort, signal) => ({
      ...client,
      fetchPage(pipeline, request) {
        asked += 1;
        if (asked === 1) return client.fetchPage(pipeline, request);
        hanging += 1;
        // A source that answers no more.
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
    }),
    { prepare: (run) => mkdir(join(run.folder, 'rekap.duckdb')) },
  );
  expect(hanging).toBeGreaterThan(0);
  expect(String(error)).toMatch(/rekap\.duckdb/);
});

it('a build that is interrupted ends as such, though its DuckDB file could not be made', async () => {
  const reason = new Error('interrupted');
  const { error } = await build(
    (client, abort, signal) => ({
      ...client,
      // DuckDB is begun at once, and the interruption comes while it is.
      answered: Promise.resolve(),
      fetchPage() {
        setImmediate(() => abort.abort(reason));
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      },
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
    (client) => ({
      ...client,
      answered: Promise.resolve(),
      async fetchPage() {
        await new Promise((resolve) => setImmediate(resolve));
        throw new RunTimeoutError('The time is up.', '');
      },
    }),
    { clock, onClose: () => isOver.push(waits?.aborted) },
  );
  expect(error).toBeInstanceOf(RunTimeoutError);
  expect(isOver).toEqual([true]);
});
