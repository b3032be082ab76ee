/** Many connections, slow ones and unread responses don't keep other clients out. */

import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { boundConnections } from '../../src/serve/connections.ts';
import * as limits from '../../src/serve/limits.ts';
import { hugeSource, key, pipelines, requestRaw, start } from './support.ts';

const { path: endpoint } = pipelines[0]!;
const get = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';

/** An open connection that the test ends; what the server does to it is nobody's failure. */
async function open(port: number, bytes = '', localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (bytes !== '') socket.write(bytes);
  return socket;
}

/** A server whose responses the test gives itself, with at most `bound` connections. */
async function watched(bound: number) {
  const responses: ServerResponse[] = [];
  const server: Server = createServer((_request, response) => responses.push(response));
  const isOverLimit = boundConnections(server, bound);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    /** Whether the newest request is refused. */
    refused: () => isOverLimit(responses.at(-1)!.req.socket),
    responses,
    /** A connection without a request. */
    async idle(address?: string): Promise<Socket> {
      const taken = once(server, 'connection');
      const socket = await open(port, '', address);
      await taken;
      return socket.resume();
    },
    /** A connection with a request in progress. */
    async busy(address?: string) {
      const arrived = once(server, 'request');
      const socket = await open(port, get, address);
      await arrived;
      return { socket: socket.resume(), response: responses.at(-1)! };
    },
  };
}

it.each([
  ['that send nothing', ''],
  ['that dribble their headers (slowloris)', 'GET / HTTP/1.1\r\nhost: x\r\nx-slow: '],
  ['after one response', get],
])('idle connections %s do not keep others out', async (_, bytes) => {
  const service = await start({ maxConnections: 64 });
  for (let held = 0; held < 300; held += 100) {
    const port = Number(new URL(service.url).port);
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(port, bytes)));
    for (const socket of sockets) socket.resume();
    expect((await requestRaw(service, 'GET', endpoint))?.status).toBe(200);
  }
});

it('closes the connection that has been idle longest, and no busy one', async () => {
  const { idle, busy, refused } = await watched(3);
  const { socket: answered, response } = await busy();
  const { socket: unanswered } = await busy();
  const idlest = await idle();
  const closed = once(response, 'close');
  response.end('done');
  await closed;
  const ended = once(idlest, 'close');
  await idle();
  await ended;
  expect([answered.destroyed, unanswered.destroyed, refused()]).toEqual([false, false, false]);
});

it('refuses a request while all connections are busy, and closes none', async () => {
  const { idle, busy, refused, responses } = await watched(2);
  const sockets = [(await busy()).socket, (await busy()).socket];
  await idle();
  expect(refused()).toBe(false);
  await busy();
  expect(refused()).toBe(true);
  const closed = once(responses[0]!, 'close');
  responses[0]!.end();
  await closed;
  expect(refused()).toBe(false);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, false]);
});

it('sends a 503 with Retry-After while a response is not read', async () => {
  const service = await start({ maxConnections: 1, source: hugeSource() });
  const greedy = await open(
    Number(new URL(service.url).port),
    get.replace('/health', endpoint).replace('x', `x\r\nx-api-key: ${key}`),
  );
  await once(greedy, 'readable');
  const refused = await requestRaw(service, 'GET', '/health');
  expect(refused?.status).toBe(503);
  expect(refused?.headers.get('retry-after')).toBe(String(limits.retryAfterBusy));
  expect(refused?.headers.get('connection')).toBe('close');
});

// Only Linux has all addresses of 127.0.0.0/8.
it.skipIf(process.platform !== 'linux')('reserves connections for other addresses', async () => {
  const other = '127.0.0.2';
  const { idle, busy, refused } = await watched(32);
  const stranger = await idle(other);
  for (let held = 0; held < 40; held += 1) await idle();
  expect(stranger.destroyed).toBe(false);
  for (let held = 0; held < 30; held += 1) await busy();
  expect(refused()).toBe(false);
  await busy();
  expect(refused()).toBe(true);
  await busy(other);
  expect(refused()).toBe(false);
});

it('disconnects a client that sends requests before the previous response', async () => {
  const { busy, responses } = await watched(8);
  const { socket } = await busy();
  const ended = once(socket, 'close');
  socket.write(get.repeat(500));
  await ended;
  const next = await busy();
  expect([responses.length, next.socket.destroyed]).toEqual([2, false]);
});
