/** Many clients that pipeline requests and read little: the service stays within its memory, serves others, and ends on SIGTERM. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { startCli, type CliResult } from '../support/run-cli.ts';

/** `REKAP_CROWDS=8` makes them eight times as large, as for the figures in docs/explanation/reliability.md. */
const times = Number(process.env['REKAP_CROWDS'] ?? 1);
const records = '/api/datapemilihdpr?limit=1000';
const crowdKey = 'key-of-the-crowd';

describe('clients that pipeline requests', () => {
  it.each([
    ['with a key, and read slowly,', { path: records, withKey: true, slowly: 10_000 }],
    ['without a key, and read nothing,', { path: '/openapi.json', withKey: false, slowly: 0 }],
  ])('%s leave the service responsive', async (_, habits) => {
    const service = await startLimited(64);
    onTestFinished(() => service.kill());
    const leave = await gather(service.url, { ...habits, connections: Math.min(60 * times, 450), requests: 600 });
    onTestFinished(leave);
    const { statuses, ...latencies } = await requestAsUsual(service.url, 200 * times, 4);
    expect(statuses).toEqual({ 200: 200 * times });
    const peak = service.peakMemory();
    expect(peak ?? 0).toBeLessThan(256);
    const { code, stderr, milliseconds } = await service.terminate();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // Two seconds, and time for a busy machine to end a process.
    expect(milliseconds).toBeLessThan(5_000);
    if (times > 1) process.stdout.write(`${JSON.stringify({ ...latencies, peak, milliseconds })}\n`);
  });
});

/** `rekap serve` with the records of the sample in a process of its own, with a bound on its heap. */
interface LimitedService {
  readonly url: string;
  /** The most memory that the process has had at once, in MB (VmHWM); null if unknown. */
  peakMemory(): number | null;
  /** Sends SIGTERM; `milliseconds` is how long the process took to end. */
  terminate(): Promise<CliResult & { readonly milliseconds: number }>;
  kill(): void;
}

async function startLimited(heapMegabytes: number): Promise<LimitedService> {
  const running = startCli(['serve', '--data', loadProject().sampleFolder, '--port', '0'], {
    REKAP_API_KEYS: crowdKey,
    NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}`,
  });
  const { child } = running;
  const [, url] = /(http:\/\/[^/\s]+)/.exec(await running.printed('Ctrl-C')) ?? [];
  if (url === undefined) throw new Error(`the service did not start: ${running.stderr()}`);
  return {
    url,
    peakMemory() {
      if (process.platform !== 'linux' || child.exitCode !== null) return null;
      const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      return Math.round(Number(kilobytes) / 1024);
    },
    async terminate() {
      const begun = performance.now();
      child.kill('SIGTERM');
      return { ...(await running.ended), milliseconds: performance.now() - begun };
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** What each connection of a crowd does. */
interface Crowd {
  readonly connections: number;
  /** Requests that a connection sends at once. */
  readonly requests: number;
  readonly path: string;
  readonly withKey: boolean;
  /** Bytes that a connection reads every tenth of a second; 0 for none. */
  readonly slowly: number;
}

/** Opens the connections and sends all requests; returns a function that closes them. */
async function gather(url: string, crowd: Crowd): Promise<() => void> {
  const { connections, requests, path, withKey, slowly } = crowd;
  const { hostname, port } = new URL(url);
  const header = withKey ? `x-api-key: ${crowdKey}\r\n` : '';
  const all = `GET ${path} HTTP/1.1\r\nhost: x\r\n${header}\r\n`.repeat(requests);
  const sockets: Socket[] = [];
  for (let opened = 0; opened < connections; opened += 1) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {}); // the service may disconnect it
    socket.pause();
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(all);
  }
  const reading = setInterval(() => {
    if (slowly > 0) for (const socket of sockets) socket.read(Math.min(slowly, socket.readableLength));
  }, 100);
  return () => {
    clearInterval(reading);
    for (const socket of sockets) socket.destroy();
  };
}

/** The number of responses by status, and how many milliseconds they took. */
interface Responses {
  readonly statuses: Readonly<Record<string, number>>;
  readonly median: number;
  readonly slowest99: number;
}

/** Sends requests as a sync does, `concurrency` at a time over kept connections. */
async function requestAsUsual(url: string, requests: number, concurrency: number): Promise<Responses> {
  const agent = new Agent({ connections: concurrency });
  const statuses: Record<string, number> = {};
  const durations: number[] = [];
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const begun = performance.now();
      const status = await request(`${url}/api/datapemilihdpr?limit=100`, {
        dispatcher: agent,
        headers: { 'x-api-key': crowdKey },
        headersTimeout: 20_000,
      }).then(
        async ({ statusCode, body }) => {
          await body.json();
          return String(statusCode);
        },
        (error: unknown) => (error as { code?: string }).code ?? String(error),
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      durations.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, send));
  await agent.destroy();
  durations.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(durations[Math.floor(durations.length * share)] ?? 0);
  return { statuses, median: at(0.5), slowest99: at(0.99) };
}
