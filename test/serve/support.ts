/** A service over a small fixed record set, and ways to talk to it that fetch does not allow. */

import { connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { voters, votingRightsUsers } from '../support/bundled.ts';
import type { AnyPipeline } from '../../src/project/declaration.ts';
import { ApiKeys } from '../../src/serve/api-keys.ts';
import type { FaultName, FaultValues } from '../../src/serve/faults/fault-list.ts';
import { buildRecordSet, fixedSource, readRecord, type RecordSource } from '../../src/serve/record-source.ts';
import { startService, type Service, type ServiceOptions } from '../../src/serve/service.ts';
import { manualClock } from '../../src/testing/manual-clock.ts';

export const pipelines: readonly AnyPipeline[] = [voters, votingRightsUsers];
export const key = 'the-key-that-must-never-be-echoed';
export const lastModified = new Date('2026-11-20T03:00:02.750Z');

/** A record in the source's shape, every value a string. */
export function makeRecord(pipeline: AnyPipeline, partition: number, number: number): Record<string, string> {
  const entries = Object.entries(pipeline.columns).map(([name, column]) => {
    if (name === pipeline.partition!.column) return [column.field, String(partition)];
    return [column.field, column.kind === 'text' ? `${name} ${number}` : String(number)];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

/** Partition 11 has one record, 12 has 30; 31 in all. */
export function makeRecords(pipeline: AnyPipeline): Record<string, string>[] {
  return Array.from({ length: 31 }, (_, index) => makeRecord(pipeline, index === 0 ? 11 : 12, index + 1));
}

/** A source with these texts at every endpoint, all of partition 11. */
export function sourceOf(texts: readonly string[]): RecordSource {
  const set = buildRecordSet(
    texts.map((text) => ({ text, partition: '11' })),
    lastModified,
  );
  return { current: () => set, close() {} };
}

function makeSource(): RecordSource {
  const setOf = (pipeline: AnyPipeline) =>
    buildRecordSet(
      makeRecords(pipeline).map((record) => readRecord(JSON.stringify(record), pipeline)),
      lastModified,
    );
  return fixedSource(new Map(pipelines.map((pipeline) => [pipeline.table, setOf(pipeline)])));
}

/** One record of 32 MB: more than the network between two sockets holds, so that its answer waits for its reader. */
export function hugeSource(): RecordSource {
  return sourceOf([JSON.stringify({ x: 'x'.repeat(2 ** 25) })]);
}

export function makeOptions(changes: Partial<ServiceOptions> = {}): ServiceOptions {
  return {
    pipelines,
    source: makeSource(),
    keys: new ApiKeys([key]),
    host: '127.0.0.1',
    port: 0,
    site: { published: null },
    ...changes,
  };
}

/** A service that runs until the test is over. */
export async function start(changes: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await startService(makeOptions(changes));
  onTestFinished(() => service.close());
  return service;
}

/** A misbehaving service and the clock by which it is slow. */
export async function serveBadly(values: FaultValues, seed = 1) {
  const clock = manualClock();
  const met: FaultName[] = [];
  const service = await start({ faults: { values, seed, clock, onFault: (name) => met.push(name) } });
  return {
    service,
    clock,
    met,
    get: (query = '') => ask(service, `${pipelines[0]!.path}${query}`),
    async rows(query = ''): Promise<Record<string, string>[]> {
      const { data } = (await (await ask(service, `${pipelines[0]!.path}${query}`)).json()) as {
        data: Record<string, string> | Record<string, string>[];
      };
      return [data].flat();
    },
  };
}

/** A request with the right key; `init.headers` are added. */
export function ask(service: Service, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${service.url}${path}`, {
    ...init,
    // Bytes are counted in many of these tests.
    headers: {
      'x-api-key': key,
      'accept-encoding': 'identity',
      ...(init.headers as Record<string, string> | undefined),
    },
  });
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends bytes as they are, and gives what comes back until the connection ends; null where nothing does. */
export async function sendRaw(service: Service, bytes: string): Promise<RawAnswer | null> {
  const text = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    let received = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (received += chunk));
    // The service may close while we are still sending; what it answered before counts.
    socket.on('error', () => {});
    socket.on('close', () => resolve(received));
    socket.write(bytes, 'latin1');
  });
  if (text === '') return null;
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    ),
    body: rest.join('\r\n\r\n'),
  };
}

/** A whole request on a connection of its own, its target sent exactly as given. */
export function requestRaw(
  service: Service,
  method: string,
  target: string,
  headers: readonly string[] = [],
): Promise<RawAnswer | null> {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: localhost',
    `x-api-key: ${key}`,
    'connection: close',
    ...headers,
  ];
  return sendRaw(service, `${lines.join('\r\n')}\r\n\r\n`);
}

interface Problem {
  readonly detail: string;
  readonly parameter?: string;
}

/** Expects an answer, of fetch or from a socket, to be a problem document (RFC 9457) in which the key is not. */
export async function expectProblem(
  answer: Response | RawAnswer | null,
  status: number,
  instance?: string,
): Promise<Problem> {
  const body = answer instanceof Response ? await answer.text() : (answer?.body ?? '');
  expect(answer?.status).toBe(status);
  expect(answer?.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
  expect(answer?.headers.get('cache-control')).toBe('no-store');
  expect(body).not.toContain(key);
  const problem = JSON.parse(body) as Problem;
  expect(problem).toMatchObject({ type: 'about:blank', title: expect.any(String), status, detail: expect.any(String) });
  if (instance !== undefined) expect(problem).toHaveProperty('instance', instance);
  return problem;
}
