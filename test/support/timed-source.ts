/** A source in memory that answers by a clock of its own, through the real client: outages begin and end at moments, not at requests. */

import { SourceClient } from '../../src/source/source-client.ts';
import type { Transport } from '../../src/source/http-transport.ts';
import { Secret } from '../../src/source/secret.ts';
import type { PageRequest } from '../../src/stages.ts';
import { parametersOf } from './page-request.ts';
import { asSent, type SimulatedRecord } from './simulated-source.ts';
import type { ManualClock } from '../../src/testing/manual-clock.ts';

/** What an outage makes of an answer; 'stale' is another server that holds other records. */
export type OutageKind = 'empty' | 404 | 500 | 'HTML' | 'reset' | 'stale';

interface Outage {
  /** Milliseconds after the first request. */
  readonly start: number;
  readonly length: number;
  readonly kind: OutageKind;
}

export interface TimedSource {
  readonly records: readonly SimulatedRecord[];
  /** What a stale server holds. */
  readonly stale: readonly SimulatedRecord[];
  readonly hasListing: boolean;
  /** Milliseconds that each request takes. */
  readonly latency: number;
  readonly outage: Outage;
}

export function timedClient(source: TimedSource, clock: ManualClock): SourceClient {
  const begun = clock.monotonic();
  const transport: Transport = {
    async send(request) {
      await clock.sleep(source.latency);
      const { start, length, kind } = source.outage;
      const since = clock.monotonic() - begun;
      return {
        headers: {},
        ...answer(source, request, since >= start && since < start + length ? kind : null),
      };
    },
    async close() {},
  };
  const options = {
    baseUrl: 'http://source.test',
    apiKey: new Secret('a-key-of-tests'),
    concurrency: 4,
    timeout: 60_000,
    maxAttempts: 6,
    maxDuration: 600_000,
    keyParameter: null,
  };
  return new SourceClient(options, {
    clock,
    transport,
    random: () => 0.5,
    report: () => undefined,
    land: async ({ body }) => ({ response: 0, read: async () => body }),
    resumed: [],
    signal: new AbortController().signal,
  });
}

function answer(
  source: TimedSource,
  requested: PageRequest,
  kind: OutageKind | null,
): { status: number; body: Buffer } {
  const request = parametersOf(requested);
  if (kind === 'reset') throw Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
  if (kind === 500 || kind === 404) return { status: kind, body: Buffer.from('{}') };
  if (kind === 'HTML') return { status: 200, body: Buffer.from('<html><body>Back soon</body></html>') };
  if (request.partition === null && !source.hasListing)
    return { status: 400, body: Buffer.from('{"detail":"id_dapil"}') };
  const all = kind === 'empty' ? [] : kind === 'stale' ? source.stale : source.records;
  const list =
    request.partition === null ? all : all.filter(({ partition }) => String(partition) === request.partition);
  const data = list.slice(request.offset, request.offset + request.limit).map(asSent);
  return { status: 200, body: Buffer.from(JSON.stringify({ count: data.length, data })) };
}
