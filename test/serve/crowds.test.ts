/** Many clients that read little: the service stays within its memory, serves others, and ends on SIGTERM. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { loadProject } from '../support/bundled.ts';
import { startCli } from '../support/run-cli.ts';

const key = 'key-of-the-crowd';
const records = '/api/datapemilihdpr?limit=1000';

interface Crowd {
  /** Requests that a connection sends at once. */
  readonly requests: number;
  readonly path: string;
  /** Bytes that a connection reads every tenth of a second. */
  readonly slowly: number;
}

it.each<[string, Crowd]>([
  ['read their response slowly', { requests: 1, path: records, slowly: 10_000 }],
  ['read nothing', { requests: 1, path: records, slowly: 0 }],
  ['send 600 requests at once', { requests: 600, path: records, slowly: 0 }],
])('clients that %s leave the service responsive', async (_, crowd) => {
  const { child, printed, ended } = startCli(['serve', '--data', loadProject().sampleFolder, '--port', '0'], {
    REKAP_API_KEYS: key,
    NODE_OPTIONS: '--max-old-space-size=64',
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [, url] = /(http:\/\/[^/\s]+)/.exec(await printed('Ctrl-C'))!;
  onTestFinished(await gather(url!, crowd));
  expect(await requestAsUsual(url!, 200)).toEqual({ 200: 200 });
  const isLinux = process.platform === 'linux';
  const usage = isLinux ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
  expect(Number(/^VmHWM:\s+(\d+)/m.exec(usage)?.[1] ?? 0)).toBeLessThan(256_000);
  child.kill('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
});

/** Opens the connections and sends all requests; returns a function that closes them. */
async function gather(url: string, { requests, path, slowly }: Crowd): Promise<() => void> {
  const { hostname, port } = new URL(url);
  const all = `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`.repeat(requests);
  const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname));
  for (const socket of sockets) {
    socket.on('error', () => {}); // the service may disconnect it
    socket.pause();
    if (socket.connecting) await once(socket, 'connect');
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

/** Sends requests as a sync does, four at a time over kept connections, and counts the responses by status. */
async function requestAsUsual(url: string, requests: number): Promise<Record<string, number>> {
  const agent = new Agent({ connections: 4 });
  onTestFinished(() => agent.destroy());
  const statuses: Record<string, number> = {};
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const { statusCode, body } = await request(`${url}/api/datapemilihdpr?limit=100`, {
        dispatcher: agent,
        headers: { 'x-api-key': key },
      });
      await body.json();
      statuses[statusCode] = (statuses[statusCode] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 4 }, send));
  return statuses;
}
