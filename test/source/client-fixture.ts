/** A client over real sockets, and a server that responds as a test scripts it. Both are closed at the end of the test. */

import { onTestFinished } from 'vitest';
import { voters } from '../support/bundled.ts';
import { createHttpTransport } from '../../src/source/http-transport.ts';
import { SourceClient, type SourceOptions } from '../../src/source/source-client.ts';
import { Secret } from '../../src/source/secret.ts';
import type { SourceResponse, Land } from '../../src/stages.ts';
import type { RunEvent } from '../../src/runtime/context.ts';
import { startFaultServer, type FaultServer, type Script } from '../support/fault-server.ts';
import { requestOf } from '../support/page-request.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';

export const key = 'canary-key-4711';
export const record = { TahunPemilu: '2024', IdDapil: '1101' };
/** A response with the record. */
export const whole = { count: 1, data: record };
export const request = requestOf(voters, { partition: '1101', limit: 10 });

interface ConnectOptions extends Partial<SourceOptions> {
  /** Replaces the landing in memory. */
  readonly land?: Land;
  readonly maxResponseBytes?: number;
}

/** A client of the source at this URL, with what it landed and reported. */
export function connect(baseUrl: string, { land, maxResponseBytes = 100_000, ...options }: ConnectOptions = {}) {
  const clock = manualClock();
  const landed: SourceResponse[] = [];
  const events: RunEvent[] = [];
  const controller = new AbortController();
  const settings = {
    baseUrl,
    apiKey: new Secret(key),
    concurrency: 4,
    timeout: 5000,
    maxAttempts: 6,
    maxDuration: 600_000,
    keyParameter: null,
    ...options,
  };
  const client = new SourceClient(settings, {
    transport: createHttpTransport({
      ...settings,
      auth: { header: 'x-api-key' },
      connections: settings.concurrency,
      maxResponseBytes,
    }),
    resumed: [],
    clock,
    random: () => 0.5,
    report: (event) => events.push(event),
    land:
      land ??
      (async (response) => {
        landed.push(response);
        return { response: 0, read: async () => response.body };
      }),
    signal: controller.signal,
  });
  onTestFinished(() => client.close());
  /** The error that a request ends with. */
  async function failure(sent = request): Promise<Error> {
    try {
      await client.fetchPage(voters, sent);
    } catch (error) {
      if (error instanceof Error) return error;
    }
    throw new Error('the request succeeded');
  }
  return { client, failure, clock, landed, events, controller };
}

export async function startServer(script: Script): Promise<FaultServer> {
  const server = await startFaultServer(script);
  onTestFinished(() => server.close());
  return server;
}

/** A server with this script and a client of it. */
export async function serve(script: Script, options: ConnectOptions = {}) {
  const server = await startServer(script);
  return { server, ...connect(server.url, options) };
}
